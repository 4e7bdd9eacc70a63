import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of one store with several unix users: `ada` makes it for the team, `bob` is in the team, `eve` is not.
@Suite(.enabled(if: UnixUser.canBecome, "needs root and setpriv"), .timeLimit(.minutes(10)))
struct SharingTests {
    static let masks = [("077", "077"), ("000", "000"), ("077", "000"), ("027", "022")]

    let place: TemporaryDirectory
    private let group = "group.com.example.shared"

    private var home: String { place.path("home") }
    private var container: String { place.path("home/Containers/\(group)") }
    private var records: String { container + "/Library/Application Support/Records" }
    private func file(_ name: String) -> String { "\(records)/\(name).sealed" }

    /// Creates the store as ada, under the narrowest umask. Bob has the vault's key file as well, and a directory of
    /// his own.
    init() throws {
        place = try TemporaryDirectory()
        #expect(chmod(place.path, 0o755) == 0)
        for user in [UnixUser.ada, .bob, .eve] {
            try place.directory("\(user.uid)")
            #expect(chown(place.path("\(user.uid)"), user.uid, user.gid) == 0)
        }
        try place.directory("home", mode: 0o2770)
        #expect(chown(home, 0, UnixUser.team) == 0)
        #expect(chmod(home, 0o2770) == 0)
        #expect(try run(.ada, "store-share", "\(UnixUser.team)", umask: "077") == "made")
        try giveKeyFile(to: .bob)
        try giveKeyFile(to: .eve)
    }

    private func giveKeyFile(to user: UnixUser) throws {
        let key = try SystemFile.read(place.path("\(UnixUser.ada.uid)/Keys/\(group).key"))
        try place.directory("\(user.uid)/Keys")
        try SystemFile.write(place.path("\(user.uid)/Keys/\(group).key"), key)
        for path in ["\(user.uid)/Keys", "\(user.uid)/Keys/\(group).key"] {
            #expect(chown(place.path(path), user.uid, user.gid) == 0)
        }
    }

    private func words(_ command: String, _ arguments: [String]) -> [String] { [command, home, group] + arguments }

    private func variables(_ user: UnixUser) -> [String: String] {
        ["SEALED_USER_HOME": place.path("\(user.uid)")]
    }

    private func run(
        _ user: UnixUser, _ command: String, _ arguments: String..., umask: String = "077"
    ) throws -> String {
        try user.run("sealed-probe", words(command, arguments), environment: variables(user), umask: umask)
            .outputText.trimmingNewlines
    }

    private func status(_ path: String) throws -> stat {
        var status = stat()
        try #require(lstat(path, &status) == 0, "\(path)")
        return status
    }

    /// Expects that everything below the home, lock files and log included, is open to the team and to no other user.
    private func expectEverythingShared() throws {
        let own: Set<String> = [".locked", ".reserve.", ".sealedstate.reserve."]
        for path in try tree(home) where !own.contains(where: { path.contains("/" + $0) }) {
            let status = try status(path)
            let isDirectory = status.st_mode & S_IFMT == S_IFDIR
            #expect(status.st_gid == UnixUser.team, "\(path)")
            #expect(status.st_mode & 0o0777 == (isDirectory ? 0o770 : 0o660), "\(path)")
            #expect((status.st_mode & 0o2000 != 0) == isDirectory, "\(path)")
        }
    }

    private func tree(_ top: String) throws -> [String] {
        try SystemFile.names(top).flatMap { name -> [String] in
            let path = "\(top)/\(name)"
            return [path] + ((try? tree(path)) ?? [])
        }
    }

    // MARK: Reading and writing

