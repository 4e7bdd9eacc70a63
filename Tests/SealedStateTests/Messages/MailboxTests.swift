import FoundationEssentials
import Glibc
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// A message of these tests.
struct HandedItem: SealedRecord, Equatable {
    static let recordName = "handed"
    static let schemaVersion = 1
    var text: String
    var expiresAt: Date?

    init(_ text: String, expiresAt: Date? = nil) { (self.text, self.expiresAt) = (text, expiresAt) }

    func validate() throws(ValidationFailure) {
        if text == "invalid" { throw ValidationFailure("text", "is invalid") }
    }
}

/// A home with a mailbox.
struct MailSandbox {
    typealias Box = SealedStore.Mailbox<HandedItem>

    let fixture: StoreFixture
    let store: SealedStore

    init(_ change: (inout StoreOptions) -> Void = { _ in }) throws {
        fixture = try StoreFixture()
        store = try fixture.open(change)
    }

    func box(
        _ producer: String = "app", in other: SealedStore? = nil,
        _ change: (inout SealedStore.MailboxOptions) -> Void = { _ in }
    ) throws -> Box {
        var options = SealedStore.MailboxOptions()
        options.retryDelay = .zero
        change(&options)
        return try (other ?? store).mailbox(of: HandedItem.self, as: producer, options: options)
    }

    var directory: String { fixture.container + "/Mailboxes/handed" }

    func segments() throws -> [String] {
        SystemFile.exists(directory) ? try SystemFile.names(directory).sorted() : []
    }

    func path(_ leaf: String) -> String { "\(directory)/\(leaf)" }

    /// The state of one producer.
    func lane(_ producer: String = "app") throws -> MailboxState.Lane? {
        try MailboxState.read(MailboxName("handed"), in: store).lanes[producer]
    }
}

