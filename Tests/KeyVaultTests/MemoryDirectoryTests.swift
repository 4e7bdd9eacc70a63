import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SystemPackage
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the two directories for the memory of a user's programs: the home's own one, and the XDG state directory
/// while other users can rename the home.
@Suite struct MemoryDirectoryTests {
    private let directory: TemporaryDirectory
    private let group: AppGroup
    private let key = (0..<32).map { UInt8($0) }

    init() throws {
        directory = try TemporaryDirectory()
        identity = try .random()
        group = try AppGroup("group.com.example.memory")
        try directory.directory("groups")
        try directory.directory("state")
    }

    private enum Choice: CaseIterable { case home, state }

    private var root: String { directory.path("groups") }

    /// Returns the home with the modes that select one of the directories.
    private func home(_ choice: Choice) throws -> GroupsHome {
        #expect(chmod(root, choice == .home ? 0o700 : 0o775) == 0)
        return try GroupsHome(
            environment: [
                "SEALED_GROUPS_HOME": root, "XDG_STATE_HOME": directory.path("state"), "HOME": directory.path("h"),
            ], accountHome: { nil })
    }

    private func roster(_ choice: Choice) throws -> RosterMemory { RosterMemory(of: group, in: try home(choice)) }

    private func place(_ choice: Choice) throws -> VaultPlace { VaultPlace(AccessGroup(group), in: try home(choice)) }

    private func code(_ body: () throws(VaultError) -> Void) -> VaultError.Code? {
        do throws(VaultError) { try body() } catch { return error.code }
        return nil
    }

    /// Runs the body without access to one of the directories, as under `ProtectHome=`.
    private func withoutSeeing(_ path: String, _ body: () throws -> Void) throws {
        rename(directory.path(path), directory.path("hidden"))
        try body()
        rename(directory.path("hidden"), directory.path(path))
    }

    // MARK: Rosters

    @Test func aTeamKeyIsKnownFromTheOtherDirectory() throws {
        for (first, second) in [(Choice.home, Choice.state), (.state, .home)] {
            let other = try MemoryDirectoryTests()
            let contents = RosterMemory.Contents(teamKey: try TeamKey.random().publicKey, roster: nil)
            // No vault was opened, so only the roster's memory exists.
            try other.roster(first).store(contents)
            #expect(try other.roster(second).load() == contents)
            #expect(try other.roster(second).stamps.count == 1)
            // Another key that is stored with the other directory in use is not newer.
            try other.roster(second).store(.init(teamKey: try TeamKey.random().publicKey, roster: nil))
            for choice in [first, second] { #expect(try other.roster(choice).load() == contents) }
        }
    }

    @Test func differentTeamKeysAreRefusedUntilAPersonChooses() throws {
        let (one, other) = (try TeamKey.random().publicKey, try TeamKey.random().publicKey)
        try roster(.home).store(.init(teamKey: one, roster: nil))
        try withoutSeeing("groups/Rosters") { try roster(.state).store(.init(teamKey: other, roster: nil)) }
        for choice in Choice.allCases {
            let memory = try roster(choice)
            #expect(code { () throws(VaultError) in _ = try memory.load() } == .corrupt)
        }
        // The damaged file is named, in either directory.
        let damaged = directory.path("state/sealed-groups/Rosters/\(group.identifier).roster")
        let good = try SystemFile.read(damaged)
        try SystemFile.write(damaged, [1])
        let memory = try roster(.home)
        do throws(VaultError) {
            _ = try memory.load()
            Issue.record("a damaged memory was read")
        } catch {
            #expect(error.details.subject.hasSuffix(damaged))
        }
        try SystemFile.write(damaged, good)
        try roster(.home).accept(.init(teamKey: other, roster: nil), naming: other)
        for choice in Choice.allCases { #expect(try roster(choice).load()?.teamKey == other) }
    }

    @Test func aRosterOfTheOtherDirectoryIsStoredInTheWrittenOne() throws {
        let contents = RosterMemory.Contents(teamKey: try TeamKey.random().publicKey, roster: nil)
        try roster(.home).store(contents)
        try roster(.state).keep(contents)
        try withoutSeeing("groups/Rosters") {
            let stored = try roster(.state).load()
            #expect(stored == contents)
        }
    }

    // MARK: Places

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
            (Choice.home, Choice.state, "groups/Places"), (.state, .home, "state/sealed-groups"),
        ] {
            for choice in Choice.allCases { try place(choice).memory.remove() }
            try place(first).memory.store(early)
            try withoutSeeing(hidden) { try place(second).memory.store(late) }
            for choice in Choice.allCases {
                let known = try #require(try place(choice).memory.load())
                #expect(known.period == 5 && known.personKey == late.personKey)
                #expect(known.teamKey == early.teamKey && known.minimum == early.minimum)
            }
        }
    }