    @Test(arguments: masks) func eachReadsWhatTheOtherWroteRegardlessOfTheUmask(_ ada: String, _ bob: String) throws {
        #expect(try run(.ada, "store-write", "1", "10", "durable", umask: ada) == "written 1")
        #expect(try run(.bob, "store-read", umask: bob) == "1 10 1")
        #expect(try run(.bob, "store-write", "2", "20", "durable", umask: bob) == "written 2")
        #expect(try run(.ada, "store-read", umask: ada) == "2 20 2")
        #expect(try run(.ada, "store-write", "3", "30", "unsynced", umask: ada) == "written 3")
        #expect(try run(.bob, "store-read", umask: bob) == "3 30 3")
        #expect(try status(file("probe")).st_uid == UnixUser.ada.uid)
        try expectEverythingShared()
    }

    @Test(arguments: masks) func directoriesOfRecordsAreOpenToBoth(_ ada: String, _ bob: String) throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable", "a/b/c", umask: ada) == "written 1")
        #expect(try run(.bob, "store-write", "2", "1", "durable", "a/b/d", umask: bob) == "written 1")
        #expect(try run(.bob, "store-write", "3", "1", "durable", "a/b/c", umask: bob) == "written 2")
        #expect(try run(.ada, "store-read", "a/b/d", umask: ada) == "2 1 1")
        #expect(try run(.ada, "store-list") == "a/b/c\na/b/d")
        try expectEverythingShared()
    }

    @Test func neitherLosesAnUpdateOfTheOther() throws {
        let children = try (0..<6).map { number in
            let user = number % 2 == 0 ? UnixUser.ada : .bob
            return try user.start(
                "sealed-probe", words("store-increment", ["25"]), environment: variables(user), umask: "077")
        }
        for child in children { #expect(try child.finish().outputText == "done\n") }
        #expect(try run(.bob, "store-read").hasPrefix("150 "))
        try expectEverythingShared()
    }

    @Test func aBlobIsTheTeamsAlsoInADirectoryThatIsNot() throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        #expect(mkdir(records + "/plain", 0o755) == 0)
        #expect(chown(records + "/plain", UnixUser.ada.uid, UnixUser.ada.gid) == 0)
        #expect(chmod(records + "/plain", 0o755) == 0)
        #expect(try run(.ada, "store-write", "1", "1", "durable", "plain/x") == "written 1")
        #expect(try status(file("plain/x")).st_gid == UnixUser.team)
        #expect(try status(file("plain/x")).st_mode & 0o777 == 0o660)
        #expect(try run(.bob, "store-read", "plain/x") == "1 1 1")
    }

    @Test func refusedFilesAreSetAsideForBoth() throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        #expect(try run(.bob, "store-read") == "1 1 1")
        try plantAsBob("/bin/sh", "-c", #"printf x > "$0""#, file("probe"))
        #expect(try run(.bob, "store-read") == "malformed")
        #expect(try run(.bob, "store-write", "2", "1", "durable").hasPrefix("written"))
        #expect(try SystemFile.names(container + "/Quarantine").filter { $0.hasSuffix(".sealed") }.count == 1)
        #expect(try run(.ada, "store-read").hasPrefix("2 1 "))
        try expectEverythingShared()
    }

    /// A Boolean value: the system denies a second name for another user's file without write access.
    static let linksAreProtected = (try? SystemFile.read("/proc/sys/fs/protected_hardlinks")) == Array("1\n".utf8)

    @Test(.enabled(if: linksAreProtected, "needs fs.protected_hardlinks")) func unlinkableFilesAreCopied() throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        try plantAsBob("/bin/sh", "-c", #"rm -f "$0"; printf x > "$0"; chmod 640 "$0""#, file("probe"))
        #expect(try run(.ada, "store-write", "2", "1", "durable").hasPrefix("written"))
        #expect(try SystemFile.names(container + "/Quarantine").filter { $0.hasSuffix(".sealed") }.count == 1)
        #expect(try run(.bob, "store-read").hasPrefix("2 1 "))
        try expectEverythingShared()
    }

    // MARK: Users outside the team

    @Test func aThirdUserGetsNothing() throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        for command in [["store-read"], ["store-list"], ["store-write", "2", "1", "durable"]] {
            let result = try UnixUser.eve.run(
                "sealed-probe", words(command[0], Array(command.dropFirst())), environment: variables(.eve))
            #expect(result.exitCode == 1)
            #expect(result.outputText == "container\n")
        }
        for path in ["Containers", "Vaults", "Vaults/\(group)/vault"] {
            #expect(try UnixUser.eve.run("/bin/ls", [place.path("home/\(path)")]).exitCode != 0)
        }
        #expect(try run(.bob, "store-read") == "1 1 1")
    }

    /// Root may read everything, but is not a member: files that members can change are not trusted.
    @Test func aProcessOutsideTheTeamTrustsNothingThatTheTeamCanChange() throws {
        let result = try ChildProcess.run(
            "sealed-probe", words("store-read", []), environment: variables(.ada))
        #expect(result.outputText == "container\n")
    }

    // MARK: Files of one user

    @Test func withoutADirectoryOfTheirOwnASecondUserHasNoKey() throws {
        let shared = try UnixUser.ada.run(
            "sealed-probe", words("store-read", []), environment: ["SEALED_USER_HOME": ""])
        #expect(shared.exitCode == 1)
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        #expect(try run(.bob, "store-read") == "1 1 1")
        #expect(try run(.bob, "store-condition") == "intact")
        for user in [UnixUser.ada, .bob] {
            #expect(try status(place.path("\(user.uid)/Watermarks")).st_mode & 0o777 == 0o700)
        }
    }

    // MARK: Planted objects

    private func plantAsBob(_ command: String, _ arguments: String...) throws {
        #expect(try UnixUser.bob.run(command, arguments).exitCode == 0)
    }

    @Test func aLinkInARecordsPlaceIsReplacedAndNotFollowed() throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        let precious = place.path("\(UnixUser.ada.uid)/precious")
        try SystemFile.write(precious, Array("precious".utf8))
        #expect(chown(precious, UnixUser.ada.uid, UnixUser.ada.gid) == 0)
        try plantAsBob("/bin/ln", "-sf", precious, file("probe"))
        #expect(try run(.ada, "store-read") == "malformed")
        #expect(try run(.ada, "store-write", "2", "1", "durable").hasPrefix("written"))
        #expect(try run(.bob, "store-read").hasPrefix("2 1 "))
        #expect(try SystemFile.read(precious) == Array("precious".utf8))
        #expect(try status(precious).st_mode & 0o777 == 0o600)
        try expectEverythingShared()
    }

    @Test func linksUnderTheNamesOfTemporaryFilesAndDirectoriesAreNotFollowed() throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        let outside = place.path("\(UnixUser.ada.uid)")
        try plantAsBob("/bin/ln", "-s", outside + "/new", records + "/.probe.sealed.new")
        #expect(try run(.ada, "store-write", "2", "1", "durable") == "written 2")
        try plantAsBob("/bin/ln", "-s", outside, records + "/folder")
        #expect(try run(.ada, "store-write", "3", "1", "durable", "folder/x") == "container")
        #expect(Set(try SystemFile.names(outside)) == ["Keys", "Places", "Watermarks"])
        #expect(try SystemFile.names(records).sorted() == ["folder", "probe.sealed"])
    }

    @Test func aLinkInTheLockFilesPlaceIsRefused() throws {
        #expect(try run(.ada, "store-write", "1", "1", "durable") == "written 1")
        try plantAsBob("/bin/ln", "-sf", place.path("\(UnixUser.ada.uid)/new"), container + "/.sealedstate.lock")
        #expect(try run(.ada, "store-write", "2", "1", "durable") == "container")
        #expect(Set(try SystemFile.names(place.path("\(UnixUser.ada.uid)"))) == ["Keys", "Places", "Watermarks"])
        #expect(try run(.ada, "store-read") == "1 1 1")
    }
}