/// Sending, taking, acknowledging: the promises of docs/guides/mailboxes.md.
@Suite(.timeLimit(.minutes(10))) struct MailboxTests {
    let sandbox: MailSandbox

    init() throws { sandbox = try MailSandbox() }

    @Test func messagesArriveInOrderAndOnce() async throws {
        let box = try sandbox.box()
        for number in 1...250 {
            #expect(try await box.send(HandedItem("\(number)")).number == UInt64(number))
        }
        var texts: [String] = []
        while true {
            let taken = try await box.take(upTo: 99)
            if taken.isEmpty { break }
            #expect(taken.allSatisfy { !$0.isRedelivery && $0.lostBefore == 0 && $0.failedAttempts == 0 })
            texts += taken.map(\.message.text)
            try await box.acknowledge(taken)
        }
        #expect(texts == (1...250).map { "\($0)" })
        #expect(try await sandbox.box().take().isEmpty)
        #expect(try sandbox.lane()?.handled == 250 && sandbox.lane()?.later == [])
    }

    @Test func acknowledgementsComeInAnyOrder() throws {
        let box = try sandbox.box()
        for number in 1...6 { try box.send(HandedItem("\(number)")) }
        let taken = try box.take()
        try box.acknowledge([taken[4], taken[1]])
        #expect(try sandbox.lane()?.handled == 0)
        #expect(try sandbox.lane()?.later == [.init(first: 2, last: 2), .init(first: 5, last: 5)])
        box.close()
        let again = try sandbox.box().take()
        #expect(again.map(\.id.number) == [1, 3, 4, 6] && again.allSatisfy(\.isRedelivery))
        try box.acknowledge([])
    }

    @Test func aProducersMessagesGoToOneReader() throws {
        let (first, second) = (try sandbox.box(), try sandbox.box(in: try sandbox.fixture.open()))
        try sandbox.box("a").send(HandedItem("1"))
        try sandbox.box("b").send(HandedItem("2"))
        let taken = try first.take(upTo: 1)
        #expect(taken.map(\.id.description) == ["a/1"])
        #expect(try second.take().map(\.id.description) == ["b/1"])
        try sandbox.box("a").send(HandedItem("3"))
        #expect(try second.take().isEmpty)
        first.close()
        #expect(try second.take().map(\.id.description) == ["a/1", "a/2"])
        #expect(code { try first.acknowledge(taken) } == .leaseLost)
    }

    @Test func aReaderThatIsTooSlowIsReplaced() async throws {
        let (slow, other) = (
            try sandbox.box { $0.handlingTime = .seconds(1) }, try sandbox.box(in: sandbox.fixture.open())
        )
        try await slow.send(HandedItem("1"))
        let taken = try await slow.take()
        #expect(taken.count == 1)
        #expect(try await other.take().isEmpty)
        // The lease lasts twice the time.
        try await Task.sleep(for: .milliseconds(2100))
        let again = try await other.take()
        #expect(again.count == 1 && again[0].isRedelivery && again[0].failedAttempts == 1)
        let error = await #expect(throws: StoreError.self) { try await slow.acknowledge(taken) }
        #expect(error?.code == .leaseLost)
        try await other.acknowledge(again)
    }

    @Test func aMessageThatIsGivenBackBlocksTheLaterOnes() throws {
        let box = try sandbox.box { $0.retryDelay = .seconds(3600) }
        for number in 1...3 { try box.send(HandedItem("\(number)")) }
        let taken = try box.take(upTo: 1)
        try box.retry(taken[0], because: "no network")
        #expect(try box.take().isEmpty)
        let now = try sandbox.box { $0.retryDelay = .zero }
        box.close()
        #expect(try now.take().isEmpty)
        #expect(try sandbox.lane()?.failures.map(\.attempts) == [1])
    }

    @Test func aMessageThatFailsAlwaysIsADeadLetter() throws {
        let box = try sandbox.box { $0.maximumAttempts = 3 }
        for number in 1...2 { try box.send(HandedItem("\(number)")) }
        for attempt in 0..<3 {
            let taken = try box.take(upTo: 1)
            #expect(taken.map(\.message.text) == ["1"] && taken[0].failedAttempts == attempt)
            try box.retry(taken[0], because: "attempt \(attempt)")
        }
        #expect(try box.take().map(\.message.text) == ["2"])
        let dead = try box.deadLetters()
        #expect(dead.map(\.id.number) == [1] && dead[0].reason == "attempt 2" && dead[0].message?.text == "1")
        try box.discard(dead)
        #expect(try box.deadLetters().isEmpty)
    }

    /// A message that kills its reader each time does not stop the others for ever, and these are not counted with it.
    @Test func aMessageWhoseReadersAreKilledIsADeadLetter() throws {
        for number in 1...3 { try sandbox.box().send(HandedItem("\(number)")) }
        for attempt in 0..<5 {
            let reader = try sandbox.box(in: sandbox.fixture.open())
            // After the first failure is known, the message is delivered alone.
            #expect(try reader.take().map(\.failedAttempts) == (attempt < 2 ? [attempt, 0, 0] : [attempt]))
        }
        let reader = try sandbox.box()
        #expect(try reader.take().map(\.message.text) == ["2", "3"])
        #expect(try reader.deadLetters().map(\.message?.text) == ["1"])
    }

    @Test func aRejectedMessageIsKept() throws {
        let box = try sandbox.box()
        try box.send(HandedItem("1"))
        try box.reject(try #require(try box.take().first), because: "wrong \u{202E}format")
        let letter = try #require(try box.deadLetters().first)
        #expect(letter.message?.text == "1" && letter.reason == "wrong \u{202E}format")
        #expect(try box.take().isEmpty)
    }

    @Test func expiredMessagesAreNotDelivered() throws {
        let clock = TestClock()
        let sandbox = try MailSandbox { $0.now = { clock.now } }
        let box = try sandbox.box()
        try box.send(HandedItem("1", expiresAt: clock.now.addingTimeInterval(10)))
        try box.send(HandedItem("2"))
        try box.send(HandedItem("3", expiresAt: clock.now.addingTimeInterval(10)))
        clock.advance(by: 20)
        let taken = try box.take()
        #expect(taken.map(\.message.text) == ["2"] && taken[0].lostBefore == 0)
        try box.acknowledge(taken)
        #expect(try sandbox.lane()?.handled == 3)
    }

    @Test func messagesObeyTheRulesOfRecords() throws {
        let box = try sandbox.box()
        #expect(code { try box.send(HandedItem("invalid")) } == .invalid)
        #expect(code { try box.send(HandedItem(String(repeating: "x", count: 2 << 20))) } == .tooLarge)
        for name in ["", "a/b", ".a", "a b", String(repeating: "a", count: 65), "é", "x.sealed"] {
            #expect(code { _ = try sandbox.store.mailbox(of: HandedItem.self, named: name) } == .invalidName)
            #expect(code { _ = try sandbox.store.mailbox(of: HandedItem.self, as: name) } == .invalidName)
        }
        #expect(try sandbox.segments().isEmpty)
        #expect(try box.take().isEmpty && box.deadLetters().isEmpty)
    }

    @Test func largeMessagesFillSegments() throws {
        let box = try sandbox.box()
        let texts = (0..<5).map { String(repeating: "\($0)", count: 900_000) }
        for text in texts { try box.send(HandedItem(text)) }
        #expect(try sandbox.segments() == ["app.1.sealed", "app.3.sealed", "app.5.sealed"])
        let taken = try box.take()
        #expect(taken.map(\.message.text) == texts)
        try box.acknowledge(Array(taken[..<2]))
        #expect(try sandbox.segments() == ["app.3.sealed", "app.5.sealed"])
        try box.acknowledge(Array(taken[2...]))
        #expect(try sandbox.segments().isEmpty)
        #expect(try box.send(HandedItem("next")).number == 6)
    }

    @Test func tooManyMessagesAreRefusedUntilSomeAreHandled() throws {
        let box = try sandbox.box { $0.maximumWaiting = 10 }
        for number in 1...10 { try box.send(HandedItem("\(number)")) }
        #expect(code { try box.send(HandedItem("11")) } == .quotaExceeded)
        try box.acknowledge(try box.take(upTo: 3))
        for number in 11...13 { try box.send(HandedItem("\(number)")) }
        #expect(code { try box.send(HandedItem("14")) } == .quotaExceeded)
        #expect(try box.take().map(\.message.text) == (4...13).map { "\($0)" })
    }

    @Test func readersWaitForMessages() async throws {
        let (reader, sender) = (try sandbox.box(), try sandbox.box("other"))
        let task = Task {
            var texts: [String] = []
            for try await delivery in reader.deliveries {
                texts.append(delivery.message.text)
                try await reader.acknowledge([delivery])
                if texts.count == 20 { break }
            }
            return texts
        }
        for number in 1...20 {
            try await sender.send(HandedItem("\(number)"))
            if number % 5 == 0 { try await Task.sleep(for: .milliseconds(30)) }
        }
        #expect(try await task.value == (1...20).map { "\($0)" })
        let silent = Task { () -> Bool in
            for try await _ in reader.deliveries { return false }
            return true
        }
        try await Task.sleep(for: .milliseconds(50))
        silent.cancel()
        #expect(try await silent.value)
    }

    /// In a sequence the later messages of a producer wait for one that was given back, also those that were taken with
    /// it.
    @Test func aSequenceKeepsTheOrderAfterARetry() async throws {
        let box = try sandbox.box()
        for number in 1...4 { try await box.send(HandedItem("\(number)")) }
        var texts: [String] = []
        for try await delivery in box.deliveries {
            texts.append(delivery.message.text)
            if delivery.message.text == "2", delivery.failedAttempts == 0 {
                try await box.retry(delivery, because: "later", after: .milliseconds(10))
                continue
            }
            try await box.acknowledge([delivery])
            if texts.count == 5 { break }
        }
        #expect(texts == ["1", "2", "2", "3", "4"])
    }

    @Test func messagesFollowTheContainer() async throws {
        let box = try sandbox.box()
        try await box.send(HandedItem("1"))
        try await box.acknowledge(box.take())
        try await box.send(HandedItem("2"))
        let old = sandbox.fixture.container
        #expect(rename(old, old + ".away") == 0)
        _ = try sandbox.fixture.open()
        #expect(try await box.take().isEmpty)
        try await box.send(HandedItem("3"))
        let taken = try await box.take()
        #expect(taken.map(\.message.text) == ["3"])
        try await box.acknowledge(taken)
        #expect(try await box.take().isEmpty)
    }

    /// Two senders of one name, each of which has its last segment open, continue each other's numbers.
    @Test func twoSendersOfOneNameContinueEachOther() throws {
        let (first, second) = (try sandbox.box(), try sandbox.box(in: sandbox.fixture.open()))
        let large = String(repeating: "x", count: 400_000)
        var texts: [String] = []
        for number in 0..<24 {
            let text = "\(number)" + large
            try (number % 3 == 0 ? second : first).send(HandedItem(text))
            texts.append(text)
        }
        let taken = try sandbox.box().take()
        #expect(taken.map(\.message.text) == texts && taken.allSatisfy { $0.lostBefore == 0 })
    }

    /// Calls of one reader at the same time never deliver a message twice.
    @Test func concurrentTakesDeliverEachMessageOnce() async throws {
        let box = try sandbox.box()
        for number in 1...400 { try await box.send(HandedItem("\(number)")) }
        let numbers = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    var numbers: [UInt64] = []
                    while true {
                        let taken = try await box.take(upTo: 20)
                        if taken.isEmpty { return numbers }
                        try await box.acknowledge(taken)
                        numbers += taken.map(\.id.number)
                    }
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        #expect(numbers.sorted() == Array(1...400))
        #expect(try sandbox.lane()?.handled == 400)
    }

    /// The messages of a producer that cannot be read now do not stop those of another one.
    @Test func aProducerWhoseMessagesCannotBeReadStopsNoOther() throws {
        try sandbox.box("b").send(HandedItem("1"))
        let payload = RecordPayload(
            Data(#"{"text":"new"}"#.utf8), codec: .json, schemaVersion: 2, notAfter: 0)
        _ = try MailboxAccess("handed", as: "a", in: sandbox.store, .init()).send(payload)
        try sandbox.box("c").send(HandedItem("2"))
        #expect(try sandbox.box().take().map(\.message.text) == ["1", "2"])
    }

    /// Messages that an iteration took and did not return are delivered by the next one.
    @Test func anIterationThatEndsLeavesTheRest() async throws {
        let box = try sandbox.box()
        for number in 1...3 { try await box.send(HandedItem("\(number)")) }
        for try await delivery in box.deliveries {
            try await box.acknowledge([delivery])
            break
        }
        var texts: [String] = []
        for try await delivery in box.deliveries {
            texts.append(delivery.message.text)
            try await box.acknowledge([delivery])
            if texts.count == 2 { break }
        }
        #expect(texts == ["2", "3"])
    }

    @Test func aDeadLetterKeepsItsOwnSegmentOnly() throws {
        let box = try sandbox.box()
        for number in 0..<6 { try box.send(HandedItem("\(number)" + String(repeating: "x", count: 600_000))) }
        #expect(try sandbox.segments().count == 3)
        let taken = try box.take()
        try box.reject(taken[2], because: "test")
        try box.acknowledge(taken)
        #expect(try sandbox.segments() == ["app.3.sealed"])
        #expect(try box.deadLetters().map(\.message?.text.first) == ["2"])
        try box.discard(try box.deadLetters())
        #expect(try sandbox.segments().isEmpty)
    }
}
