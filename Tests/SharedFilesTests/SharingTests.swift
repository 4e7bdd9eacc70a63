import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of access to a directory, and of its creation for a unix group.
@Suite(.timeLimit(.minutes(10))) struct SharingTests {
    static let shapes: [(UInt32, Bool)] = [
        (0o2770, true), (0o3770, true), (0o6770, true),
        (0o700, false), (0o2700, false), (0o770, false), (0o2750, false), (0o2760, false), (0o2775, false),
        (0o2771, false), (0o2774, false), (0o2777, false),
    ]

    @Test(arguments: shapes) func aDirectorysModeSaysWhoMayUseIt(_ mode: UInt32, _ isShared: Bool) throws {
        let place = try TemporaryDirectory()
        let directory = try Directory.open(try place.directory("a", mode: mode))
        #expect(try directory.sharing == (isShared ? .unixGroup(getegid()) : .ownerOnly))
        #expect(directory.fileMode == (isShared ? 0o660 : 0o600))
    }

    @Test func aFileIsNeverShared() throws {
        let place = try TemporaryDirectory()
        try place.file("a", "", mode: 0o2770)
        #expect(try Directory.open(place.path).attributes("a").sharing == .ownerOnly)
    }

    @Test func aUnixGroupIsFoundByItsName() throws {
        #expect(try Sharing.unixGroup(named: "root") == .unixGroup(0))
        #expect(fileError { _ = try Sharing.unixGroup(named: "no such group") }?.code == .notFound)
    }

    @Test func forOneUserEverythingMissingIsMadeForTheOwnerAlone() throws {
        let place = try TemporaryDirectory()
        _ = try Directory.create(place.path("a/b/c/d"), sharing: .ownerOnly)
        for path in ["a", "a/b", "a/b/c", "a/b/c/d"] { #expect(try SystemFile.mode(place.path(path)) == 0o700) }
    }
}

/// Tests of creating directories for the team; `place` is the tests' own and lets all users through.
@Suite(.enabled(if: UnixUser.canBecome, "needs root and setpriv"), .timeLimit(.minutes(10)))
struct SharedDirectoryMakingTests {
    let place: TemporaryDirectory

    init() throws {
        place = try TemporaryDirectory()
        #expect(chmod(place.path, 0o755) == 0)
        try prepare(0, UnixUser.team, 0o2770)
    }

    /// Creates the parent directory of the tests.
    private func prepare(_ owner: UInt32, _ group: UInt32, _ mode: UInt32) throws {
        if !SystemFile.exists(place.path("top")) { try place.directory("top") }
        #expect(chown(place.path("top"), owner, group) == 0)
        #expect(chmod(place.path("top"), mode) == 0)
    }

    private func share(_ path: String, as user: UnixUser = .ada, umask: String = "022") throws -> String {
        let words = ["share", place.path(path), "\(UnixUser.team)"]
        return try user.run("sealed-probe", words, umask: umask).outputText
    }

    private func facts(_ path: String) throws -> FileAttributes { try Directory.open(place.path(path)).attributes(".") }

    @Test(arguments: ["000", "027", "077"])
    func aSharedDirectoryHasItsModeAndUnixGroupRegardlessOfTheUmask(_ umask: String) throws {
        #expect(try share("top/home/Vaults/x", umask: umask) == "made\n")
        #expect(try ["top/home", "top/home/Vaults"].map { try facts($0).mode } == [0o3770, 0o3770])
        #expect(try facts("top/home/Vaults/x").mode == 0o2770)
        for path in ["top/home", "top/home/Vaults", "top/home/Vaults/x"] {
            #expect(try facts(path).gid == UnixUser.team)
            #expect(try facts(path).sharing == .unixGroup(UnixUser.team))
        }
        #expect(try SystemFile.names(place.path("top/home/Vaults")) == ["x"])
    }

    @Test func nothingIsMadeFurtherUp() throws {
        #expect(try share("top/new/home/Vaults/x") == "notFound\n")
        #expect(try SystemFile.names(place.path("top")) == [])
    }

    @Test func existingDirectoriesKeepTheirMode() throws {
        try place.directory("top/home", mode: 0o751)
        try place.directory("top/home/x", mode: 0o751)
        #expect(chown(place.path("top/home/x"), UnixUser.ada.uid, UnixUser.ada.gid) == 0)
        #expect(try share("top/home/x") == "made\n")
        #expect(try facts("top/home/x").mode == 0o751)
        #expect(try facts("top/home").mode == 0o751)
    }

    /// Conditions that the other members would only notice later: they have no access, or don't trust the directory.
    @Test(
        arguments: [
            (0, 0, 0o700, "notShared", "made"), (0, 0, 0o711, "made", "made"),
            (0, UnixUser.team, 0o701, "notShared", "made"),
            (0, UnixUser.team, 0o710, "made", "made"), (UnixUser.ada.uid, UnixUser.team, 0o755, "notShared", "made"),
            (0, 0, 0o1777, "made", "unsafeMode"), (0, 4790, 0o771, "made", "unsafeMode"),
        ] as [(UInt32, UInt32, UInt32, String, String)])
    func nothingIsMadeWhereTheOthersCouldNotUseIt(
        _ owner: UInt32, _ group: UInt32, _ mode: UInt32, _ byRoot: String, _ byAda: String
    ) throws {
        try prepare(owner, group, mode)
        let top = try Directory.open(place.path("top"))
        let answer = Result { () throws(FileError) in try top.requireShareable(with: UnixUser.team) }
        switch answer {
        case .success: #expect(byRoot == "made")
        case .failure(let error):
            #expect(error.code.rawValue == byRoot)
            #expect(error.path == place.path("top"))
            if owner == 0 {
                let command = String(error.advice.split(separator: ": ", maxSplits: 1).last ?? "")
                #expect(try ChildProcess.run("/bin/sh", ["-c", command]).exitCode == 0)
            } else {
                // Only its owner or an administrator can change a directory's owner.
                #expect(!error.advice.contains("chown"))
                #expect(chown(place.path("top"), 0, group) == 0)
            }
            try top.requireShareable(with: UnixUser.team)
        }
        if byAda == "unsafeMode" {
            #expect(try share("top/x", as: UnixUser(uid: 4701, gid: 4701, groups: [4700, 4790])) == "unsafeMode\n")
        }
        #expect(try SystemFile.names(place.path("top")) == [])
    }

    /// Her new directory already inherits the unix group of its parent; the system silently denies her the set-group-ID
    /// bit.
    @Test func onlyMembersCanShareAndAFailureLeavesNothing() throws {
        try prepare(UnixUser.eve.uid, UnixUser.team, 0o2770)
        #expect(try share("top/x", as: .eve) == "permissionDenied\n")
        #expect(try SystemFile.names(place.path("top")) == [])
    }

    @Test func rootSharesWithAnyGroup() throws {
        let directory = try Directory.create(place.path("top/x"), sharing: .unixGroup(UnixUser.team))
        #expect(try directory.sharing == .unixGroup(UnixUser.team))
        #expect(try directory.requireTrusted() == .unixGroup(UnixUser.team))
    }

    @Test func theSegmentsBelowAreSharedAlike() throws {
        let top = try Directory.create(place.path("top/x"), sharing: .unixGroup(UnixUser.team))
        _ = try top.makeDirectory("a/b", sharing: .unixGroup(UnixUser.team))
        for path in ["top/x/a", "top/x/a/b"] { #expect(try facts(path).sharing == .unixGroup(UnixUser.team)) }
        #expect(try SystemFile.names(place.path("top/x")) == ["a"])
    }

    //  ada                                 bob
    //  make a closed directory             make a closed directory
    //  open it to the team                 open it to the team
    //  give it the name
    //                                      the name is taken: use that one
    @Test func membersWhoMakeItAtOnceAllGetTheSameOne() throws {
        #expect(try share("top/home/Vaults/seed") == "made\n")
        for round in 0..<8 {
            let children = try (0..<12).map { number in
                try (number % 2 == 0 ? UnixUser.ada : .bob).start(
                    "sealed-probe", ["share", place.path("top/home/Vaults/r\(round)"), "\(UnixUser.team)"],
                    umask: "077")
            }
            for child in children { #expect(try child.finish().outputText == "made\n") }
            #expect(try facts("top/home/Vaults/r\(round)").sharing == .unixGroup(UnixUser.team))
        }
        #expect(try SystemFile.names(place.path("top/home/Vaults")).count == 9)
    }

    @Test(
        .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"),
        arguments: [("EINVAL", "made\n"), ("EIO", "io\n"), ("EROFS", "readOnly\n")])
    func aFileSystemThatCannotRenameLikeThatIsNotAHindrance(_ fault: String, _ answer: String) throws {
        let words = [
            "-qq", "-o", "/dev/null", "-e", "inject=renameat2:error=\(fault)", builtProduct("sealed-probe"), "share",
            place.path("top/x"), "\(UnixUser.team)",
        ]
        #expect(try ChildProcess.run("/usr/bin/strace", words).outputText == answer)
        #expect(try SystemFile.names(place.path("top")) == (fault == "EINVAL" ? ["x"] : []))
        if fault == "EINVAL" { #expect(try facts("top/x").sharing == .unixGroup(UnixUser.team)) }
    }
}
