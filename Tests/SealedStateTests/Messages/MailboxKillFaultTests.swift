import Glibc
import SealedState
import TestSupport
import Testing

/// Senders and readers that are killed at any system call: nothing that was acknowledged is lost, and what is delivered
/// again is marked.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct MailboxKillFaultTests {
    /// The first message of a segment makes a file, later ones are appended.
    @Test(arguments: [true, false]) func killingASenderLosesNothingThatWasAcknowledged(_ isFirst: Bool) throws {
        let fixture = try StoreFixture()
        _ = try fixture.open()
        func send(_ number: Int) -> [String] { ["mail-send", "app", "\(number)", "1", "durable"] }
        if !isFirst { #expect(try fixture.probe("mail-send", "app", "1", "1", "durable") == "sent 1") }
        let calls = try fixture.calls(send(2))
        #expect(Set(calls.map(\.name)).isSuperset(of: isFirst ? ["linkat", "fsync"] : ["write", "fdatasync"]))
        var outcomes: Set<Bool> = []
        for (index, call) in calls.enumerated() {
            let fixture = try StoreFixture()
            _ = try fixture.open()
            if !isFirst { _ = try fixture.probe("mail-send", "app", "1", "1", "durable") }
            let traced = fixture.traced(send(100 + index))
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call)
            #expect(try fixture.probe("mail-send", "app", "7", "1", "durable") == "sent 7", "\(call)")
            let answer = try fixture.probe("mail-handle", "100").split(separator: "\n").map(String.init)
            let sent = "app \(100 + index) first 0"
            let before = isFirst ? [] : ["app 1 first 0"]
            let after = ["app 7 first 0", "acknowledged"]
            #expect(answer == before + after || answer == before + [sent] + after, "\(call): \(answer)")
            if killed.outputText.contains("sent") { #expect(answer.contains(sent), "\(call)") }
            outcomes.insert(answer.contains(sent))
            #expect(try fixture.staleFiles() == [], "\(call)")
        }
        #expect(outcomes == [true, false])
    }

    @Test func killingAReaderRedeliversOnlyWhatWasNotAcknowledged() throws {
        let first = try StoreFixture()
        func prepare(_ fixture: StoreFixture) throws {
            _ = try fixture.open()
            _ = try fixture.probe("mail-send", "app", "1", "3", "durable")
        }
        try prepare(first)
        let calls = try first.calls(["mail-handle", "2"])
        #expect(Set(calls.map(\.name)).isSuperset(of: ["renameat", "write"]))
        var outcomes: Set<String> = []
        for call in calls {
            let fixture = try StoreFixture()
            try prepare(fixture)
            let traced = fixture.traced(["mail-handle", "2"])
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call).outputText
            let answer = try fixture.probe("mail-handle", "100").split(separator: "\n").map(String.init)
            let isAcknowledged = answer == ["app 3 first 0", "acknowledged"]
            let isRedelivered = answer == ["app 1 again 0", "app 2 again 0", "app 3 first 0", "acknowledged"]
            let isUntouched = answer == ["app 1 first 0", "app 2 first 0", "app 3 first 0", "acknowledged"]
            #expect(isAcknowledged || isRedelivered || isUntouched, "\(call): \(answer)")
            // A message that the killed program has seen is marked.
            if killed.contains("app 1") { #expect(!isUntouched, "\(call)") }
            if killed.contains("acknowledged") { #expect(isAcknowledged, "\(call)") }
            outcomes.insert(isAcknowledged ? "acknowledged" : isRedelivered ? "again" : "untouched")
            #expect(try fixture.probe("mail-handle", "100") == "acknowledged", "\(call)")
        }
        #expect(outcomes == ["acknowledged", "again", "untouched"])
    }
}
