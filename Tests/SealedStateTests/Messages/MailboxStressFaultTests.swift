import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Producers and readers that are killed at random: none lost, none reordered, each redelivery marked, and none of what
/// was acknowledged.
///
/// `SEALED_MESSAGES` is the number of messages in all, a million in the long form.
@Suite(.timeLimit(.minutes(60))) struct MailboxStressFaultTests {
    private static let producers = (1...4).map { "p\($0)" }
    private static let count =
        environmentVariable("SEALED_MESSAGES").flatMap { Int($0) } ?? (isLongForm ? 1_000_000 : 6000)
    private static let perProducer = count / producers.count

    let fixture: StoreFixture
    private let log: String
    private let words: [String]

    init() throws {
        fixture = try StoreFixture()
        _ = try fixture.open()
        log = fixture.place.path("log")
        words = [fixture.place.path, fixture.group.identifier]
    }

    /// Sends all messages of a producer, each until its sending has returned; each process is killed with a chance of
    /// one half. The text of a message that a killed process may have sent is sent again.
    private func send(as producer: String) throws -> Set<Int> {
        var acknowledged: Set<Int> = []
        var next = 1
        while next <= Self.perProducer {
            let count = min(Self.perProducer - next + 1, max(400, Self.perProducer / 12))
            let process = try ChildProcess(
                "sealed-probe", ["mail-send"] + words + [producer, "\(next)", "\(count)", "unsynced"])
            // Killed with a chance of one half.
            let last = Bool.random() ? Int.random(in: 0..<count) : Int.max
            var read = 0
            while let line = try process.readLine() {
                if let text = line.split(separator: " ").last.flatMap({ Int($0) }) { acknowledged.insert(text) }
                if read == last { process.kill(SIGKILL) }
                // The readers are behind.
                if line == "quotaExceeded" { usleep(200_000) }
                read += 1
            }
            next = (acknowledged.max() ?? next - 1) + 1
            _ = try process.finish()
        }
        return acknowledged
    }

    private final class Progress: Sendable {
        let finishedProducers = Atomic(0)
        let isOver = Atomic(false)
    }

    /// Starts one reader after the other, and kills each.
    private func read(until progress: Progress) throws {
        while !progress.isOver.load(ordering: .sequentiallyConsistent) {
            let process = try ChildProcess("sealed-probe", ["mail-work"] + words + [log])
            usleep(.random(in: 50_000...1_500_000))
            process.kill(SIGKILL)
            _ = try process.finish()
        }
    }

    /// Waits until every message is handled.
    private func wait(_ progress: Progress) throws {
        defer { progress.isOver.store(true, ordering: .sequentiallyConsistent) }
        while progress.finishedProducers.load(ordering: .sequentiallyConsistent) < Self.producers.count {
            usleep(100_000)
        }
        let access = try MailboxAccess("handed", in: try fixture.open(), .init())
        let end = ContinuousClock.now + .seconds(max(120, Self.perProducer / 100))
        while try access.status().contains(where: { $0.waiting > 0 }), .now < end { usleep(100_000) }
    }

    @Test func randomKillsLoseAndReorderNothing() throws {
        let progress = Progress()
        let results = try concurrently(7) { index -> Set<Int> in
            switch index {
            case 0..<4:
                defer { progress.finishedProducers.add(1, ordering: .sequentiallyConsistent) }
                return try send(as: Self.producers[index])
            case 4: try wait(progress)
            default: try read(until: progress)
            }
            return []
        }
        let sent = try results.map { try $0.get() }
        try check(Dictionary(uniqueKeysWithValues: zip(Self.producers, sent)))
    }

    /// The deliveries of one producer's messages, in the order of the log.
    private struct Deliveries {
        var texts: Set<Int> = []
        var highestText = 0
        /// The highest number: numbers arrive in order, apart from those that are delivered again.
        var highest = 0
        var acknowledged: Set<Int> = []

        mutating func take(_ number: Int, _ text: Int, isAgain: Bool) -> Bool {
            let isNew = number > highest
            // A reader that is killed before it has written its line leaves a number that is new here, and marked.
            let isRight = isNew ? number == highest + 1 && text >= highestText : isAgain
            guard isRight, !acknowledged.contains(number) else { return false }
            texts.insert(text)
            (highest, highestText) = (max(highest, number), max(highestText, text))
            return true
        }
    }

    private func check(_ sent: [String: Set<Int>]) throws {
        var producers: [String: Deliveries] = [:]
        for line in String(decoding: try SystemFile.read(log), as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ").map(String.init)
            guard words.last == "." else { continue }
            if words[1] == "acknowledged" {
                producers[words[0], default: Deliveries()].acknowledged.insert(try #require(Int(words[2])))
                continue
            }
            let (text, number) = (try #require(Int(words[1])), try #require(Int(words[4])))
            let isAgain = words[2] == "again"
            let isRight = producers[words[0], default: Deliveries()].take(number, text, isAgain: isAgain)
            #expect(isRight && words[3] == "0", "\(line)")
        }
        for (producer, numbers) in sent {
            #expect(numbers.count == Self.perProducer)
            #expect(producers[producer]?.texts == numbers)
        }
    }
}
