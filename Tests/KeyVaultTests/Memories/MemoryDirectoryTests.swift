import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the two directories for the memory of a user's programs of a vault.
@Suite struct MemoryDirectoryTests {
    private let sandbox: MemorySandbox

    init() throws { sandbox = try MemorySandbox() }

    private func memory() throws -> PlaceMemory {
        let fixture = try VaultFixture()
        _ = try fixture.create()
        return try #require(try fixture.place.memory.load())
    }

    @Test func memoriesOfOneVaultAreMerged() throws {
        var (early, late) = (try memory(), try memory())
        late.vaultID = early.vaultID
        (early.period, late.period) = (3, 5)
        late.formerPersonKey = early.personKey
        early.teamKey = SecureRandom.bytes(count: 32)
        (early.minimum, late.minimum) = (SeenMinimum(epoch: 9, period: 5), SeenMinimum(epoch: 7, period: 5))
        for (first, second, hidden) in [
            (MemoryChoice.home, MemoryChoice.state, "groups/Places"), (.state, .home, "state/sealed-groups"),
        ] {
            for choice in MemoryChoice.allCases { try sandbox.place(choice).memory.remove() }
            try sandbox.place(first).memory.store(early)
            try sandbox.withoutSeeing(hidden) { try sandbox.place(second).memory.store(late) }
            for choice in MemoryChoice.allCases {
                let known = try #require(try sandbox.place(choice).memory.load())
                #expect(known.period == 5 && known.personKey == late.personKey)
                #expect(known.teamKey == early.teamKey && known.minimum == early.minimum)
            }
        }
    }

    @Test func memoriesOfTwoVaultsAreRefusedUntilOneIsAccepted() throws {
        let (one, other) = (try memory(), try memory())
        try sandbox.place(.state).memory.store(one)
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(other) }
        for choice in MemoryChoice.allCases {
            let file = try sandbox.place(choice).memory
            #expect(code { () throws(VaultError) in _ = try file.load() } == .replaced)
            #expect(code { () throws(VaultError) in try file.requireAccepted() } == .denied)
        }
        let refused = try sandbox.place(.home).memory
        for message in [
            advice { () throws(VaultError) in _ = try refused.load() },
            advice { () throws(VaultError) in try refused.requireAccepted() },
        ] {
            expectAcceptance("sealctl vault accept", in: message)
        }
        let accepting = try sandbox.place(.home).memory
        accepting.store(one, isAccepted: true)
        try accepting.requireAccepted()
        #expect(try accepting.load() == one)
        #expect(try sandbox.place(.state).memory.load()?.vaultID == one.vaultID)
        try sandbox.place(.state).memory.remove()
        for choice in MemoryChoice.allCases { #expect(try sandbox.place(choice).memory.load() == nil) }
    }

