import TestSupport
import Testing

/// Tests of a write that takes fewer bytes than it was given: the rest is written.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"),
    .enabled(if: Interposer.isPossible, "needs a C compiler"), .timeLimit(.minutes(10)))
struct ShortWriteFaultTests {
    private func write(_ fixture: StoreFixture, _ injections: [String] = []) throws -> (answer: String, writes: Int) {
        let traced = fixture.traced(["store-write", "2", "5000", "durable"])
        defer { traced.removeLog() }
        let variables = Interposer.variables(["SEALED_WRITE": "7"])
        let answer = try traced.run(injecting: injections, environment: variables).outputText.trimmingNewlines
        return (answer, try traced.count(of: "write"))
    }

    @Test func aBlobThatTakesHundredsOfWritesIsWhole() throws {
        let fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "5000", "durable") == "written 1")
        let (answer, writes) = try write(fixture)
        #expect(answer == "written 2")
        #expect(writes > 5000 / 7)
        #expect(try fixture.probe("store-read") == "2 5000 2")
        #expect(try fixture.staleFiles() == [])
    }

    // Part of the blob is written before the error.
    @Test(arguments: [("ENOSPC", "noSpace"), ("EDQUOT", "quotaExceeded"), ("EIO", "file")])
    func aWriteThatFailsHalfWayLeavesTheOldValue(_ fault: (String, String)) throws {
        let fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "5000", "durable") == "written 1")
        let (answer, writes) = try write(fixture, ["write:error=\(fault.0):when=300"])
        #expect(answer == fault.1)
        #expect(writes > 200 && writes < 5000 / 7)
        #expect(try fixture.probe("store-read") == "1 5000 1")
        #expect(try fixture.staleFiles() == [])
    }

    @Test func aWriteThatIsInterruptedHalfWayIsContinued() throws {
        let fixture = try StoreFixture()
        #expect(try write(fixture, ["write:error=EINTR:when=300"]).answer == "written 1")
        #expect(try fixture.probe("store-read") == "2 5000 1")
    }
}
