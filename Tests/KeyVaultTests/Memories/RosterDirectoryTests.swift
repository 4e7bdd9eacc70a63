import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the two directories for the memory of a user's programs of a roster.
@Suite struct RosterDirectoryTests {
    private let sandbox: MemorySandbox
    private let team: TeamKey

    init() throws {
        sandbox = try MemorySandbox()
        team = try TeamKey.random()
    }

    private func roster(
        _ version: UInt64, id: UInt8 = 7, signedAt: UInt64 = 1, by team: TeamKey? = nil,
        succeeding former: TeamKey? = nil
    ) throws -> RosterMemory.Contents {
        let team = team ?? self.team
        var roster = Roster(
            group: sandbox.group.identifier, id: [UInt8](repeating: id, count: 16).withRawBytes { Bytes16($0) },
            version: version, signedAt: signedAt, team: (former ?? team).publicKey)
        if let former { roster = try roster.succeeded(by: team.publicKey, naming: former) }
        roster.version = version
        return .init(teamKey: team.publicKey, roster: try SignedRoster(signing: roster, with: team))
    }

    /// Stores a memory in each directory while the other one cannot be seen.
    private func stage(home: RosterMemory.Contents, state: RosterMemory.Contents) throws {
        try sandbox.roster(.home).store(home)
        try sandbox.withoutSeeing("groups/Rosters") { try sandbox.roster(.state).store(state) }
    }

    private func refusal(_ choice: MemoryChoice) throws -> VaultError.Code? {
        let memory = try sandbox.roster(choice)
        return code { () throws(VaultError) in _ = try memory.load() }
    }

    private func advice(_ choice: MemoryChoice) throws -> String? {
        let memory = try sandbox.roster(choice)
        return KeyVaultTests.advice { () throws(VaultError) in _ = try memory.load() }
    }

    private static let acceptance = "sealctl roster verify --accept"

