import Glibc
import TestSupport
import Testing

@testable import SealedState

/// Readers that are killed while they give a message back or make it a dead letter, and resets that are killed: each
/// producer's messages are as before or as after the call, and nothing is lost.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct MailboxSettleKillFaultTests {
    /// Three messages of one producer.
    private func prepared() throws -> StoreFixture {
        let fixture = try StoreFixture()
        _ = try fixture.open()
        _ = try fixture.probe("mail-send", "app", "1", "3", "durable")
        return fixture
    }

    /// Takes and acknowledges everything that waits; returns `ID first|again FAILED` for each, call by call.
    private func drain(_ fixture: StoreFixture) throws -> [[String]] {
        let access = try MailboxAccess("handed", in: fixture.open(), .init())
        defer { access.close() }
        var batches: [[String]] = []
        while true {
            let taken = try access.takeViews(upTo: 100)
            if taken.isEmpty { return batches }
            #expect(taken.allSatisfy { $0.lostBefore == 0 })
            batches.append(taken.map { "\($0.id) \($0.isRedelivery ? "again" : "first") \($0.failedAttempts)" })
            try access.acknowledge(taken.map(\.id))
        }
    }

    /// Returns the dead letters, each with the reason and whether it is readable.
    private func dead(_ fixture: StoreFixture) throws -> [String] {
        try MailboxAccess("handed", in: fixture.open(), .init()).deadViews()
            .map { "\($0.id) \($0.reason)\($0.message == nil ? " lost" : "")" }
    }

    private static let untouched = [["app/1 first 0", "app/2 first 0", "app/3 first 0"]]
    private static let delivered = [["app/1 again 1", "app/2 again 0", "app/3 first 0"]]

    @Test(arguments: ["reject", "retry"]) func killingAReaderThatSettlesAMessageLosesNone(_ kind: String) throws {
        let words = ["mail-settle", kind]
        let calls = try prepared().calls(words)
        #expect(Set(calls.map(\.name)).isSuperset(of: ["renameat", "write"]))
        let letter = ["app/1 no use"]
        // A message that failed is delivered alone; one that waits behind a dead letter has had its reader killed.
        let settled =
            kind == "reject"
            ? [["app/2 again 1", "app/3 first 0"]] : [["app/1 again 1"], ["app/2 again 0", "app/3 first 0"]]
        var outcomes: Set<[[String]]> = []
        for call in calls {
            let fixture = try prepared()
            let traced = fixture.traced(words)
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call).outputText
            let letters = try dead(fixture)
            let answer = try drain(fixture)
            #expect([Self.untouched, Self.delivered, settled].contains(answer), "\(call): \(answer)")
            #expect(letters == (kind == "reject" && answer == settled ? letter : []), "\(call): \(letters)")
            // A message that the killed program has seen is marked.
            if killed.contains("app 1") { #expect(answer != Self.untouched, "\(call)") }
            if killed.contains("settled") { #expect(answer == settled, "\(call)") }
            outcomes.insert(answer)
            // A dead letter is kept when the messages behind it are handled.
            #expect(try dead(fixture) == letters, "\(call)")
            #expect(try fixture.staleFiles() == [], "\(call)")
        }
        #expect(outcomes == [Self.untouched, Self.delivered, settled])
    }

    /// The producers' messages are discarded one producer after the other, each one's together.
    @Test func killingAResetDiscardsAllMessagesOfAProducerOrNone() throws {
        func prepare() throws -> StoreFixture {
            let fixture = try prepared()
            _ = try fixture.probe("mail-settle", "reject")
            _ = try fixture.probe("mail-send", "b", "1", "2", "durable")
            return fixture
        }
        let calls = try prepare().calls(["mail-reset"])
        #expect(Set(calls.map(\.name)).isSuperset(of: ["renameat", "unlinkat"]))
        var outcomes: Set<[Bool]> = []
        for call in calls {
            let fixture = try prepare()
            let traced = fixture.traced(["mail-reset"])
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call).outputText
            let letters = try dead(fixture)
            for producer in ["app", "b"] {
                _ = try fixture.probe("mail-send", producer, "9", "1", "durable")
            }
            let answer = try drain(fixture).flatMap { $0 }
            let kept = [answer.contains("app/3 first 0"), answer.contains("b/1 first 0")]
            let expected =
                (kept[0] ? ["app/2 again 1", "app/3 first 0"] : []) + ["app/4 first 0"]
                + (kept[1] ? ["b/1 first 0", "b/2 first 0"] : []) + ["b/3 first 0"]
            #expect(answer.sorted() == expected, "\(call): \(answer)")
            #expect(letters == (kept[0] ? ["app/1 no use"] : []), "\(call): \(letters)")
            if killed.contains("reset") { #expect(kept == [false, false] && killed == "reset 5\n", "\(call)") }
            outcomes.insert(kept)
            try expectReset(fixture, discarding: letters.count, "\(call)")
        }
        #expect(outcomes == [[true, true], [false, true], [false, false]])
    }

    /// The reset that writes a removed record again.
    @Test func killingAResetThatWritesTheRecordAgainLetsTheNextOneDoIt() throws {
        let record = "_sealed/mailboxes/handed"
        func prepare() throws -> StoreFixture {
            let fixture = try prepared()
            _ = try fixture.probe("mail-handle", "100")
            _ = try fixture.probe("mail-send", "app", "4", "1", "durable")
            try #require(unlink(fixture.file(record)) == 0)
            return fixture
        }
        var outcomes: Set<Bool> = []
        for call in try prepare().calls(["mail-reset"]) {
            let fixture = try prepare()
            let traced = fixture.traced(["mail-reset"])
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call).outputText
            let isWritten = SystemFile.exists(fixture.file(record))
            if killed.contains("reset") { #expect(isWritten, "\(call)") }
            outcomes.insert(isWritten)
            try expectReset(fixture, discarding: nil, "\(call)")
            #expect(try fixture.probe("mail-send", "app", "9", "1", "durable") == "sent 9", "\(call)")
            #expect(try drain(fixture) == [["app/5 first 0"]], "\(call)")
        }
        #expect(outcomes == [true, false])
    }

    /// Expects that a reset completes, and leaves no segment.
    private func expectReset(_ fixture: StoreFixture, discarding count: Int?, _ comment: Comment) throws {
        let discarded = try MailboxAccess("handed", in: fixture.open(), .init()).reset()
        if let count { #expect(discarded == count, comment) }
        let directory = fixture.container + "/Mailboxes/handed"
        #expect(try SystemFile.names(directory).filter { $0.hasSuffix(".sealed") } == [], comment)
        #expect(try fixture.staleFiles() == [], comment)
    }
}
