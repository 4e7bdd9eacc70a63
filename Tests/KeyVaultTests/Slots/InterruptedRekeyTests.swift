import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a rekey that ends between two of its writes.
@Suite struct InterruptedRekeyTests {
    private let sandbox: RekeySandbox
    private var fixture: VaultFixture { sandbox.fixture }

    init() throws { sandbox = try RekeySandbox() }

    /// The kind of the removed slot.
    enum Removal: String, CaseIterable, Sendable { case none, service, person }

    private func options(_ removal: Removal) -> RekeyOptions {
        switch removal {
        case .none: RekeyOptions(renewsPersons: true)
        case .service: RekeyOptions(removing: [sandbox.serviceSlot])
        case .person: RekeyOptions(removing: [sandbox.bobSlot])
        }
    }

    private func expectCompleted(_ vault: Vault) throws {
        let register = try #require(try vault.current().register)
        #expect(register.nextRoot == nil && register.period == 2)
        let head = try CompartmentHead(parsing: SystemFile.read(fixture.path), path: "")
        #expect(head.period == 2)
        try sandbox.expectAllItems(vault, isPersons: true)
        #expect(try vault.readAccessLog().badCount == 0)
    }

    @Test(arguments: 1...3, Removal.allCases) func theNextPersonCompletesIt(count: Int, removal: Removal) throws {
        let writes = try sandbox.writes(options(removal))
        #expect(writes.map(\.role) == [.person, .service, .person])
        for write in writes.prefix(count) { try sandbox.put(write) }
        try expectCompleted(try sandbox.person())
        let service = code { () throws(VaultError) in _ = try fixture.open() }
        #expect(service == (removal == .service ? .wrongKeyFile : nil))
        let bob = code { () throws(VaultError) in _ = try sandbox.person(sandbox.bob) }
        #expect(bob == (removal == .person ? .wrongIdentity : nil))
    }

    /// A service can enter a write with an impossible generation.
    @Test func anEntryOfGenerationZeroEndsNoProgram() throws {
        let vault = try sandbox.person()
        for role in [CompartmentRole.service, .person] {
            let forged = VaultWrite(role, period: 1, generation: 0)
            _ = try vault.noteChange(.keyAdded, nil, forged, mayBeUnlogged: false, isKeyNewest: true)
        }
        #expect(try vault.readAccessLog().isIntact)
    }

    // rekey:       enters write 2 ... killed
    // completion:  ...................... writes it some generations later
    @Test func theGenerationsThatACompletionLeavesOutAreNotUnloggedWrites() throws {
        let rekeying = try sandbox.person()
        let writes = try sandbox.writes(options(.service))
        let entered = VaultWrite(.service, period: 2, generation: 1)
        _ = try rekeying.noteChange(.rekeyed, nil, entered, mayBeUnlogged: true, isKeyNewest: true)
        try sandbox.put(writes[0])
        let person = try sandbox.person()
        try expectCompleted(person)
        #expect(try #require(try person.current().serviceHead).generation > 1)
        #expect(try person.readAccessLog().unloggedCount == 0)
        // The count continues after a write without an entry.
        let silent = try fixture.open(with: .identity(sandbox.ada), options: VaultOptions(accessLog: .off))
        try silent.add("s", "unlogged")
        #expect(try person.readAccessLog().unloggedCount == 1)
    }

    @Test(arguments: 1...3, Removal.allCases)
    func aProgramOfAPersonThatIsRunningFollows(count: Int, removal: Removal) throws {
        let running = try sandbox.person()
        for write in try sandbox.writes(options(removal)).prefix(count) { try sandbox.put(write) }
        try sandbox.expectAllItems(running, isPersons: true)
        try running.add("s", "a", .whenUnlocked)
        try running.add("s", "b", .afterFirstUnlock)
        try expectCompleted(running)
        #expect(try sandbox.person().value("s", "a") == [1, 2, 3])
    }

    @Test(arguments: 1...3, [Removal.none, .person])
    func aServiceContinuesBetweenTheWritesAndLosesNothing(count: Int, removal: Removal) throws {
        let running = try fixture.open()
        for write in try sandbox.writes(options(removal)).prefix(count) { try sandbox.put(write) }
        for vault in [running, try fixture.open()] { try sandbox.expectAllItems(vault, isPersons: false) }
        try running.add("s", "between")
        #expect(try fixture.open().value("s", "between") == [1, 2, 3])
        let person = try sandbox.person()
        try expectCompleted(person)
        #expect(try person.value("s", "between") == [1, 2, 3])
        #expect(try running.value("s", "between") == [1, 2, 3])
        try running.add("s", "after")
        #expect(try fixture.open().value("s", "after") == [1, 2, 3])
    }

    @Test(arguments: 1...3) func aRemovedServiceIsOutWithTheSecondWrite(count: Int) throws {
        let running = try fixture.open()
        for write in try sandbox.writes(options(.service)).prefix(count) { try sandbox.put(write) }
        let used = code { () throws(VaultError) in _ = try running.value("small", "service") }
        let opened = code { () throws(VaultError) in _ = try fixture.open() }
        // The first write removes its slot from the register.
        #expect(opened == .wrongKeyFile)
        #expect(used == (count == 1 ? nil : .locked))
        try expectCompleted(try sandbox.person())
        #expect(code { () throws(VaultError) in _ = try running.value("small", "service") } == .locked)
    }

