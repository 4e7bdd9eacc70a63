import CryptoPrimitives
import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// Tests of items in a locked class, on another machine, and for a reader of the file.
@Suite struct ItemProtectionTests {
    private let fixture: VaultFixture

    init() throws { fixture = try VaultFixture() }

    /// Creates a vault that a key file opened, with one item of a person's class, whose key is not available here.
    private func vaultWithALockedItem() throws -> Vault {
        let person = try passphrase("one")
        guard case .passphrase(let words) = person else { throw CancellationError() }
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.passphrase(words, .minimum), .defaultKeyFile],
            openingWith: person)
        try vault.addItem(
            service: "s", account: "a", label: "old", accessibility: .whenUnlocked,
            value: UnsafeRawBufferPointer(start: nil, count: 0))
        return try fixture.open(with: .defaultKeyFile)
    }

    @Test func anUnattendedProgramCannotAddAPersonsItem() throws {
        let vault = try fixture.create()
        #expect(code { () throws(VaultError) in try vault.add("s", "a", .whenUnlocked) } == .locked)
        try vault.add("s", "a")
        #expect(code { () throws(VaultError) in try vault.update("s", "a", .whenUnlocked, value: [1]) } == .locked)
        #expect(
            code { () throws(VaultError) in
                try vault.updateItem(service: "s", account: "a", accessibility: .whenUnlocked)
            } == .locked)
        #expect(try fixture.open().value("s", "a") == [1, 2, 3])
    }

    @Test func itemsAddedByAPersonAreLockedForUnattendedPrograms() throws {
        let person = try passphrase("one")
        guard case .passphrase(let words) = person else { return }
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [.passphrase(words, .minimum), .defaultKeyFile],
            openingWith: person)
        try vault.add("s", "person", .whenUnlocked, [1])
        try vault.add("s", "service", .afterFirstUnlock, [2])
        let unattended = try fixture.open(with: .defaultKeyFile)
        #expect(try unattended.items().map(\.account) == ["service"])
        #expect(try unattended.lockedNameCount() == 1)
        #expect(code { () throws(VaultError) in _ = try unattended.item(service: "s", account: "person") } == .locked)
        #expect(try unattended.value("s", "service") == [2])
        #expect(code { () throws(VaultError) in _ = try unattended.value("s", "person") } == .locked)
        #expect(try fixture.open(with: person).value("s", "person") == [1])
    }

    @Test func aLockByAnotherProgramTakesThePersonsValuesAway() throws {
        // this program: open with passphrase, add, read ........ read (locked) ... open with passphrase, read
        // another one:  ................................. lock
        let person = try passphrase("one")
        let vault = try fixture.create(with: person)
        try vault.add("s", "person", .whenUnlocked, [1])
        try vault.add("s", "service", .afterFirstUnlock, [2])
        #expect(try vault.value("s", "person") == [1])
        #expect(try vault.items().map(\.account) == ["person", "service"])
        try Vault.lock(fixture.accessGroup, in: fixture.home)
        #expect(code { () throws(VaultError) in _ = try vault.value("s", "person") } == .locked)
        #expect(code { () throws(VaultError) in try vault.update("s", "person", value: [3]) } == .locked)
        #expect(
            code { () throws(VaultError) in
                try vault.updateItem(service: "s", account: "person", accessibility: .afterFirstUnlock)
            } == .locked)
        #expect(try vault.value("s", "service") == [2])
        #expect(try vault.items().map(\.account) == ["service"])
        #expect(try fixture.open(with: person).value("s", "person") == [1])
    }

    @Test func ofALockedItemEverythingIsLocked() throws {
        let vault = try vaultWithALockedItem()
        let before = try fixture.copy().files
        #expect(code { () throws(VaultError) in _ = try vault.value("s", "a") } == .locked)
        #expect(code { () throws(VaultError) in _ = try vault.item(service: "s", account: "a") } == .locked)
        #expect(code { () throws(VaultError) in try vault.update("s", "a", value: [1]) } == .locked)
        #expect(
            code { () throws(VaultError) in try vault.updateItem(service: "s", account: "a", label: "new") } == .locked)
        #expect(code { () throws(VaultError) in try vault.deleteItem(service: "s", account: "a") } == .locked)
        #expect(code { () throws(VaultError) in try vault.add("s", "a", .whenUnlocked) } == .locked)
        // A service cannot add an item of the lower class under the name either.
        #expect(code { () throws(VaultError) in try vault.add("s", "a", .afterFirstUnlock) } == .downgraded)
        #expect(try vault.items().isEmpty)
        #expect(try fixture.copy().files == before)
    }

    @Test func onlyAPersonLowersAName() throws {
        let service = try vaultWithALockedItem()
        let person = try fixture.open(with: passphrase("one"))
        try person.deleteItem(service: "s", account: "a")
        // A deletion keeps the name.
        #expect(code { () throws(VaultError) in try service.add("s", "a") } == .downgraded)
        try person.add("s", "a", .afterFirstUnlock, [7])
        #expect(try service.value("s", "a") == [7])
        #expect(try service.lockedNameCount() == 0)
        try person.updateItem(service: "s", account: "a", accessibility: .whenUnlocked)
        #expect(code { () throws(VaultError) in _ = try service.value("s", "a") } == .locked)
        #expect(try person.value("s", "a") == [7])
        try person.updateItem(service: "s", account: "a", accessibility: .afterFirstUnlock)
        #expect(try service.value("s", "a") == [7])
    }

    /// A service can write anything into its own compartment. An item under a listed name is never read from it.
    @Test(arguments: [false, true]) func anItemThatIsPlantedUnderAListedNameIsNeverRead(isDeleted: Bool) throws {
        let service = try vaultWithALockedItem()
        let person = try fixture.open(with: passphrase("one"))
        if isDeleted { try person.deleteItem(service: "s", account: "a") }
        let name = try ItemForge.name("s", "a")
        try service.change(.itemAdded) { draft throws(VaultError) in
            let values = ItemValues(vaultID: draft.vaultID, path: service.path)
            let root = draft.service.root
            let planted = try [UInt8]("planted".utf8).withRawBytes { value throws(VaultError) in
                try values.seal(
                    value, name, label: [], accessibility: .afterFirstUnlock, createdAt: 1, modifiedAt: 1, root: root)
            }
            var table = try draft.service.loadItems(draft.place)
            try table.insert(planted.entry, path: service.path)
            draft.service.items = table
        }
        #expect(code { () throws(VaultError) in _ = try service.value("s", "a") } == .locked)
        #expect(try service.items().isEmpty)
        #expect(try fixture.open().items().isEmpty)
        let expected: VaultError.Code? = isDeleted ? .itemNotFound : nil
        #expect(code { () throws(VaultError) in _ = try person.value("s", "a") } == expected)
        #expect(try person.items().map(\.label) == (isDeleted ? [] : ["old"]))
        // The item is reported, and a change of another item leaves it.
        for vault in [service, person] { #expect(try vault.plantedItems().map(\.account) == ["a"]) }
        try person.add("s", "other", .whenUnlocked)
        #expect(try person.plantedItems().count == 1)
        try person.deleteItem(service: "s", account: "other")
        // It does not prevent the person's own item either.
        if isDeleted { try person.add("s", "a", .whenUnlocked, [1]) } else { try person.update("s", "a", value: [1]) }
        #expect(try person.value("s", "a") == [1])
        #expect(try person.plantedItems().isEmpty && fixture.open().plantedItems().isEmpty)
        let path = fixture.directory.path("backup")
        let report = try person.export(to: path, for: [.recipient(try Identity.random().recipient)])
        #expect(report.itemCount == 1)
    }

    @Test func aThisDeviceOnlyValueIsOfNoUseOnAnotherMachine() throws {
        let (here, there) = (try fixture.machine("here", digit: "a"), try fixture.machine("there", digit: "b"))
        let vault = try fixture.create()
        try ItemValues.$machineIDPath.withValue(here) {
            try vault.add("s", "bound", .afterFirstUnlockThisDeviceOnly)
            try vault.add("s", "free")
        }
        try ItemValues.$machineIDPath.withValue(there) {
            #expect(code { () throws(VaultError) in _ = try vault.value("s", "bound") } == .wrongDevice)
            #expect(try vault.value("s", "free") == [1, 2, 3])
            #expect(
                code { () throws(VaultError) in
                    try vault.updateItem(service: "s", account: "bound", accessibility: .afterFirstUnlock)
                } == .wrongDevice)
            try vault.updateItem(service: "s", account: "bound", label: "renamed")
        }
        let stillHere = try ItemValues.$machineIDPath.withValue(here) { try vault.value("s", "bound") }
        #expect(stillHere == [1, 2, 3])
        try ItemValues.$machineIDPath.withValue(there) {
            try vault.update("s", "bound", value: [4])
            #expect(try vault.value("s", "bound") == [4])
        }
        ItemValues.$machineIDPath.withValue(here) {
            #expect(code { () throws(VaultError) in _ = try vault.value("s", "bound") } == .wrongDevice)
        }
    }

    @Test func aMachineWithoutAnIDKeepsOnlyWhatAnyMachineMayRead() throws {
        let vault = try fixture.create()
        try ItemValues.$machineIDPath.withValue(fixture.directory.path("missing")) {
            let code = code { () throws(VaultError) in try vault.add("s", "a", .afterFirstUnlockThisDeviceOnly) }
            #expect(code == .noMachineIdentity)
            try vault.add("s", "a")
        }
    }

    @Test func anItemMovedFromAnotherVaultDoesNotOpen() throws {
        let elsewhere = try VaultFixture("group.com.example.other")
        let moved = try withExtendedLifetime(elsewhere) {
            let other = try elsewhere.create()
            try other.add("s", "a")
            return try other.current().service.items(root: other.keys.service, place: other.place).entries
        }
        let vault = try fixture.create()
        try vault.change(.itemAdded) { draft throws(VaultError) in
            var table = try draft.service.loadItems(draft.place)
            for entry in moved { try table.insert(entry, path: vault.path) }
            draft.service.items = table
        }
        #expect(code { () throws(VaultError) in _ = try vault.value("s", "a") } == .corrupt)
    }

    @Test func nothingOfAnItemIsStoredInPlaintext() throws {
        let vault = try fixture.create()
        let canaries = ["canary-service-9f", "canary-account-3b", "canary-label-77", "canary-value-c4"]
        try vault.add(canaries[0], canaries[1], label: canaries[2], Array(canaries[3].utf8))
        // This also holds for a value in a separate file.
        try vault.add(canaries[0], "large", [UInt8](repeating: 0, count: 300) + Array(canaries[3].utf8))
        _ = try vault.value(canaries[0], canaries[1])
        try vault.update(canaries[0], canaries[1], label: canaries[2], value: Array(canaries[3].utf8))
        _ = code { () throws(VaultError) in try vault.add(canaries[0], canaries[1]) }
        let files = try fixture.files()
        #expect(files.contains(fixture.path))
        for path in files {
            let bytes = try SystemFile.read(path)
            for canary in canaries { #expect(!bytes.holds(Array(canary.utf8)), "\(canary) in \(path)") }
        }
        // The control shows that the search finds existing data.
        #expect(try SystemFile.read(fixture.path).holds(Array("SVLT".utf8)))
    }

    @Test func noErrorNamesAnItem() throws {
        let vault = try fixture.create()
        try vault.add("canary-service", "canary-account")
        func text(_ body: () throws(VaultError) -> Void) throws -> String {
            let error = try #require(throws: VaultError.self) { try body() }
            return error.description
        }
        let texts = [
            try text { () throws(VaultError) in try vault.add("canary-service", "canary-account") },
            try text { () throws(VaultError) in _ = try vault.value("canary-service", "canary-other") },
            try text { () throws(VaultError) in try vault.add("canary-service", "canary-other", .whenUnlocked) },
            try text { () throws(VaultError) in try vault.add("canary-service", "") },
        ]
        #expect(texts.allSatisfy { !$0.contains("canary") })
    }
}

extension [UInt8] {
    fileprivate func holds(_ needle: [UInt8]) -> Bool {
        indices.contains { self[$0] == needle[0] && self[$0...].starts(with: needle) }
    }
}

extension VaultFixture {
    /// Returns every regular file of the home.
    fileprivate func files() throws -> [String] { try Self.files(below: directory.path) }

    private static func files(below path: String) throws -> [String] {
        try SystemFile.names(path).flatMap { name in
            let inner = "\(path)/\(name)"
            var facts = stat()
            guard lstat(inner, &facts) == 0 else { return [String]() }
            if facts.st_mode & S_IFMT == S_IFDIR { return try files(below: inner) }
            return facts.st_mode & S_IFMT == S_IFREG && facts.st_size > 0 ? [inner] : []
        }
    }
}
