import TestSupport
import Testing

/// Tests of the system calls of a message, counted by strace(1).
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
struct MailboxCostTests {
    /// One look at the vault, one at the segment, one sync, and one append to the log of accepted states, which stays
    /// open.
    @Test func aDurableMessageMakesAtMostThirtySystemCalls() throws {
        let fixture = try StoreFixture()
        _ = try fixture.open()
        let traced = fixture.traced(["mail-send", "app", "1", "12", "durable"])
        defer { traced.removeLog() }
        #expect(try traced.run().exitCode == 0)
        let calls = try traced.calls()
        // From the report of one message to that of the next.
        let reports = calls.indices.filter { calls[$0].line.hasPrefix("write(1,") }
        #expect(reports.count >= 12)
        // Where the kernel's clocks have no shared page, reading one is a call; memory and locks are no files.
        let others = ["clock_gettime", "gettimeofday", "futex", "getrandom", "madvise", "mmap", "munmap", "brk"]
        let messages = zip(reports, reports.dropFirst()).map { start, end in
            calls[(start + 1)..<end].filter { !others.contains($0.name) }
        }
        // Looks that are due once in a while come between.
        let fewest = try #require(messages.min { $0.count < $1.count })
        #expect(fewest.count <= 30, "\(fewest.map(\.line).joined(separator: "\n"))")
        #expect(fewest.filter { $0.name == "fdatasync" }.count == 1)
        #expect(fewest.filter { $0.name == "write" }.count == 2)
    }
}
