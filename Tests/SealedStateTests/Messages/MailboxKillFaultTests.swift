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

/// Producers and readers that are killed at random: none lost, none reordered, each redelivery marked.
@Suite(.timeLimit(.minutes(60))) struct MailboxStressTests {
    @Test func randomKillsLoseAndReorderNothing() async throws {
        let fixture = try StoreFixture()
        _ = try fixture.open()
        let perProducer = isLongForm ? 250_000 : 1500
        let log = fixture.place.path("log")
        let words = [fixture.place.path, fixture.group.identifier]
        let sent = try await withThrowingTaskGroup(of: (String, Set<Int>).self) { group in
            for number in 1...4 {
                let producer = "p\(number)"
                group.addTask {
                    var acknowledged: Set<Int> = []
                    var next = 1
                    while next <= perProducer {
                        let count = min(perProducer - next + 1, isLongForm ? 20_000 : 400)
                        let process = try ChildProcess(
                            "sealed-probe", ["mail-send"] + words + [producer, "\(next)", "\(count)", "unsynced"])
                        // Every second process is killed.
                        let last = Bool.random() ? Int.random(in: 0..<count) : Int.max
                        var read = 0
                        while let line = try process.readLine() {
                            if let text = line.split(separator: " ").last.flatMap({ Int($0) }) {
                                acknowledged.insert(text)
                            }
                            if read == last { process.kill(SIGKILL) }
                            read += 1
                        }
                        next = (acknowledged.max() ?? next - 1) + 1
                        _ = try process.finish()
                    }
                    return (producer, acknowledged)
                }
            }
            let readers = (1...2).map { _ in
                Task {
                    while !Task.isCancelled {
                        let process = try ChildProcess("sealed-probe", ["mail-work"] + words + [log, "unsynced"])
                        try? await Task.sleep(for: .milliseconds(.random(in: 50...1500)))
                        process.kill(SIGKILL)
                        _ = try? process.finish()
                    }
                }
            }
            var sent: [String: Set<Int>] = [:]
            for try await (producer, numbers) in group { sent[producer] = numbers }
            let access = try MailboxAccess("handed", in: try fixture.open(), .init())
            let end = ContinuousClock.now + .seconds(isLongForm ? 1800 : 120)
            while try access.status().contains(where: { $0.waiting > 0 }), .now < end {
                try await Task.sleep(for: .milliseconds(100))
            }
            readers.forEach { $0.cancel() }
            for reader in readers { _ = try? await reader.value }
            return sent
        }
        var seen: [String: Set<Int>] = [:]
        var highest: [String: Int] = [:]
        for line in String(decoding: try SystemFile.read(log), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            let text = try #require(Int(words[1]))
            let isNew = seen[words[0], default: []].insert(text).inserted
            // A message that a killed sender had sent is sent again under the same text.
            if words[2] == "first" { #expect(text >= highest[words[0], default: 0], "\(line)") }
            if !isNew, words[2] == "first" { #expect(text == highest[words[0]], "\(line)") }
            #expect(words[3] == "0", "\(line)")
            highest[words[0]] = max(text, highest[words[0], default: 0])
        }
        for (producer, numbers) in sent {
            #expect(numbers.subtracting(seen[producer] ?? []).isEmpty)
            #expect(seen[producer]?.count == perProducer)
        }
    }
}
