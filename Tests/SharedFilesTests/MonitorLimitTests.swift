import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of refusals by the system: limits of the user and of the process, directories that may not be read, and
/// mounts.
@Suite(.timeLimit(.minutes(10))) struct MonitorLimitTests {
    private let sandbox: Sandbox

    init() throws {
        sandbox = try Sandbox()
        try expectZero(chmod(sandbox.place.path, 0o755))
        try expectZero(chmod(sandbox.path(""), 0o755))
    }

    private var probe: String { builtProduct("sealed-probe") }

    /// As a user of its own, with inotify instances of its own.
    @Test(.enabled(if: UnixUser.canBecome, "needs root and setpriv"))
    func aUserWithoutAnInstanceLeftIsReported() throws {
        let user = UnixUser(uid: 4704, gid: 4704)
        let result = try user.run("sealed-probe", ["monitor-exhausted", sandbox.path("file")])
        #expect(result.outputText == "watchLimit \(EMFILE)\n")
    }

    /// A process without descriptors is another shortage, though the system has one number for both.
    @Test(arguments: [
        ("0", "tooManyOpenFiles"), ("1", "tooManyOpenFiles"), ("2", "tooManyOpenFiles"), ("3", "watching"),
    ])
    func aProcessWithoutADescriptorLeftIsReported(_ left: String, _ answer: String) throws {
        let result = try ChildProcess.run("sealed-probe", ["monitor-limited", sandbox.path("file"), left])
        #expect(result.outputText.split(separator: " ")[0].trimmed == answer)
    }

    /// A Boolean value: this system has user namespaces, whose limits apply only to the processes in them.
    private static let canLimit =
        (try? ChildProcess.run("/usr/bin/unshare", limited("max_inotify_watches", 1_000_000) + ["true"]).exitCode) == 0

    private static func limited(_ name: String, _ count: Int) -> [String] {
        ["--user", "--map-root-user", "/bin/sh", "-c", #"echo "$0" > /proc/sys/user/"$1" && shift && exec "$@""#]
            + ["\(count)", name]
    }

    @Test(.enabled(if: canLimit, "needs user namespaces"))
    func aUserWithoutAWatchLeftIsReported() throws {
        let words = Self.limited("max_inotify_watches", 2) + [probe, "monitor-watch", sandbox.path("file")]
        let result = try ChildProcess.run("/usr/bin/unshare", words)
        #expect(result.outputText == "watchLimit \(ENOSPC)\n")
    }

    /// Enough watches for the path at first, but not for the longer one that a link leads along later; then the monitor
    /// polls.
    @Test(.enabled(if: canLimit, "needs user namespaces"))
    func aWatchThatIsRefusedLaterMeansLookingByTheClock() throws {
        for name in ["a", "far", "far/b", "far/b/c", "far/b/c/d"] { try sandbox.place.directory("inside/" + name) }
        let count = sandbox.path("a/file").split(separator: "/").count
        let words =
            Self.limited("max_inotify_watches", count) + [probe, "monitor-watch", sandbox.path("a/file")]
        let child = try ChildProcess("/usr/bin/unshare", words)
        #expect(try child.readLine() == "watching")
        try move("a", "old", sandbox)
        try sandbox.place.link("inside/a", to: "far/b/c/d")
        try expectRescan(child)
        try expectRescan(child)
        try expectZero(unlink(sandbox.path("a")))
        try move("old", "a", sandbox)
        try expectChange(child, of: "a/file")
    }

    /// `/private` may be crossed but not read, but the directories below it are watched.
    @Test(.enabled(if: UnixUser.canBecome, "needs root and setpriv"))
    func aDirectoryThatMayNotBeReadIsMadeGoodByTheOneBelow() throws {
        try sandbox.place.directory("inside/private")
        try sandbox.place.directory("inside/private/own")
        try sandbox.place.directory("inside/private/own/a")
        try expectZero(chmod(sandbox.path("private"), 0o711))
        for name in ["private/own", "private/own/a"] { try expectZero(chmod(sandbox.path(name), 0o777)) }
        let child = try UnixUser.eve.start("sealed-probe", ["monitor-watch", sandbox.path("private/own/a/file")])
        #expect(try child.readLine() == "watching")
        try move("private/own", "private/other", sandbox)
        #expect(try child.readLine() == "changed")
        try move("private/other", "private/own", sandbox)
        // The path returned in an unwatched directory, so polling notices it.
        try expectRescan(child)
        try expectChange(child, of: "private/own/a/file")
    }

    private static let canMount =
        geteuid() == 0 && (try? ChildProcess.run("/usr/bin/unshare", ["--mount", "true"]).exitCode) == 0

    /// Runs in a mount namespace of the child's own.
    @Test(.enabled(if: canMount, "needs root and mount namespaces"))
    func aFileSystemThatIsMountedOnTheWayIsFollowed() throws {
        try sandbox.place.directory("inside/a")
        let words = ["--mount", "--propagation", "private", probe, "monitor-watch", sandbox.path("a/file")]
        let child = try ChildProcess("/usr/bin/unshare", words)
        #expect(try child.readLine() == "watching")
        let commands = [
            ["mount", "-t", "tmpfs", "none", sandbox.path("a")], ["touch", sandbox.path("a/file")],
            ["umount", sandbox.path("a")], ["touch", sandbox.path("a/file")],
        ]
        for command in commands {
            let result = try ChildProcess.run("/usr/bin/nsenter", ["--mount=/proc/\(child.pid)/ns/mnt"] + command)
            try #require(result.exitCode == 0, "\(result.errorText)")
            #expect(try child.readLine() == "changed")
            // One command has several events; a late one would count as the next command's.
            try drain(child)
        }
    }

    /// Reads the available lines.
    private func drain(_ child: ChildProcess) throws {
        while (try? child.readLine(timeLimit: .milliseconds(300))) != nil {}
    }

    private func expectRescan(_ child: ChildProcess) throws {
        while let line = try child.readLine() { if line == "rescan" { return } }
        Issue.record("no rescan")
    }

    /// Expects the event of a watch, not of polling: the directory is watched again.
    private func expectChange(_ child: ChildProcess, of name: String) throws {
        for _ in 0..<200 {
            try sandbox.inside.replace(name, with: "new")
            if (try? child.readLine(timeLimit: .milliseconds(200))) == "changed" { return }
        }
        Issue.record("no change")
    }
}

extension Substring {
    fileprivate var trimmed: String { String(filter { $0 != "\n" }) }
}
