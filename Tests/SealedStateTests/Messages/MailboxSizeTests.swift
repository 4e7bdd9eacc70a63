import TestSupport
import Testing

@testable import SealedState

/// The files that a mailbox leaves when its messages are handled: their number and size do not depend on how many there
/// were.
@Suite(.timeLimit(.minutes(30))) struct MailboxSizeTests {
    let sandbox: MailSandbox

    init() throws { sandbox = try MailSandbox() }

    private func size(below directory: String) throws -> Int {
        try sandbox.fixture.files(below: directory).reduce(0) { sum, path in
            sum + (try SystemFile.read(sandbox.fixture.place.path(path)).count)
        }
    }

    /// 5,000 messages, 100,000 in the long form: the segments are removed, and the record of what is handled is one range.
    @Test func anInboxOfHandledMessagesIsSmall() throws {
        let box = try sandbox.box()
        let before = try size(below: "Containers")
        let rounds = isLongForm ? 1000 : 50
        for round in 0..<rounds {
            for number in 1...100 { try box.send(HandedItem("\(round) \(number)")) }
            try box.acknowledge(try box.take())
        }
        #expect(try sandbox.lane()?.handled == UInt64(rounds * 100))
        #expect(try size(below: "Containers") - before < 64 << 10)
        #expect(try sandbox.segments().count <= 1)
        #expect(try sandbox.segments().allSatisfy { try SystemFile.read(sandbox.path($0)).count <= 8 << 10 })
        #expect(try SystemFile.read(sandbox.fixture.file("_sealed/mailboxes/handed")).count < 1024)
    }

    /// A reader that is killed or falls behind leaves ranges and failures in the record; they go with the messages.
    @Test func theRecordOfHandledMessagesShrinksAgain() throws {
        let box = try sandbox.box()
        for number in 1...500 { try box.send(HandedItem("\(number)")) }
        var taken: [MailSandbox.Box.Delivery] = []
        for _ in 0..<5 { taken += try box.take() }
        let record = sandbox.fixture.file("_sealed/mailboxes/handed")
        // Every second one: as many ranges as there can be.
        try box.acknowledge(taken.filter { $0.id.number % 2 == 0 })
        #expect(try sandbox.lane()?.later.count == 250)
        #expect(try SystemFile.read(record).count > 4096)
        try box.acknowledge(taken.filter { $0.id.number % 2 == 1 })
        #expect(try sandbox.lane()?.later == [] && SystemFile.read(record).count < 1024)
    }

    /// The names of a user's file of accepted states: the first 16 bytes of each entry (docs/spec/watermarks.md).
    private func markedNames() throws -> Set<[UInt8]> {
        let bytes = try SystemFile.read(sandbox.fixture.marks)
        #expect(bytes.count % 128 == 0)
        return Set(stride(from: 0, to: bytes.count, by: 128).map { Array(bytes[$0..<$0 + 16]) })
    }

    private func handle(_ count: Int, from first: Int, of producers: [String]) throws {
        for producer in producers {
            let sent = try sandbox.fixture.probe("mail-send", producer, "\(first)", "\(count)", "unsynced")
            #expect(sent.hasSuffix("sent \(first + count - 1)"))
        }
        while try sandbox.fixture.probe("mail-handle", "100") != "acknowledged" {}
    }

    /// A thousand messages, in the long form 100,000, of four producers, each producer's sent and handled by
    /// other processes.
    @Test func theUsersMarksGrowWithTheProducersAndNotWithTheMessages() throws {
        let producers = (1...4).map { "p\($0)" }
        try handle(1, from: 1, of: producers)
        let (names, size) = (try markedNames(), try SystemFile.read(sandbox.fixture.marks).count)
        let count = isLongForm ? 25_000 : 250
        try handle(count, from: 2, of: producers)
        #expect(try markedNames() == names)
        // The file is a log of accepted states: a few for each process, none for a message; compacted beyond 64 KiB.
        let growth = try SystemFile.read(sandbox.fixture.marks).count - size
        #expect(growth < (isLongForm ? 128 << 10 : 16 << 10), "\(growth) bytes")
        // A producer has its messages and its lease.
        try handle(10, from: 1, of: ["p5"])
        #expect((names.count + 1...names.count + 2).contains(try markedNames().count))
    }
}