    @Test func aTeamKeyIsKnownFromTheOtherDirectory() throws {
        for (first, second) in [(MemoryChoice.home, MemoryChoice.state), (.state, .home)] {
            let other = try MemorySandbox()
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
        try sandbox.roster(.home).store(.init(teamKey: one, roster: nil))
        try sandbox.withoutSeeing("groups/Rosters") {
            try sandbox.roster(.state).store(.init(teamKey: other, roster: nil))
        }
        for choice in MemoryChoice.allCases {
            let memory = try sandbox.roster(choice)
            #expect(code { () throws(VaultError) in _ = try memory.load() } == .corrupt)
            try expectAcceptance(Self.acceptance, in: advice(choice))
        }
        // The damaged file is named, in either directory.
        let damaged = sandbox.directory.path("state/sealed-groups/Rosters/\(sandbox.group.identifier).roster")
        let good = try SystemFile.read(damaged)
        try SystemFile.write(damaged, [1])
        let memory = try sandbox.roster(.home)
        do throws(VaultError) {
            _ = try memory.load()
            Issue.record("a damaged memory was read")
        } catch {
            #expect(error.details.subject.hasSuffix(damaged))
        }
        try expectAcceptance(Self.acceptance, in: advice(.home))
        try SystemFile.write(damaged, good)
        try sandbox.roster(.home).accept(.init(teamKey: other, roster: nil), naming: other)
        for choice in MemoryChoice.allCases { #expect(try sandbox.roster(choice).load()?.teamKey == other) }
    }

    @Test func aRosterOfTheOtherDirectoryIsStoredInTheWrittenOne() throws {
        let contents = RosterMemory.Contents(teamKey: try TeamKey.random().publicKey, roster: nil)
        try sandbox.roster(.home).store(contents)
        try sandbox.roster(.state).keep(contents)
        try sandbox.withoutSeeing("groups/Rosters") {
            let stored = try sandbox.roster(.state).load()
            #expect(stored == contents)
        }
    }

    /// They are two rosters, or two of one version.
    @Test(arguments: [(UInt8(8), UInt64(1)), (7, 2)])
    func differentRostersOfOneTeamAreRefusedUntilOneIsAccepted(id: UInt8, signedAt: UInt64) throws {
        let (one, other) = (try roster(5), try roster(5, id: id, signedAt: signedAt))
        try stage(home: one, state: other)
        for choice in MemoryChoice.allCases {
            #expect(try refusal(choice) == .corrupt)
            try expectAcceptance(Self.acceptance, in: advice(choice))
        }
        try sandbox.roster(.home).accept(other, naming: team.publicKey)
        for choice in MemoryChoice.allCases { #expect(try sandbox.roster(choice).load() == other) }
    }

    /// A member has put an older roster of the accepted team in place.
    @Test func anAcceptanceGoesOnWithTheNewestRemembered() throws {
        let other = try TeamKey.random()
        let newest = try roster(9, by: other)
        try stage(home: try roster(5, id: 8), state: newest)
        try sandbox.roster(.home).accept(try roster(3, by: other), naming: other.publicKey)
        for choice in MemoryChoice.allCases { #expect(try sandbox.roster(choice).load() == newest) }
    }

    @Test func anAcceptanceRefusesAKeyThatEitherDirectoryKnowsAsEnded() throws {
        let next = try TeamKey.random()
        let current = try roster(9, by: next, succeeding: team)
        let stolen = try roster(100)
        try stage(home: stolen, state: current)
        for choice in MemoryChoice.allCases {
            #expect(try refusal(choice) == .corrupt)
            let (memory, key) = (try sandbox.roster(choice), team.publicKey)
            #expect(code { () throws(VaultError) in try memory.accept(stolen, naming: key) } == .wrongTeamKey)
            #expect(try refusal(choice) == .corrupt)
        }
        try sandbox.roster(.home).accept(current, naming: next.publicKey)
        for choice in MemoryChoice.allCases { #expect(try sandbox.roster(choice).load() == current) }
    }

    @Test(.enabled(if: ReadOnlyMount.isPossible)) func aFormerMemoryThatRemainsIsNamed() throws {
        let other = try roster(5, by: try TeamKey.random())
        try stage(home: try roster(5, id: 8), state: other)
        let mount = try ReadOnlyMount(sandbox.path(.home, "Rosters"))
        defer { withExtendedLifetime(mount) {} }
        let (memory, key) = (try sandbox.roster(.state), other.teamKey)
        #expect(code { () throws(VaultError) in try memory.accept(other, naming: key) } == .denied)
        expectAcceptance(
            Self.acceptance,
            in: KeyVaultTests.advice { () throws(VaultError) in try memory.accept(other, naming: key) })
    }

    /// The home is the state directory, by its path or by a link.
    @Test(arguments: [false, true]) func oneDirectoryIsNoOtherOne(isLinked: Bool) throws {
        let contents = try roster(5)
        let state = sandbox.directory.path("state/sealed-groups")
        try sandbox.directory.directory("state/sealed-groups")
        if isLinked { try sandbox.directory.link("linked", to: state) }
        let home = {
            try GroupsHome(
                environment: [
                    "SEALED_GROUPS_HOME": isLinked ? sandbox.directory.path("linked") : state,
                    "XDG_STATE_HOME": sandbox.directory.path("state"), "HOME": sandbox.directory.path("h"),
                ], accountHome: { nil })
        }
        try RosterMemory(of: sandbox.group, in: try home()).store(try roster(3))
        try RosterMemory(of: sandbox.group, in: try home()).overwrite(contents)
        #expect(try RosterMemory(of: sandbox.group, in: try home()).load() == contents)
    }

    /// The memory of the written directory is another team's, and the accepted key has a roster in the other one.
    @Test func anAcceptedKeyGoesOnWithTheRosterOfItsTeam() throws {
        let newest = try roster(9)
        let key = team.publicKey
        try stage(home: .init(teamKey: try TeamKey.random().publicKey, roster: nil), state: newest)
        try sandbox.roster(.home).accept(.init(teamKey: key, roster: nil), naming: key)
        for choice in MemoryChoice.allCases { #expect(try sandbox.roster(choice).load() == newest) }
    }

    @Test func anOlderRosterDoesNotDecideBetweenTwoContentsOfAVersion() throws {
        try stage(home: try roster(5), state: try roster(5, signedAt: 2))
        let (memory, key) = (try sandbox.roster(.home), team.publicKey)
        for undecided in [try roster(3), try roster(5, signedAt: 3)] {
            #expect(code { () throws(VaultError) in try memory.accept(undecided, naming: key) } == .corrupt)
        }
        #expect(try refusal(.home) == .corrupt)
        let newer = try roster(6)
        try memory.accept(newer, naming: key)
        for choice in MemoryChoice.allCases { #expect(try sandbox.roster(choice).load() == newer) }
    }

    // MARK: Running programs

    private func container(_ choice: MemoryChoice) throws -> GroupContainer {
        try GroupContainer.open(sandbox.group, in: try sandbox.home(choice))
    }

    private func running(_ choice: MemoryChoice) throws -> RosterAuthority {
        let (root, home) = (try container(choice).root, try sandbox.home(choice))
        return try #require(try RosterAuthority.find(sandbox.group, in: root, home: home, teamKey: nil))
    }

    private func put(_ contents: RosterMemory.Contents, in directory: Directory) throws {
        let bytes = try #require(contents.roster).bytes
        try directory.replace(ContainerLayout.roster, with: bytes, mode: 0o600, durability: .unsynced)
    }

    @Test func aRosterThatAPersonTookOutIsNotPutBack() throws {
        try sandbox.directory.directory("groups/Places")
        let contents = try roster(5)
        try sandbox.roster(.state).store(contents)
        let root = try container(.state).root
        try put(contents, in: root)
        let running = try running(.state)
        running.look()
        let leaf = "\(sandbox.group.identifier).roster"
        #expect(unlink("\(sandbox.path(.state, "Rosters"))/\(leaf)") == 0)
        for _ in 1...2 {
            running.look()
            // The same roster is written again.
            try put(contents, in: root)
            running.look()
        }
        try sandbox.roster(.state).keep(contents)
        for choice in MemoryChoice.allCases {
            #expect(!SystemFile.exists("\(sandbox.path(choice, "Rosters"))/\(leaf)"))
        }
        #expect(running.current().roster == contents.roster)
    }

    /// The memory of the other directory is not removed with it.
    @Test func theOlderMemoryOfTheOtherDirectoryTakesItsPlace() throws {
        let (older, contents) = (try roster(3), try roster(5))
        try stage(home: older, state: contents)
        try put(contents, in: try container(.state).root)
        let running = try running(.state)
        #expect(unlink("\(sandbox.path(.state, "Rosters"))/\(sandbox.group.identifier).roster") == 0)
        running.look()
        try sandbox.withoutSeeing("groups/Rosters") {
            let own = try sandbox.roster(.state).load()
            #expect(own == older)
        }
        #expect(running.current().roster == contents.roster)
    }

    /// Returns a running program whose disk was full when it accepted the second roster.
    private func runningOnAFullDisk(
        _ disk: SmallFileSystem, _ first: RosterMemory.Contents, _ second: RosterMemory.Contents
    ) throws -> RosterAuthority {
        try sandbox.roster(.state).store(first)
        let root = try container(.state).root
        try put(first, in: root)
        let running = try running(.state)
        running.look()
        try disk.fillBytes()
        try put(second, in: root)
        #expect(running.look())
        #expect(running.current().notRemembered != nil)
        return running
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aRosterThatAPersonTookOutBeforeItWasStoredIsNotPutBack() throws {
        let disk = try SmallFileSystem(at: sandbox.directory.path("state"))
        defer { withExtendedLifetime(disk) {} }
        let second = try roster(5)
        let running = try runningOnAFullDisk(disk, try roster(3), second)
        let file = "\(sandbox.path(.state, "Rosters"))/\(sandbox.group.identifier).roster"
        #expect(unlink(file) == 0)
        #expect(unlink("\(disk.path)/fill") == 0)
        for _ in 1...2 {
            running.look()
            #expect(!SystemFile.exists(file))
        }
        #expect(running.current().roster == second.roster && running.current().notRemembered == nil)
    }

    /// A memory that cannot be read was not taken out.
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aRosterIsStoredAfterItsMemoryCouldNotBeRead() throws {
        let disk = try SmallFileSystem(at: sandbox.directory.path("state"))
        defer { withExtendedLifetime(disk) {} }
        let second = try roster(5)
        let running = try runningOnAFullDisk(disk, try roster(3), second)
        #expect(unlink("\(disk.path)/fill") == 0)
        let rosters = sandbox.path(.state, "Rosters")
        #expect(chmod(rosters, 0o777) == 0)
        running.look()
        #expect(running.current().notRemembered != nil)
        #expect(chmod(rosters, 0o700) == 0)
        running.look()
        #expect(running.current().notRemembered == nil)
        #expect(try sandbox.roster(.state).load() == second)
    }

    /// The other directory's roster is kept at a later look.
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aRosterThatCouldNotBeKeptIsKeptLater() throws {
        let contents = try roster(5)
        try sandbox.roster(.home).store(contents)
        try put(contents, in: try container(.home).root)
        let disk = try SmallFileSystem(at: sandbox.directory.path("state"))
        defer { withExtendedLifetime(disk) {} }
        try disk.fillBytes()
        #expect(try sandbox.roster(.state).keep(contents) != nil)
        let running = try running(.state)
        #expect(running.current().notRemembered != nil)
        #expect(unlink("\(disk.path)/fill") == 0)
        running.look()
        #expect(running.current().notRemembered == nil)
        try sandbox.withoutSeeing("groups/Rosters") {
            let own = try sandbox.roster(.state).load()
            #expect(own == contents)
        }
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aRosterThatAFullDiskDroppedIsStoredLater() throws {
        let disk = try SmallFileSystem(at: sandbox.directory.path("state"))
        defer { withExtendedLifetime(disk) {} }
        let (first, second) = (try roster(3), try roster(5))
        try sandbox.roster(.state).store(first)
        let root = try container(.state).root
        try put(first, in: root)
        let running = try running(.state)
        try disk.fillBytes()
        try put(second, in: root)
        #expect(running.look())
        #expect(running.current().roster == second.roster && running.current().notRemembered != nil)
        #expect(try sandbox.roster(.state).load() == first)
        // The program goes on with its roster when its container moves, and an older one is in the new place.
        let elsewhere = try Directory.open(try sandbox.directory.directory("elsewhere"))
        try put(first, in: elsewhere)
        let moved = running.moved(to: elsewhere)
        #expect(moved.current().roster == second.roster)
        #expect(unlink("\(disk.path)/fill") == 0)
        for authority in [running, moved] {
            authority.look()
            #expect(authority.current().notRemembered == nil)
            #expect(try sandbox.roster(.state).load() == second)
        }
    }
}
