import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of trust in a directory that several users write: `team` is the unix group that they share.
@Suite(.enabled(if: UnixUser.canBecome, "needs root and setpriv"), .timeLimit(.minutes(10)))
struct SharedTrustTests {
    let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
        #expect(chmod(place.path, 0o755) == 0)
    }

    /// Makes a directory with an owner, a unix group and a mode.
    private func make(_ path: String, _ owner: UInt32, _ group: UInt32, _ mode: UInt32) throws {
        try place.directory(path)
        #expect(chown(place.path(path), owner, group) == 0)
        #expect(chmod(place.path(path), mode) == 0)
    }

    private func trust(_ path: String, as user: UnixUser) throws -> String {
        try user.run("sealed-probe", ["trust", place.path(path)]).outputText.split(separator: "\n").joined()
    }

    private static let team = UnixUser.team
    private static let ada = UnixUser.ada.uid

    // MARK: The directory itself

    @Test func membersTrustWhatAnotherMemberShares() throws {
        try make("x", Self.ada, Self.team, 0o2770)
        #expect(try trust("x", as: .ada) == "4700")
        #expect(try trust("x", as: .bob) == "4700")
        #expect(try trust("x", as: .eve) == "permissionDenied")
        #expect(try trust("x", as: UnixUser(uid: 4704, gid: Self.team)) == "4700")
    }

    /// A process with access but without the group, such as root.
    @Test func aNonmemberTrustsNothingOfAnotherUser() throws {
        try make("x", Self.ada, Self.team, 0o2770)
        let directory = try Directory.open(place.path("x"))
        #expect(fileError { try directory.requireTrusted() }?.code == .wrongOwner)
    }

    @Test(arguments: [0o700, 0o755, 0o2755, 0o770, 0o2750, 0o2775, 0o2777, 0o3777] as [UInt32])
    func membershipAloneTrustsNothing(_ mode: UInt32) throws {
        try make("x", Self.ada, Self.team, mode)
        let refusals = ["wrongOwner", "permissionDenied"]
        #expect(try refusals.contains(trust("x", as: .bob)))
    }

    @Test func theOwnerAndRootChoseTheGroupWhetherOrNotTheyAreInIt() throws {
        try make("x", UnixUser.eve.uid, Self.team, 0o2770)
        #expect(try trust("x", as: .eve) == "4700")
        try make("y", 0, Self.team, 0o2770)
        #expect(try trust("y", as: .bob) == "4700")
        #expect(try Directory.open(place.path("y")).requireTrusted() == .unixGroup(Self.team))
    }

    @Test(arguments: [0o770, 0o2775, 0o2777, 0o702] as [UInt32])
    func ownDirectoriesThatAreOpenWithoutBeingSharedAreRefused(_ mode: UInt32) throws {
        try make("x", Self.ada, Self.team, mode)
        #expect(try trust("x", as: .ada) == "unsafeMode")
    }

    // MARK: Directories above

    @Test func sharedDirectoriesBelowSharedDirectoriesAreTrusted() throws {
        try make("home", Self.ada, Self.team, 0o2770)
        try make("home/Vaults", UnixUser.bob.uid, Self.team, 0o3770)
        try make("home/Vaults/x", Self.ada, Self.team, 0o2770)
        #expect(try trust("home/Vaults/x", as: .bob) == "4700")
        #expect(try trust("home/Vaults/x", as: .ada) == "4700")
    }

    @Test(arguments: [0o711, 0o2755, 0o775, 0o2771, 0o2775] as [UInt32])
    func anAncestorOfAnotherUserThatIsNotSharedIsRefused(_ mode: UInt32) throws {
        try make("home", Self.ada, Self.team, mode)
        try make("home/x", UnixUser.bob.uid, Self.team, 0o2770)
        #expect(try trust("home/x", as: .bob) == "wrongOwner")
    }

    /// Another user could take the name first: the sticky bit only protects existing names.
    @Test(arguments: [(0o1777, "unsafeMode"), (0o777, "unsafeMode"), (0o755, "4700")] as [(UInt32, String)])
    func anotherUsersDirectoryInAWorldWritableOneIsRefused(_ mode: UInt32, _ answer: String) throws {
        try make("tmp", 0, 0, mode)
        try make("tmp/x", Self.ada, Self.team, 0o2770)
        #expect(try trust("tmp/x", as: .bob) == answer)
        try make("tmp/x/y", UnixUser.bob.uid, Self.team, 0o2770)
        #expect(try trust("tmp/x/y", as: .bob) == answer)
    }

    @Test func ownAndRootsSharedDirectoriesMayBeInWorldWritableOnes() throws {
        try make("tmp", 0, 0, 0o1777)
        try make("tmp/x", Self.ada, Self.team, 0o2770)
        #expect(try trust("tmp/x", as: .ada) == "4700")
        try make("tmp/y", 0, Self.team, 0o2770)
        #expect(try trust("tmp/y", as: .bob) == "4700")
    }

    @Test(arguments: [(UnixUser.team, "4700"), (4790, "unsafeMode")] as [(UInt32, String)])
    func anotherUsersDirectoryWhereAnotherGroupCanMakeOneIsRefused(_ group: UInt32, _ answer: String) throws {
        try make("srv", 0, group, 0o775)
        try make("srv/x", Self.ada, Self.team, 0o2770)
        #expect(try trust("srv/x", as: .bob) == answer)
        // Sharing that directory with the other group changes nothing: its members are not the team's.
        #expect(chmod(place.path("srv"), 0o2770) == 0)
        #expect(try trust("srv/x", as: .bob) == answer)
    }

    @Test func theAdviceMakesTheWayUpSafe() throws {
        try make("tmp", 0, 4790, 0o1777)
        try make("tmp/x", Self.ada, 0, 0o2770)
        let directory = try Directory.open(place.path("tmp/x"))
        for _ in 0..<2 {
            let error = fileError { try directory.requireTrusted() }
            #expect(error?.code == .unsafeMode)
            #expect(error?.path == place.path("tmp"))
            let command = String((error?.advice ?? "").split(separator: ": ", maxSplits: 1).last ?? "")
            #expect(try ChildProcess.run("/bin/sh", ["-c", command]).exitCode == 0)
        }
        #expect(try directory.requireTrusted() == .unixGroup(0))
    }

    // MARK: Directories of one user

    @Test func aDirectoryOfOneUserIsNeverShared() throws {
        try make("top", 0, Self.team, 0o1777)
        #expect(try UnixUser.ada.run("sealed-probe", ["own", place.path("top/Keys")]).outputText == "own\n")
        #expect(try SystemFile.mode(place.path("top/Keys")) == 0o700)
        #expect(try UnixUser.ada.run("sealed-probe", ["own", place.path("top/Keys")]).outputText == "own\n")
        for user in [UnixUser.bob, .eve] {
            #expect(try user.run("sealed-probe", ["own", place.path("top/Keys")]).outputText == "wrongOwner\n")
        }
        #expect(chmod(place.path("top/Keys"), 0o2770) == 0)
        #expect(chown(place.path("top/Keys"), Self.ada, Self.team) == 0)
        #expect(try UnixUser.bob.run("sealed-probe", ["own", place.path("top/Keys")]).outputText == "wrongOwner\n")
    }

    @Test func aDirectoryOfOneUserThatIsOpenToTheGroupIsRefused() throws {
        try make("Keys", Self.ada, Self.team, 0o2770)
        #expect(chown(place.path, Self.ada, Self.team) == 0)
        #expect(try UnixUser.ada.run("sealed-probe", ["own", place.path("Keys")]).outputText == "unsafeMode\n")
    }
}