    /// Two persons complete the rekey at once, and the files are those of one of them.
    @Test func manyPersonsCompleteItAtOnce() throws {
        for write in try sandbox.writes(options(.none)).prefix(1) { try sandbox.put(write) }
        let results = try concurrently(6) { index in
            let vault = try sandbox.person(index % 2 == 0 ? sandbox.ada : sandbox.bob)
            try vault.add("s", "\(index)", index % 3 == 0 ? .whenUnlocked : .afterFirstUnlock)
        }
        for result in results { try result.get() }
        let vault = try sandbox.person()
        try expectCompleted(vault)
        #expect(try vault.items(service: "s").count == 6)
    }

    /// The test covers every mix of former, intermediate and new files that no writer leaves.
    @Test(arguments: [false, true]) func aMixThatNoWriterLeavesIsRefused(isKnown: Bool) throws {
        let before = try fixture.copy()
        let writes = try sandbox.writes(options(.person))
        if isKnown {
            for write in writes { try sandbox.put(write) }
            _ = try sandbox.person()
            _ = try fixture.open()
        }
        let old = ["vault": before.files["vault"] ?? [], "vault.person": before.files["vault.person"] ?? []]
        let mixes: [(name: String, person: [UInt8], service: [UInt8])] = [
            ("new persons, old services", writes[2].bytes, old["vault"] ?? []),
            ("old persons, new services", old["vault.person"] ?? [], writes[1].bytes),
        ]
        for mix in mixes {
            if !isKnown { try fixture.forget() }
            try SystemFile.write(fixture.personPath, mix.person)
            try SystemFile.write(fixture.path, mix.service)
            let service = code { () throws(VaultError) in _ = try fixture.open() }
            #expect([.replaced, .rolledBack].contains(service), "\(mix.name): \(service?.rawValue ?? "opened")")
            let person = code { () throws(VaultError) in _ = try sandbox.person().value("small", "service") }
            #expect([.replaced, .rolledBack].contains(person), "\(mix.name): \(person?.rawValue ?? "opened")")
        }
    }
}

/// Tests of a rekey's effect on the keys that wait for other programs of a user.
@Suite(.enabled(if: MemoryDirectory.isAvailable)) struct RekeyedUnlockTests {
    /// Creates a vault with a passphrase, a key file and one item of each class.
    private func fixture() throws -> UnlockFixture {
        let fixture = try UnlockFixture(.file)
        let person = try fixture.person()
        try person.addSlot(.defaultKeyFile)
        try person.add("s", "person", .whenUnlocked, [1])
        try person.add("s", "service", .afterFirstUnlock, [2])
        return fixture
    }

    /// Rekeys as another user, or on another machine, whose unlocked keys are elsewhere.
    private func rekeyElsewhere(_ fixture: UnlockFixture) throws {
        try UnlockCaches.$current.withValue(UnlockCaches([])) {
            _ = try fixture.vault.open(with: passphrase("correct-horse")).rekey(RekeyOptions(renewsPersons: true))
        }
    }

    @Test func theCreatorsUnlockedKeysStayUnlocked() throws {
        let fixture = try fixture()
        let person = try fixture.person()
        try person.unlock()
        let finder = try fixture.onCache { try fixture.vault.open(with: .unlocked) }
        try fixture.onCache { _ = try fixture.person().rekey(RekeyOptions(renewsPersons: true)) }
        try fixture.onCache { () throws(any Error) in
            #expect(try finder.value("s", "service") == [2])
            #expect(try fixture.vault.open(with: .unlocked).value("s", "service") == [2])
        }
    }

    @Test func anotherUsersKeysAreLockedAndTheirServicesContinue() throws {
        let fixture = try fixture()
        try fixture.person().unlock()
        let finder = try fixture.onCache { try fixture.vault.open(with: .unlocked) }
        let service = try fixture.onCache { try fixture.vault.open() }
        #expect(try service.items().count == 2)
        try rekeyElsewhere(fixture)
        // The ticket of the former root is invalid and does not obstruct a service.
        try fixture.onCache { () throws(any Error) in
            #expect(code { () throws(VaultError) in _ = try finder.value("s", "service") } == .locked)
            #expect(code { () throws(VaultError) in _ = try fixture.vault.open(with: .unlocked) } == .locked)
            for vault in [service, try fixture.vault.open()] {
                #expect(try !vault.isUnlocked())
                #expect(try vault.items().map(\.account) == ["service"])
                #expect(try vault.lockedNameCount() == 1)
                #expect(code { () throws(VaultError) in _ = try vault.value("s", "person") } == .locked)
            }
            try service.add("s", "another")
            #expect(try fixture.status().whenUnlocked == .locked)
        }
        // The next unlock reaches all of them.
        try fixture.person().unlock()
        try fixture.onCache { () throws(any Error) in
            #expect(try service.value("s", "person") == [1])
            #expect(try fixture.vault.open(with: .unlocked).value("s", "person") == [1])
        }
    }

    /// A ticket is a file of the user. A root that is not the vault's must not be accepted from it.
    @Test func aPlantedPersonRootIsNotTheVaults() throws {
        let fixture = try fixture()
        let name = UnlockName(vaultID: try fixture.person().heldContents.vaultID, .whenUnlocked)
        try fixture.onCache { () throws(any Error) in
            let service = try fixture.vault.open()
            try fixture.sandbox.caches.store(UnlockTicket.make(name, root: .random(), deadline: 0), as: name, for: nil)
            #expect(try !service.isUnlocked())
            #expect(try service.items().map(\.account) == ["service"])
            #expect(code { () throws(VaultError) in _ = try service.value("s", "person") } == .locked)
            try service.add("s", "another")
        }
    }
}
