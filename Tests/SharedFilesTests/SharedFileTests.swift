import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of files in a directory that `ada` and `bob` share.
@Suite(.enabled(if: UnixUser.canBecome, "needs root and setpriv"), .timeLimit(.minutes(10)))
struct SharedFileTests {
    let place: TemporaryDirectory
    let shared: Directory

    init() throws {
        place = try TemporaryDirectory()
        #expect(chmod(place.path, 0o755) == 0)
        shared = try Directory.create(place.path("x"), sharing: .unixGroup(UnixUser.team))
        #expect(chown(place.path("x"), UnixUser.ada.uid, UnixUser.team) == 0)
    }

    private func probe(_ words: String..., as user: UnixUser, umask: String = "022") throws -> String {
        try user.run("sealed-probe", words, umask: umask).outputText
    }

    private func expectShared(_ name: String) throws {
        let facts = try shared.attributes(name)
        #expect(facts.mode == 0o660)
        #expect(facts.gid == UnixUser.team)
    }

    // MARK: The lock file

    @Test(arguments: ["000", "027", "077"]) func everyMemberCanTakeTheLockRegardlessOfTheUmask(_ umask: String) throws {
        #expect(try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .ada, umask: umask) == "held\n")
        try expectShared("l")
        #expect(try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .bob, umask: umask) == "held\n")
        #expect(try probe("lock", place.path("x"), "l", "whole", "shared", "0", as: .bob, umask: umask) == "held\n")
        let answer = try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .eve)
        #expect(answer == "permissionDenied\n")
    }

    @Test func membersWhoMakeTheLockFileAtOnceExcludeEachOther() throws {
        for round in 0..<8 {
            let children = try (0..<10).map { number in
                try (number % 2 == 0 ? UnixUser.ada : .bob).start(
                    "sealed-probe", ["lock", place.path("x"), "l\(round)", "whole", "exclusive", "20000"], umask: "077")
            }
            for child in children { child.closeInput() }
            for child in children { #expect(try child.finish().outputText == "held\n") }
            try expectShared("l\(round)")
        }
        #expect(try SystemFile.names(place.path("x")).count == 8)
    }

    @Test func aLockFileThatItsOwnerNarrowedIsOpenedAgainByTheOwner() throws {
        #expect(try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .ada) == "held\n")
        #expect(chmod(place.path("x/l"), 0o600) == 0)
        let answer = try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .bob)
        #expect(answer == "permissionDenied\n")
        #expect(try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .ada) == "held\n")
        #expect(try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .bob) == "held\n")
    }

    /// Another user's lock file is used only in a shared directory, and only with its unix group.
    @Test(arguments: [(0o2770, 4700, true), (0o2770, 4790, false), (0o770, 4700, false)] as [(UInt32, UInt32, Bool)])
    func anotherUsersLockFileIsUsedWhereItIsTheGroups(_ mode: UInt32, _ group: UInt32, _ isUsed: Bool) throws {
        try place.file("x/l", "", mode: 0o666)
        #expect(chown(place.path("x/l"), UnixUser.eve.uid, group) == 0)
        #expect(chmod(place.path("x"), mode) == 0)
        let answer = try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .bob)
        #expect(answer == (isUsed ? "held\n" : "wrongOwner\n"))
    }

    @Test func aLockFileWithASecondNameIsRefusedAlsoWhereItIsAMembers() throws {
        try place.file("x/l", "", mode: 0o660)
        #expect(chown(place.path("x/l"), UnixUser.ada.uid, UnixUser.team) == 0)
        #expect(link(place.path("x/l"), place.path("x/second")) == 0)
        #expect(try probe("lock", place.path("x"), "l", "whole", "exclusive", "0", as: .bob) == "secondName\n")
    }

    // MARK: Files

    @Test(arguments: ["000", "077"]) func everyMemberCanAppendRegardlessOfTheUmask(_ umask: String) throws {
        #expect(try probe("append", place.path("x"), "log", "a", as: .ada, umask: umask) == "appended\n")
        try expectShared("log")
        #expect(try probe("append", place.path("x"), "log", "b", as: .bob, umask: umask) == "appended\n")
        #expect(try shared.read("log", limit: 100) == bytes("ab"))
        #expect(try probe("append", place.path("x"), "log", "c", as: .eve) == "permissionDenied\n")
    }

    @Test func membersWhoMakeAFileAtOnceAllAppendToIt() throws {
        let children = try (0..<20).map { number in
            try (number % 2 == 0 ? UnixUser.ada : .bob).start(
                "sealed-probe", ["append", place.path("x"), "log", "."], umask: "077")
        }
        for child in children { #expect(try child.finish().outputText == "appended\n") }
        #expect(try shared.read("log", limit: 100).count == 20)
        #expect(try SystemFile.names(place.path("x")) == ["log"])
    }

    @Test(arguments: strategies)
    func aFileGetsItsUnixGroupRegardlessOfTheDirectory(_ strategy: TemporaryStrategy) throws {
        try place.directory("x/plain", mode: 0o755)
        try shared.replace(
            "plain/f", with: bytes("x"), mode: 0o660, group: UnixUser.team, durability: .unsynced, strategy: strategy)
        try expectShared("plain/f")
        #expect(try SystemFile.names(place.path("x/plain")) == ["f"])
    }

    @Test(arguments: ["f", "sub/f"]) func aLinkPlantedInTheNewFilesPlaceIsNotFollowed(_ name: String) throws {
        try place.directory("outside", mode: 0o777)
        try place.directory("x/sub", mode: 0o777)
        try place.link("x/" + name, to: place.path("outside/new"))
        #expect(try probe("append", place.path("x"), name, "a", as: .ada) == "unsafePath\n")
        #expect(try SystemFile.names(place.path("outside")) == [])
    }
}
