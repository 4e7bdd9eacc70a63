import Glibc
import SealedState
import TestSupport
import Testing

/// Writers and deletions that are killed at any system call: the old or the new file remains, whole, with at most one
/// leftover content for each killed process, and the next writer removes it.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct SealedFileKillFaultTests {
    private static let size = 200_000

    @Test(arguments: isLongForm ? ["durable", "unsynced"] : ["durable"])
    func killingAWriterAtEverySystemCallLeavesTheOldOrTheNewFile(_ durability: String) throws {
        let sandbox = try FileSandbox()
        #expect(try sandbox.probe("file-write", "a", "1", "\(Self.size)", durability) == "written 1")
        let calls = try sandbox.fixture.calls(["file-write", "a", "2", "\(Self.size)", durability])
        #expect(Set(calls.map(\.name)).isSuperset(of: ["write", "renameat", "linkat", "unlinkat", "fcntl"]))
        var outcomes: Set<Bool> = []
        var leftovers = 0
        for (index, call) in calls.enumerated() {
            let old = try sandbox.probe("file-read", "a")
            let sequence = UInt64(old.split(separator: " ").last ?? "") ?? 0
            let number = 100 + index
            let traced = sandbox.fixture.traced(["file-write", "a", "\(number)", "\(Self.size)", durability])
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call)
            let found = try sandbox.probe("file-read", "a")
            let new = "text/\(number) \(Self.size) \(sequence + 1)"
            #expect([old, new].contains(found), "\(call)")
            if killed.outputText.contains("written") { #expect(found == new, "\(call)") }
            outcomes.insert(found == new)
            let count = try sandbox.contents().count
            #expect((1...2).contains(count), "\(call)")
            leftovers += count - 1

            let next = sequence + (found == new ? 2 : 1)
            #expect(
                try sandbox.probe("file-write", "a", "\(index)", "\(Self.size)", durability) == "written \(next)",
                "\(call)")
            #expect(try sandbox.contents().count == 1, "\(call)")
            #expect(try sandbox.fixture.staleFiles().filter { !$0.contains(".sealedstate.") } == [], "\(call)")
        }
        // Both outcomes occurred, so the sweep crossed the rename; and contents were left, before and after it.
        #expect(outcomes == [true, false] && leftovers > 1)
    }

    /// A failing call leaves the old file, unless the answer says that the new one is written or may be.
    @Test func aFailingCallOfAWriteLeavesTheOldFileOrSaysSo() throws {
        let sandbox = try FileSandbox()
        #expect(try sandbox.probe("file-write", "a", "1", "\(Self.size)", "durable") == "written 1")
        let calls = try sandbox.fixture.calls(["file-write", "a", "2", "\(Self.size)", "durable"]).filter { call in
            // The last write is the program's answer.
            ["fallocate", "write", "linkat", "fdatasync", "fsync", "renameat", "unlinkat"].contains(call.name)
                && call.isChange
        }
        var answers: Set<String> = []
        for (index, call) in calls.enumerated() {
            let old = try sandbox.probe("file-read", "a")
            let sequence = UInt64(old.split(separator: " ").last ?? "") ?? 0
            let number = 100 + index
            let traced = sandbox.fixture.traced(["file-write", "a", "\(number)", "\(Self.size)", "durable"])
            defer { traced.removeLog() }
            let answer = try traced.run(failing: call, with: "EIO").outputText.trimmingNewlines
            let isNew = ["written \(sequence + 1)", "durabilityUnknown"].contains(answer)
            let new = "text/\(number) \(Self.size) \(sequence + 1)"
            #expect(try sandbox.probe("file-read", "a") == (isNew ? new : old), "\(call): \(answer)")
            answers.insert(isNew ? "new" : "old")
            // The contents of a write that failed are removed; after a doubt both stay.
            let count = try sandbox.contents().count
            #expect(isNew ? (1...2).contains(count) : count == 1, "\(call): \(answer)")
            _ = try sandbox.probe("file-write", "a", "1", "\(Self.size)", "durable")
        }
        #expect(answers == ["new", "old"])
    }

    @Test func killingADeletionAtEverySystemCallLeavesTheFileOrItsDeletion() throws {
        let sandbox = try FileSandbox()
        #expect(try sandbox.probe("file-write", "a", "1", "1000", "durable") == "written 1")
        let calls = try sandbox.fixture.calls(["file-delete", "a"])
        var outcomes: Set<Bool> = []
        for call in calls {
            _ = try sandbox.probe("file-write", "a", "1", "1000", "durable")
            let old = try sandbox.probe("file-read", "a")
            let traced = sandbox.fixture.traced(["file-delete", "a"])
            defer { traced.removeLog() }
            _ = try traced.run(killedAt: call)
            let found = try sandbox.probe("file-read", "a")
            #expect([old, "absent"].contains(found), "\(call)")
            outcomes.insert(found == old)
            #expect(try sandbox.contents().count <= 1, "\(call)")
        }
        #expect(outcomes == [true, false])
    }
}