    @Test func memoriesOfTwoVaultsAreRefusedUntilOneIsAccepted() throws {
        let (one, other) = (try memory(), try memory())
        try place(.state).memory.store(one)
        try withoutSeeing("state/sealed-groups") { try place(.home).memory.store(other) }
        for choice in Choice.allCases {
            let file = try place(choice).memory
            #expect(code { () throws(VaultError) in _ = try file.load() } == .replaced)
            #expect(code { () throws(VaultError) in try file.requireAccepted() } == .denied)
        }
        let accepting = try place(.home).memory
        accepting.store(one, isAccepted: true)
        try accepting.requireAccepted()
        #expect(try accepting.load() == one)
        #expect(try place(.state).memory.load()?.vaultID == one.vaultID)
        try place(.state).memory.remove()
        for choice in Choice.allCases { #expect(try place(choice).memory.load() == nil) }
    }

    @Test func ofOnePeriodTheMemoryWithPersonsCounts() throws {
        var without = try memory()
        var with = without
        (without.hasPersons, with.hasPersons) = (false, true)
        try place(.state).memory.store(without)
        try withoutSeeing("state/sealed-groups") { try place(.home).memory.store(with) }
        for choice in Choice.allCases {
            let known = try #require(try place(choice).memory.load())
            #expect(known.hasPersons && known.others.map(\.hasPersons) == [false])
        }
    }

    @Test func aLaterMemoryWithoutPersonsDoesNotForgetThem() throws {
        var with = try memory()
        var later = with
        (with.hasPersons, later.hasPersons, later.period) = (true, false, with.period + 1)
        try place(.state).memory.store(with)
        try withoutSeeing("state/sealed-groups") { try place(.home).memory.store(later) }
        for choice in Choice.allCases {
            let known = try #require(try place(choice).memory.load())
            #expect(known.period == later.period && known.hasPersons)
        }
    }

    @Test func aDamagedMemoryThatRemainsIsNamed() throws {
        let known = try memory()
        try place(.state).memory.store(known)
        let file = try place(.home).memory
        file.store(known, isAccepted: true)
        try place(.state).memory.store(known, chain: [known.personKey])
        let name = try #require(try SystemFile.names(directory.path("state/sealed-groups/Places")).first)
        try SystemFile.write(directory.path("state/sealed-groups/Places/\(name)"), [1])
        #expect(code { () throws(VaultError) in try file.requireAccepted() } == .denied)
    }

    @Test func aMemoryOfTheOtherDirectoryIsStoredInTheWrittenOne() throws {
        let known = try memory()
        try place(.home).memory.store(known)
        // It is marked as the other directory's.
        let marked = try place(.state).memory.load()
        #expect(marked != known)
        try place(.state).memory.store(known, chain: [known.personKey])
        try withoutSeeing("groups/Places") {
            let stored = try place(.state).memory.load()
            #expect(stored == known)
        }
    }

    // MARK: A vault

    private let identity: Identity

    private var accessGroup: AccessGroup { AccessGroup(group) }

    private func open(_ choice: Choice) throws -> Vault {
        try Vault.open(accessGroup, in: try home(choice), with: .identity(identity))
    }

    private func createVault() throws {
        let slots: [NewSlot] = [.recipient(identity.recipient), .defaultKeyFile]
        _ = try Vault.create(accessGroup, in: try home(.state), slots: slots, openingWith: .identity(identity))
    }

    // state:  create ........................................ open
    // home:   ............ rekey, rekey (new persons) ... open
    @Test func renewalsThatOneDirectoryDidNotSeeAreFollowed() throws {
        try createVault()
        try withoutSeeing("state/sealed-groups") {
            for _ in 1...2 { try open(.home).rekey(RekeyOptions(renewsPersons: true)) }
        }
        #expect(try place(.state).memory.load()?.others.count == 1)
        for choice in [Choice.home, .state] { _ = try open(choice) }
        for choice in Choice.allCases { #expect(try place(choice).memory.load()?.others == []) }
    }

    @Test func aVaultHasToSatisfyBothMemories() throws {
        try createVault()
        var forged = try #require(try place(.state).memory.load())
        forged.personKey = SecureRandom.bytes(count: 32)
        try withoutSeeing("state/sealed-groups") { try place(.home).memory.store(forged) }
        for choice in Choice.allCases {
            do {
                _ = try open(choice)
                Issue.record("opened with \(choice)")
            } catch let error as VaultError {
                #expect(error.code == .forked)
            }
        }
        _ = try Vault.accept(accessGroup, in: try home(.home), with: .identity(identity))
        for choice in Choice.allCases { _ = try open(choice) }
    }

    // MARK: Watermarks

    @Test func watermarksOfBothDirectoriesCount() throws {
        let secret = key.withRawBytes { SecretBytes(copying: $0) }
        let name = WatermarkEntryTests.name
        for (choice, sequence) in [(Choice.home, 3), (.state, 7), (.home, 5)] as [(Choice, UInt64)] {
            let table = WatermarkTable(log: try place(choice).watermarkLog(vaultID: "0123456789abcdef", key: secret))
            let mark = Watermark(epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(1))
            let verdict = table.accept(compartment: name, mark, isAcknowledged: true)
            #expect(verdict == (sequence == 5 ? .replayed : .advances), "\(choice) \(sequence)")
            #expect(table.condition == (sequence == 3 ? .firstContact : .intact))
        }
    }

    @Test func aRunningProgramReadsTheNewsOfBothDirectories() throws {
        let secret = key.withRawBytes { SecretBytes(copying: $0) }
        func table(_ choice: Choice) throws -> WatermarkTable {
            WatermarkTable(log: try place(choice).watermarkLog(vaultID: "0123456789abcdef", key: secret))
        }
        func mark(_ sequence: UInt64) -> Watermark {
            Watermark(epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(1))
        }
        let name = WatermarkEntryTests.name
        let other = try table(.state)
        _ = other.accept(compartment: name, mark(3), isAcknowledged: true)
        let running = try table(.home)
        _ = other.accept(compartment: name, mark(7), isAcknowledged: true)
        running.refresh()
        #expect(running.accept(compartment: name, mark(6), isAcknowledged: true) == .replayed)
        // State that was read from the other directory at the beginning is kept in this one.
        try withoutSeeing("state/sealed-groups") {
            let own = try table(.home)
            #expect(own.accept(compartment: name, mark(2), isAcknowledged: true) == .replayed)
        }
    }
}
