import SealedState
import TestSupport
import Testing

/// Tests of system calls that fail during a write: the old value remains, or the new one does and the error says what
/// is unknown.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct SystemCallFaultTests {
    /// The errors that each call may return; the others never fail on a healthy descriptor.
    static let errors: [String: [String]] = [
        "openat2": ["EMFILE", "EIO", "EINTR"], "openat": ["ENOSPC", "EDQUOT", "EROFS", "EMFILE", "EINTR"],
        "mkdirat": ["ENOSPC", "EDQUOT", "EROFS", "EINTR"], "fchmod": ["EROFS", "EIO"],
        "fallocate": ["ENOSPC", "EDQUOT", "EIO", "EINTR"], "write": ["ENOSPC", "EDQUOT", "EIO", "EINTR"],
        "linkat": ["ENOSPC", "EDQUOT", "EROFS", "EIO", "EINTR"], "fdatasync": ["EIO", "ENOSPC", "EDQUOT", "EINTR"],
        "renameat": ["EIO", "ENOSPC", "EROFS", "EINTR"], "fsync": ["EIO", "ENOSPC", "EINTR"],
        "fcntl": ["EINTR", "EIO"], "pread64": ["EIO", "EINTR"], "newfstatat": ["EIO"],
    ]

    @Test(arguments: [false, true])
    func aFailingCallLeavesOldOrNewAndSaysWhich(_ isNested: Bool) throws {
        let fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "100", "durable") == "written 1")
        let name = isNested ? "before/nested/probe" : "probe"
        let traced = fixture.traced(["store-write", "2", "100", "durable", name])
        defer { traced.removeLog() }
        #expect(try traced.run().outputText.hasPrefix("written"))
        // Calls after the release of the lock do not belong to the write.
        let calls = try traced.calls(from: ".sealedstate.lock").prefix {
            !($0.line.contains("F_OFD_SETLK") && $0.line.contains("F_UNLCK"))
        }
        #expect(calls.count > 20)
        for call in calls {
            let errors = Self.errors[call.name] ?? []
            // The short form: every error for calls that change, one for the others; a nested name adds the
            // directories.
            let isWhole = isLongForm || (isNested ? ["mkdirat", "fsync"].contains(call.name) : call.isChange)
            for error in isWhole ? errors : Array(errors.prefix(isNested ? 0 : 1)) {
                try fail(call, with: error, fixture, isNested: isNested)
            }
        }
    }

    private func fail(_ call: TracedProcess.Call, with error: String, _ fixture: StoreFixture, isNested: Bool) throws {
        let name = isNested ? "\(call.name)-\(call.ordinal)-\(error)/nested/probe" : "probe"
        let old = isNested ? "absent" : try fixture.probe("store-read", name)
        let sequence = UInt64(old.split(separator: " ").last ?? "") ?? 0
        let traced = fixture.traced(["store-write", "7", "100", "durable", name])
        defer { traced.removeLog() }
        let answer = try traced.run(failing: call, with: error)
            .outputText.trimmingNewlines
        let found = try fixture.probe("store-read", name)
        let isNew = ["written \(sequence + 1)", "durabilityUnknown", "lockLost"].contains(answer)
        #expect(found == (isNew ? "7 100 \(sequence + 1)" : old), "\(call) \(error): \(answer)")
        #expect(Self.answers(call, error, sequence + 1, isNested).contains(answer), "\(call) \(error)")
        // A failed sync is never repeated: it would succeed, after the kernel has dropped the unwritten data.
        if call.name == "fdatasync" { #expect(try traced.count(of: "fdatasync") == 1) }
        if call.name == "fsync" && !isNested { #expect(try traced.count(of: "fsync") == 1) }
        #expect(try fixture.staleFiles() == [], "\(call) \(error)")

        let next = sequence + (isNew ? 2 : 1)
        #expect(try fixture.probe("store-write", "8", "100", "durable", name) == "written \(next)", "\(call) \(error)")
    }

    /// Returns the answers that the writer may give.
    private static func answers(
        _ call: TracedProcess.Call, _ error: String, _ sequence: UInt64, _ isNested: Bool
    ) -> Set<String> {
        // A failure to remember accepted states does not fail the write.
        let isAfterwards = call.line.contains("marks") || call.line.contains("Watermarks")
        let fine: Set = ["written \(sequence)"]
        let refusal = Self.refusals[error] ?? "file"
        // A new directory's sync ends the write before anything is in place.
        if call.name == "fsync" { return isNested ? ["durabilityUnknown", refusal] : ["durabilityUnknown"] }
        if call.name == "fdatasync" { return [refusal] }
        if error == "EINTR" || isAfterwards { return fine }
        switch call.name {
        // The call can be for the log, where it does not matter, or for the lock file, where it means a replaced file;
        // after the write that is reported as well.
        case "newfstatat": return fine.union([refusal, "lockTimeout", "lockLost"])
        case "openat", "openat2", "write", "pread64", "fcntl": return fine.union([refusal, "lockTimeout"])
        default: return [refusal]
        }
    }

    /// The errors with a code of their own.
    static let refusals = ["ENOSPC": "noSpace", "EDQUOT": "quotaExceeded", "EROFS": "readOnly"]

    @Test func anUnsyncedWriteSyncsNothing() throws {
        let fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "100", "durable") == "written 1")
        let traced = fixture.traced(["store-write", "2", "100", "unsynced"])
        defer { traced.removeLog() }
        #expect(try traced.run(injecting: ["fsync:error=EIO", "fdatasync:error=EIO"]).outputText == "written 2\n")
    }

    @Test func aWriteLooksAtTheVaultOnce() throws {
        let fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "100", "durable") == "written 1")
        let traced = fixture.traced(["store-write-loop", "100"])
        defer { traced.removeLog() }
        _ = try traced.run(injecting: ["renameat:signal=KILL:when=6"])
        func isOpening(_ call: TracedProcess.Call, _ name: String) -> Bool {
            call.name == "openat2" && call.line.contains("\"\(name)\"")
        }
        // From one lock to the next; the last write was killed. Once a second a check is due that is not part of a
        // write.
        let looks = try traced.calls().split { isOpening($0, ".sealedstate.lock") }.dropFirst().dropLast()
            .map { write in write.count { isOpening($0, "vault") } }
        #expect(looks.count >= 4 && !looks.contains(0))
        #expect(looks.contains(1), "\(looks)")
    }

    @Test func aReadWritesNothingAndSyncsNothing() throws {
        let fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "100", "durable") == "written 1")
        let traced = fixture.traced(["store-read"])
        defer { traced.removeLog() }
        #expect(try traced.run().outputText == "1 100 1\n")
        let calls = try traced.calls(from: fixture.place.path)
        // One for its output, one for the access log: the vault was opened.
        #expect(
            calls.filter(\.isChange).map(\.description).filter {
                !$0.hasPrefix("write") && !$0.hasPrefix("fcntl")
            } == [])
        #expect(calls.filter { $0.name == "write" }.count == 2)
    }

    static let canMount: Bool = {
        let words = ["-m", "mount", "-t", "tmpfs", "none", "/mnt"]
        return (try? ChildProcess.run("/usr/bin/unshare", words).exitCode) == 0
    }()

    @Test(.enabled(if: canMount, "needs the right to mount")) func aFullDiskKeepsTheOldValue() throws {
        let fixture = try StoreFixture()
        let (home, group) = (fixture.place.path, fixture.group.identifier)
        // The mount is visible only to this shell and its children, and ends with them.
        let script = """
            mount -t tmpfs -o size=640k,mode=700 none "$1"
            write() { "$0" store-write "$1" "$2" "$3" "$4" durable; }
            write "$1" "$2" 1 200000
            head -c 1000000 /dev/zero > "$1/fill" 2>/dev/null
            write "$1" "$2" 2 200000
            write "$1" "$2" 3 100
            "$0" store-read "$1" "$2"
            find "$1" -name '.*.new'
            rm "$1/fill"
            write "$1" "$2" 4 200000
            "$0" store-read "$1" "$2"
            find "$1" -name '.*.new'
            """
        let words = ["-m", "/bin/sh", "-c", script, builtProduct("sealed-probe"), home, group]
        let lines = try ChildProcess.run("/usr/bin/unshare", words).outputText.split(separator: "\n").map(String.init)
        #expect(lines == ["written 1", "noSpace", "noSpace", "1 200000 1", "written 2", "4 200000 2"])
    }
}
