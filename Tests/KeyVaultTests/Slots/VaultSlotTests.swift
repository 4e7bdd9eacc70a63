import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Slots of a vault that lies on disk.
@Suite struct VaultSlotTests {
    /// A slot of each kind and what opens it.
    struct Way: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let kind: SlotKind
        let reach: SlotReach
        let make: @Sendable (VaultFixture) throws -> (NewSlot, VaultCredential)

        static let all = [
            Way(testDescription: "passphrase", kind: .passphrase, reach: .whenUnlocked) { _ in
                (.passphrase(try Passphrase("new words"), .minimum), .passphrase(try Passphrase("new words")))
            },
            Way(testDescription: "key file", kind: .keyFile, reach: .afterFirstUnlock) { fixture in
                let path = fixture.directory.path("other.key")
                try SystemFile.write(path, keyText())
                return (.keyFile(path: path), .keyFile(path: path))
            },
            Way(testDescription: "default key file", kind: .keyFile, reach: .afterFirstUnlock) { _ in
                (.defaultKeyFile, .defaultKeyFile)
            },
            Way(testDescription: "credential", kind: .credential, reach: .afterFirstUnlock) { fixture in
                try SystemFile.write(fixture.credential("some name"), keyText(), mode: 0o440)
                return (.systemdCredential(name: "some name"), .systemdCredential(name: "some name"))
            },
            Way(testDescription: "recipient", kind: .recipient, reach: .whenUnlocked) { _ in
                let identity = try Identity.random()
                return (.recipient(identity.recipient), .identity(identity))
            },
            Way(testDescription: "unattended recipient", kind: .recipient, reach: .afterFirstUnlock) { _ in
                let identity = try Identity.random()
                return (.recipient(identity.recipient, unattended: true), .identity(identity))
            },
        ]
    }

    private func words(_ text: String) throws -> NewSlot { .passphrase(try Passphrase(text), .minimum) }

    private func reaches(_ vault: Vault, _ protection: ProtectionClass) throws -> Bool {
        try vault.keys.reaches(protection)
    }

    @Test(arguments: Way.all)
    func aSlotThatIsAddedOpensTheSameVault(_ way: Way) throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            let vault = try fixture.create(with: passphrase("first"))
            let (slot, credential) = try way.make(fixture)
            let added = try vault.addSlot(slot)
            #expect(added.id == 2 && added.kind == way.kind && added.reach == way.reach)
            #expect(try vault.slots().map(\.id) == [1, 2])
            let opened = try fixture.open(with: credential)
            #expect(try opened.activeKey().id == vault.activeKey().id)
            #expect(try reaches(opened, .whenUnlocked) == (way.reach == .whenUnlocked))
            #expect(try opened.slotID(openedBy: credential) == 2)
            #expect(throws: Never.self) { try fixture.open(with: passphrase("first")) }
        }
    }

    @Test(arguments: Way.all)
    func aVaultCanBeMadeWithIt(_ way: Way) throws {
        let fixture = try VaultFixture()
        try fixture.inUnit {
            let (slot, credential) = try way.make(fixture)
            let vault = try Vault.create(
                fixture.accessGroup, in: fixture.home, slots: [slot], openingWith: credential)
            #expect(try vault.slots().map(\.kind) == [way.kind])
        }
    }

    @Test func aSlotThatIsRemovedNoLongerOpens() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("first"))
        let second = try vault.addSlot(words("second"))
        try vault.removeSlot(id: 1)
        #expect(try vault.slots() == [second])
        let old = try passphrase("first")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: old) } == .wrongPassphrase)
        #expect(throws: Never.self) { try fixture.open(with: passphrase("second")) }
        #expect(code { () throws(VaultError) in try vault.removeSlot(id: 1) } == .slotNotFound)
    }

    @Test func theLastSlotStays() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let before = try SystemFile.read(fixture.path)
        #expect(code { () throws(VaultError) in try vault.removeSlot(id: 1) } == .lastSlot)
        #expect(try SystemFile.read(fixture.path) == before)
    }

    @Test func noSlotNumberIsGivenTwice() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("first"))
        let second = try vault.addSlot(words("second"))
        try vault.removeSlot(id: second.id)
        #expect(try vault.addSlot(words("third")).id == 3)
    }

    @Test func aVaultTakesThirtyTwoSlots() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let recipient = try Identity.random().recipient
        for _ in 2...32 { try vault.addSlot(.recipient(recipient, unattended: true)) }
        #expect(
            code { () throws(VaultError) in try vault.addSlot(.recipient(recipient, unattended: true)) } == .tooLarge)
        #expect(try fixture.open().slots().count == 32)
    }

    @Test func passphrasesThatTogetherCostTooMuchAreRefused() throws {
        // The slots are planted by hand: to derive them would cost minutes.
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("first"))
        try vault.change(.slotAdded) { draft throws(VaultError) in
            var slot = draft.slots[0]
            for (offset, byte) in [(16, UInt8(32)), (20, 0), (21, 0), (22, 16), (23, 0)] { slot.payload[offset] = byte }
            draft.slots.append(
                KeySlot(kind: slot.kind, reach: slot.reach, id: draft.takeSlotID(), createdAt: 1, payload: slot.payload)
            )
        }
        let slot = try words("third")
        #expect(code { () throws(VaultError) in try vault.addSlot(slot) } == .tooCostly)
        #expect(throws: Never.self) { try fixture.open(with: passphrase("first")) }
    }

    @Test func aChangeOfPassphraseLeavesOneThatOpens() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("old"))
        let id = try #require(try vault.slotID(openedBy: passphrase("old")))
        let new = try vault.replaceSlot(id: id, with: words("new"))
        #expect(try vault.slots() == [new])
        let old = try passphrase("old")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: old) } == .wrongPassphrase)
        #expect(try fixture.keyID(with: passphrase("new")) == vault.activeKey().id.description)
        // Who comes second finds that his slot is gone, and changes nothing.
        let third = try words("third")
        #expect(code { () throws(VaultError) in try vault.replaceSlot(id: id, with: third) } == .slotNotFound)
        #expect(throws: Never.self) { try fixture.open(with: passphrase("new")) }
    }

    @Test func ofManyChangesOfPassphraseAtOnceOneWins() throws {
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("old"))
        let results = try concurrently(8) { number in
            try fixture.open(with: passphrase("old")).replaceSlot(id: 1, with: words("new \(number)"))
        }
        var winners: [Int] = []
        for (number, result) in results.enumerated() {
            switch result {
            case .success: winners.append(number)
            case .failure(let error):
                // Later ones may find their old passphrase wrong before they get as far as the slot.
                #expect([.slotNotFound, .wrongPassphrase].contains((error as? VaultError)?.code))
            }
        }
        #expect(winners.count == 1)
        for number in 0..<8 {
            let credential = try passphrase("new \(number)")
            let opens = code { () throws(VaultError) in _ = try fixture.open(with: credential) } == nil
            #expect(opens == winners.contains(number))
        }
    }

    @Test func aSlotThatReachesFurtherThanWhoAddsItIsRefused() throws {
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("person")).addSlot(.defaultKeyFile)
        let unattended = try fixture.open()
        let identity = try Identity.random()
        let slot = try words("mine")
        #expect(code { () throws(VaultError) in try unattended.addSlot(slot) } == .locked)
        #expect(code { () throws(VaultError) in try unattended.addSlot(.recipient(identity.recipient)) } == .locked)
        #expect(throws: Never.self) { try unattended.addSlot(.recipient(identity.recipient, unattended: true)) }
    }

    @Test func theFirstPersonOfAnUnattendedVaultIsWelcome() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        try vault.addSlot(words("person"))
        let person = try fixture.open(with: passphrase("person"))
        #expect(try reaches(person, .whenUnlocked))
        #expect(try !reaches(fixture.open(), .whenUnlocked))
        // From now on the key exists, and only who has it gives it away.
        let slot = try words("another")
        #expect(code { () throws(VaultError) in try vault.addSlot(slot) } == .locked)
        try person.addSlot(slot)
        let another = try fixture.open(with: passphrase("another"))
        #expect(try another.keys.isTheSameWhenUnlockedKey(as: person.keys))
    }

    @Test func theLastSlotThatReachesWhatIsKeptStays() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create(with: passphrase("person"))
        try vault.addSlot(.defaultKeyFile)
        try vault.addItem(
            service: "mail", account: "ada", label: "", accessibility: .whenUnlocked,
            value: UnsafeRawBufferPointer(start: nil, count: 0))
        #expect(code { () throws(VaultError) in try vault.removeSlot(id: 1) } == .lastSlot)
        #expect(code { () throws(VaultError) in try vault.replaceSlot(id: 1, with: .defaultKeyFile) } == .lastSlot)
        try vault.deleteItem(service: "mail", account: "ada")
        try vault.removeSlot(id: 1)
        #expect(try vault.slots().map(\.kind) == [.keyFile])
    }

    @Test func whatOtherUsersMayBeUsingStays() throws {
        let fixture = try VaultFixture()
        chmod(fixture.directory.path, 0o755)
        let vault = try Vault.create(
            fixture.accessGroup, in: fixture.home, slots: [words("person"), .defaultKeyFile],
            sharing: .unixGroup(getegid()), openingWith: passphrase("person"))
        #expect(code { () throws(VaultError) in try vault.removeSlot(id: 1) } == .lastSlot)
        try vault.removeSlot(id: 2)
        try vault.addSlot(words("another"))
        #expect(throws: Never.self) { try vault.removeSlot(id: 1) }
    }

    @Test func aKeyThatNoSlotGivesAnyMoreIsForgotten() throws {
        let fixture = try VaultFixture()
        try UnlockCaches.$current.withValue(.runtimeFile(below: fixture.directory.directory("run"))) {
            let vault = try fixture.create(with: passphrase("person"))
            try vault.addSlot(.defaultKeyFile)
            let recipient = try Identity.random().recipient
            let third = try vault.addSlot(.recipient(recipient, unattended: true))
            try vault.removeSlot(id: third.id)
            #expect(try reaches(vault, .whenUnlocked))
            let other = try fixture.open(with: passphrase("person"))
            #expect(try reaches(other, .whenUnlocked))
            try vault.removeSlot(id: 1)
            #expect(try !reaches(vault, .whenUnlocked))
            #expect(try !reaches(other, .whenUnlocked))
        }
    }

    /// | holder | another |
    /// | --- | --- |
    /// | opens with the passphrase | |
    /// | | removes its slot: the key ends |
    /// | | adds another person: a new key is born |
    /// | adds an item | |
    ///
    /// Without its user's stamp, as where another user changes the slots, nothing else tells the holder.
    @Test func whoHasADeadKeyWrapsNothingUnderIt() throws {
        let fixture = try VaultFixture()
        let another = try fixture.create(with: passphrase("person"))
        try another.addSlot(.defaultKeyFile)
        let holder = try fixture.open(with: passphrase("person"))
        func add() -> VaultError.Code? {
            code { () throws(VaultError) in
                try holder.addItem(
                    service: "mail", account: "ada", label: "", accessibility: .whenUnlocked,
                    value: UnsafeRawBufferPointer(start: nil, count: 0))
            }
        }
        let before = try another.current().body.state.whenUnlockedID
        #expect(before != WhenUnlockedKeyID.none)
        try another.removeSlot(id: 1)
        unlink(fixture.beside(LockStamp.leaf))
        #expect(try another.current().body.state.whenUnlockedID == WhenUnlockedKeyID.none)
        #expect(add() == .locked)
        try another.addSlot(words("new person"))
        let after = try another.current().body.state.whenUnlockedID
        #expect(after != before && after != WhenUnlockedKeyID.none)
        #expect(add() == .locked)
        let slot = try words("third")
        #expect(code { () throws(VaultError) in try holder.addSlot(slot) } == .locked)
        let person = try fixture.open(with: passphrase("new person"))
        #expect(try reaches(person, .whenUnlocked))
        #expect(try person.items().isEmpty)
        // A change of passphrase keeps the key.
        let id = try #require(try person.slotID(openedBy: passphrase("new person")))
        try person.replaceSlot(id: id, with: words("changed"))
        #expect(try person.current().body.state.whenUnlockedID == after)
    }

    @Test func aVaultThatNobodyReachesFurtherHasNoWhenUnlockedKey() throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        #expect(try vault.current().body.state.whenUnlockedID == WhenUnlockedKeyID.none)
    }
}

extension ClassKeys {
    fileprivate func isTheSameWhenUnlockedKey(as other: ClassKeys) throws -> Bool {
        try withKey(.whenUnlocked) { one throws(VaultError) in
            try other.withKey(.whenUnlocked) { two throws(VaultError) in one.isEqual(to: two) }
        }
    }
}

/// The text of a key file with a fresh key.
func keyText() -> [UInt8] {
    let digits = SecureRandom.bytes(count: 32).map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
    return Array("sealed-key-1 \(digits.joined())\n".utf8)
}

extension VaultFixture {
    /// A credential of the unit that `inUnit` stands for.
    func credential(_ name: String) -> String { directory.path("credentials/\(name)") }

    /// Runs as if the service manager had given this program credentials.
    func inUnit<Result>(_ body: () throws -> Result) throws -> Result {
        if !SystemFile.exists(directory.path("credentials")) { try directory.directory("credentials") }
        return try CredentialDirectory.$current.withValue(
            CredentialDirectory(path: directory.path("credentials")), operation: body)
    }
}