    @Test func ofOnePeriodTheMemoryWithPersonsCounts() throws {
        var without = try memory()
        var with = without
        (without.hasPersons, with.hasPersons) = (false, true)
        try sandbox.place(.state).memory.store(without)
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(with) }
        for choice in MemoryChoice.allCases {
            let known = try #require(try sandbox.place(choice).memory.load())
            #expect(known.hasPersons && known.others.map(\.hasPersons) == [false])
        }
    }

    @Test func aLaterMemoryWithoutPersonsDoesNotForgetThem() throws {
        var with = try memory()
        var later = with
        (with.hasPersons, later.hasPersons, later.period) = (true, false, with.period + 1)
        try sandbox.place(.state).memory.store(with)
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(later) }
        for choice in MemoryChoice.allCases {
            let known = try #require(try sandbox.place(choice).memory.load())
            #expect(known.period == later.period && known.hasPersons)
        }
    }

    @Test func aDamagedMemoryThatRemainsIsNamed() throws {
        let known = try memory()
        try sandbox.place(.state).memory.store(known)
        let file = try sandbox.place(.home).memory
        file.store(known, isAccepted: true)
        try sandbox.place(.state).memory.store(known, chain: [known.personKey])
        let name = try #require(try SystemFile.names(sandbox.directory.path("state/sealed-groups/Places")).first)
        try SystemFile.write(sandbox.directory.path("state/sealed-groups/Places/\(name)"), [1])
        #expect(code { () throws(VaultError) in try file.requireAccepted() } == .denied)
        expectAcceptance(
            "sealctl vault accept", in: advice { () throws(VaultError) in try file.requireAccepted() })
        expectAcceptance("sealctl vault accept", in: advice { () throws(VaultError) in _ = try file.load() })
    }

    @Test func aMemoryOfTheOtherDirectoryIsStoredInTheWrittenOne() throws {
        let known = try memory()
        try sandbox.place(.home).memory.store(known)
        // It is marked as the other directory's.
        let marked = try sandbox.place(.state).memory.load()
        #expect(marked != known)
        try sandbox.place(.state).memory.store(known, chain: [known.personKey])
        try sandbox.withoutSeeing("groups/Places") {
            let stored = try sandbox.place(.state).memory.load()
            #expect(stored == known)
        }
    }

    // MARK: A vault

    // state:  create ........................................ open
    // home:   ............ rekey, rekey (new persons) ... open
    @Test func renewalsThatOneDirectoryDidNotSeeAreFollowed() throws {
        try sandbox.createVault()
        try sandbox.withoutSeeing("state/sealed-groups") {
            for _ in 1...2 { try sandbox.open(.home).rekey(RekeyOptions(renewsPersons: true)) }
        }
        #expect(try sandbox.place(.state).memory.load()?.others.count == 1)
        for choice in [MemoryChoice.home, .state] { _ = try sandbox.open(choice) }
        for choice in MemoryChoice.allCases {
            let memory = try #require(try sandbox.place(choice).memory.load())
            // The memory codes may differ: each directory may have that of another identity.
            #expect(memory.all.allSatisfy { $0.period == memory.period && $0.personKey == memory.personKey })
        }
    }

    // state:  create ................................. the old vault: refused, stores .............. refused
    // home:   ............ rekey                                                       is out of sight
    // Without persons each rekey renews the key that signs the register.
    @Test(arguments: [true, false])
    func whatOnlyTheOtherDirectoryHasIsStoredEvenIfTheVaultIsRefused(_ hasPersons: Bool) throws {
        let credential = hasPersons ? VaultCredential.identity(sandbox.identity) : .defaultKeyFile
        let slots: [NewSlot] = hasPersons ? [.recipient(sandbox.identity.recipient)] : [.defaultKeyFile]
        let accessGroup = sandbox.accessGroup
        _ = try Vault.create(accessGroup, in: try sandbox.home(.state), slots: slots, openingWith: credential)
        let files = sandbox.directory.path("groups/Vaults/\(accessGroup)")
        let old = try VaultPlace.leaves.filter { SystemFile.exists("\(files)/\($0)") }
            .map { ($0, try SystemFile.read("\(files)/\($0)")) }
        try sandbox.withoutSeeing("state/sealed-groups") {
            _ = try Vault.open(accessGroup, in: try sandbox.home(.home), with: credential).rekey()
        }
        for (leaf, bytes) in old { try SystemFile.write("\(files)/\(leaf)", bytes) }
        func open() throws -> VaultError.Code? {
            let home = try sandbox.home(.state)
            return code { () throws(VaultError) in _ = try Vault.open(accessGroup, in: home, with: credential) }
        }
        #expect(try open() == .rolledBack)
        try sandbox.withoutSeeing("groups/Places") {
            let period = try sandbox.place(.state).memory.load()?.period
            #expect(period == 2)
            #expect(try open() == .rolledBack)
        }
    }

    @Test func aVaultHasToSatisfyBothMemories() throws {
        try sandbox.createVault()
        var forged = try #require(try sandbox.place(.state).memory.load())
        forged.personKey = SecureRandom.bytes(count: 32)
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(forged) }
        for choice in MemoryChoice.allCases {
            do {
                _ = try sandbox.open(choice)
                Issue.record("opened with \(choice)")
            } catch let error as VaultError {
                #expect(error.code == .forked)
            }
        }
        _ = try Vault.accept(sandbox.accessGroup, in: try sandbox.home(.home), with: .identity(sandbox.identity))
        for choice in MemoryChoice.allCases { _ = try sandbox.open(choice) }
    }

    /// Each directory has the memory code of one of the user's two identities, whose slots have none.
    @Test func theMemoryCodeOfTheOtherDirectoryCounts() throws {
        let friend = try Identity.random()
        try sandbox.createVault().addSlot(.recipient(friend.recipient))
        let (accessGroup, state) = (sandbox.accessGroup, try sandbox.home(.state))
        #expect(
            code { () throws(VaultError) in _ = try Vault.open(accessGroup, in: state, with: .identity(friend)) }
                == .notAccepted)
        var options = VaultOptions()
        (options.acceptsRollback, options.isTentative) = (true, true)
        let place = try sandbox.place(.state)
        let opened = try #require(try Vault.openIfPresent(place, with: .identity(friend), options))
        let key = try #require(opened.heldContents.register?.trustedKey)
        var memory = try #require(try place.memory.load())
        memory.memoryCode = try #require(opened.keys.slot).holder.memoryCode(vaultID: memory.vaultID, trusted: key)
        let own = try #require(try place.memory.load()).memoryCode
        #expect(own != .zero && own != memory.memoryCode)
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(memory) }
        for choice in [MemoryChoice.state, .home] {
            _ = try Vault.open(accessGroup, in: try sandbox.home(choice), with: .identity(friend))
        }
        // Each directory keeps the code that it has.
        try sandbox.withoutSeeing("groups/Places") {
            let kept = try sandbox.place(.state).memory.load()?.memoryCode
            #expect(kept == own)
        }
    }

    @Test func anAcceptanceKeepsTheMemoryCodeOfTheSameVault() throws {
        var (one, other) = (try memory(), try memory())
        one.memoryCode = SecureRandom.bytes(count: 32).withRawBytes { Bytes32($0) }
        other.memoryCode = SecureRandom.bytes(count: 32).withRawBytes { Bytes32($0) }
        try sandbox.place(.state).memory.store(one)
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(other) }
        var accepted = one
        accepted.memoryCode = .zero
        try sandbox.place(.state).memory.store(accepted, isAccepted: true)
        #expect(try sandbox.place(.state).memory.load() == one)
    }

    @Test func aMemoryThatNeedsNoChangeTakesNoLock() throws {
        let early = try memory()
        var late = early
        late.period += 1
        try sandbox.place(.home).memory.store(early)
        try sandbox.place(.state).memory.store(late, chain: [late.personKey])
        let file = try sandbox.place(.state).memory
        #expect(try file.load()?.others == [early])
        let directory = open(sandbox.path(.state, "Places"), O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        defer { close(directory) }
        #expect(flock(directory, LOCK_EX) == 0)
        #expect(file.store(late, chain: [late.personKey]))
    }

    /// No roster says that one of them succeeded the other.
    @Test func contradictingTeamKeysAreRefusedUntilAVaultIsAccepted() throws {
        try sandbox.createVault()
        var known = try #require(try sandbox.place(.state).memory.load())
        let chain = [known.personKey]
        known.teamKey = try TeamKey.random().publicKey.key.bytes
        try sandbox.place(.state).memory.store(known, chain: chain)
        known.teamKey = try TeamKey.random().publicKey.key.bytes
        let other = known
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(other) }
        for choice in MemoryChoice.allCases {
            let (accessGroup, home) = (sandbox.accessGroup, try sandbox.home(choice))
            let credential = VaultCredential.identity(sandbox.identity)
            #expect(
                code { () throws(VaultError) in _ = try Vault.open(accessGroup, in: home, with: credential) }
                    == .wrongTeamKey)
            expectAcceptance(
                "sealctl vault accept",
                in: advice { () throws(VaultError) in _ = try Vault.open(accessGroup, in: home, with: credential) })
        }
        _ = try Vault.accept(sandbox.accessGroup, in: try sandbox.home(.home), with: .identity(sandbox.identity))
        for choice in MemoryChoice.allCases { _ = try sandbox.open(choice) }
    }

    @Test func replacingALostTeamKeyRemovesItFromTheOtherDirectory() throws {
        try sandbox.createVault()
        let (lost, next) = (try TeamKey.random(), try TeamKey.random())
        let (accessGroup, credential) = (sandbox.accessGroup, VaultCredential.identity(sandbox.identity))
        try Vault.certify(accessGroup, in: try sandbox.home(.state), by: lost, with: credential)
        let known = try #require(try sandbox.place(.state).memory.load())
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(known) }
        try Vault.certify(
            accessGroup, in: try sandbox.home(.state), by: next, with: credential, replacing: lost.publicKey)
        for choice in MemoryChoice.allCases { #expect(try sandbox.open(choice).teamKey == next.publicKey) }
    }

    @Test func replacingALostTeamKeyKeepsTheMinimumEpoch() throws {
        try sandbox.createVault()
        let (lost, next) = (try TeamKey.random(), try TeamKey.random())
        let (accessGroup, credential) = (sandbox.accessGroup, VaultCredential.identity(sandbox.identity))
        let home = try sandbox.home(.state)
        try Vault.certify(accessGroup, in: home, by: lost, with: credential)
        let place = try sandbox.place(.state)
        var known = try #require(try place.memory.load())
        known.minimum.epoch += 6
        place.memory.store(known, chain: [known.personKey])
        try Vault.certify(accessGroup, in: home, by: next, with: credential, replacing: lost.publicKey)
        let memory = try #require(try place.memory.load())
        #expect(memory.minimum == known.minimum && memory.team == next.publicKey)
    }

    /// The vault is lost, so it cannot be accepted.
    @Test func contradictingTeamKeysDoNotBlockTheSuccessorOfALostVault() throws {
        try sandbox.createVault()
        var known = try #require(try sandbox.place(.state).memory.load())
        known.teamKey = try TeamKey.random().publicKey.key.bytes
        try sandbox.place(.state).memory.store(known, chain: [known.personKey])
        known.teamKey = try TeamKey.random().publicKey.key.bytes
        let other = known
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(other) }
        let files = sandbox.directory.path("groups/Vaults/\(sandbox.accessGroup)")
        for leaf in VaultPlace.leaves { unlink("\(files)/\(leaf)") }
        let accessGroup = sandbox.accessGroup
        _ = try Vault.abandon(accessGroup, in: try sandbox.home(.state), slots: [.defaultKeyFile])
        for choice in MemoryChoice.allCases {
            _ = try Vault.open(accessGroup, in: try sandbox.home(choice), with: .defaultKeyFile)
        }
    }

    @Test func aMemoryCodeOverAFormerTeamKeyIsReplaced() throws {
        var (former, present) = (try memory(), try memory())
        present.vaultID = former.vaultID
        present.personKey = former.personKey
        for isSameTeam in [false, true] {
            let team = try TeamKey.random().publicKey.key.bytes
            former.teamKey = isSameTeam ? team : try TeamKey.random().publicKey.key.bytes
            present.teamKey = team
            former.memoryCode = SecureRandom.bytes(count: 32).withRawBytes { Bytes32($0) }
            present.memoryCode = SecureRandom.bytes(count: 32).withRawBytes { Bytes32($0) }
            let (one, other, place) = (former, present, try sandbox.place(.state))
            place.memory.store(one, isAccepted: true)
            try sandbox.withoutSeeing("state/sealed-groups") {
                try sandbox.place(.home).memory.store(other, isAccepted: true)
            }
            place.memory.store(other, chain: [other.personKey])
            try sandbox.withoutSeeing("groups/Places") {
                let kept = try place.memory.load()?.memoryCode
                #expect(kept == (isSameTeam ? one.memoryCode : other.memoryCode))
            }
        }
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible)) func anAbandonedVaultsMemoryThatRemainsRefusesItsSuccessor() throws {
        try sandbox.createVault()
        let known = try #require(try sandbox.place(.state).memory.load())
        try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(known) }
        let mount = try ReadOnlyMount(sandbox.path(.home, "Places"))
        defer { withExtendedLifetime(mount) {} }
        let (accessGroup, home) = (sandbox.accessGroup, try sandbox.home(.state))
        let report = try Vault.abandon(accessGroup, in: home, slots: [.defaultKeyFile])
        #expect(!report.setAside.isEmpty)
        func open() throws(VaultError) { _ = try Vault.open(accessGroup, in: home) }
        #expect(code(open) == .replaced)
        expectAcceptance("sealctl vault accept", in: advice(open))
    }

    /// Another member has replaced the files, and a program that saw only the home has remembered the other vault.
    @Test(.enabled(if: MemoryDirectory.isAvailable)) func aLockWithdrawsTheKeysOfEachRememberedVault() throws {
        let cache = try MemoryDirectory()
        try UnlockCaches.$current.withValue(.runtimeFile(below: cache.path)) {
            let vault = try sandbox.createVault()
            let vaultID = vault.heldContents.vaultID
            try vault.unlock()
            #expect(try UnlockCaches.current.serviceRoot(vaultID: vaultID) != nil)
            let stranger = try VaultFixture(sandbox.group.identifier)
            _ = try stranger.create()
            let known = try #require(try stranger.place.memory.load())
            try sandbox.withoutSeeing("state/sealed-groups") { try sandbox.place(.home).memory.store(known) }
            let files = sandbox.directory.path("groups/Vaults/\(sandbox.accessGroup)")
            for leaf in VaultPlace.leaves { unlink("\(files)/\(leaf)") }
            for (leaf, bytes) in try stranger.copy().files { try SystemFile.write("\(files)/\(leaf)", bytes) }
            let (accessGroup, home) = (sandbox.accessGroup, try sandbox.home(.home))
            // The present vault is one of the two, so its slots say what is locked.
            #expect(throws: Never.self) { try Vault.lock(accessGroup, in: home) }
            #expect(try UnlockCaches.current.serviceRoot(vaultID: vaultID) == nil)
        }
    }
}
