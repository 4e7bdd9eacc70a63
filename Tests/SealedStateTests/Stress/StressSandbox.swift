import AppGroups
import Glibc
import Synchronization
import TestSupport
import Testing

/// Processes that write, read and watch four records at once, while they are killed, stopped and woken at random.
final class StressSandbox: Sendable {
    static let records = 4
    static let writers = 8

    let fixture: StoreFixture
    /// The seed of the kills and their times, set by `SEALED_SEED`. The scheduling of the processes is not
    /// reproducible.
    let seed: UInt64
    private let writersLeft = Mutex(writers)
    private let final: Mutex<[FinalRecord]> = Mutex([])

    init() throws {
        fixture = try StoreFixture()
        seed = environmentVariable("SEALED_SEED").flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
        // The vault is made before any process is killed; other tests interrupt its creation.
        _ = try fixture.open()
    }

    var comment: Comment { "SEALED_SEED=\(seed)" }

    /// The last state of every record.
    var lastStates: [FinalRecord] { final.withLock { $0 } }

    func start(_ command: String, _ words: String...) throws -> ChildProcess {
        try ChildProcess("sealed-probe", [command, fixture.place.path, fixture.group.identifier] + words)
    }

    /// Runs one writer's processes one after another until that many writes were acknowledged.
    func write(_ slot: Int, acknowledgements wanted: Int) throws -> WriterLog {
        defer { finish() }
        var random = SeededGenerator(seed: seed &+ UInt64(slot))
        var log = WriterLog()
        while log.acknowledged.count < wanted {
            let child = try start("stress-write", "\(slot)", "\(random.next() >> 32)")
            for _ in 0..<Int.random(in: 1...40, using: &random) {
                try log.note(try child.readLine())
                try child.disturb(using: &random)
            }
            for line in try child.end(using: &random) { try log.note(line) }
            log.kills += 1
        }
        return log
    }

    /// Runs one reader's or watcher's processes one after another until each record's last state was seen.
    func look(_ slot: Int, _ command: String) throws -> ReaderLog {
        var random = SeededGenerator(seed: seed &+ UInt64(slot))
        var log = ReaderLog()
        while !log.isComplete {
            let child = try start(command, "\(random.next() >> 32)")
            for _ in 0..<Int.random(in: 1...60, using: &random) where !log.isComplete {
                try log.note(try child.readLine())
                try child.disturb(using: &random)
            }
            for line in try child.end(using: &random) { try log.note(line) }
        }
        return log
    }

    /// Changes every record a last time, if this writer is the last one.
    private func finish() {
        let isLast = writersLeft.withLock { left in
            left -= 1
            return left == 0
        }
        guard isLast, let text = try? fixture.probe("stress-finish") else { return }
        final.withLock { $0 = text.split(separator: "\n").compactMap { FinalRecord(String($0)) } }
    }
}

/// A record's last sequence, and the number of changes by each writer.
struct FinalRecord {
    let sequence: UInt64
    let counts: [Int]

    init?(_ line: String) {
        let words = line.split(separator: " ")
        guard words.count == 12, words[0] == "last", let sequence = UInt64(words[2]) else { return nil }
        (self.sequence, counts) = (sequence, words[3...].compactMap { Int($0) })
    }
}

extension ChildProcess {
    /// Stops the process for a moment at random.
    fileprivate func disturb(using random: inout SeededGenerator) throws {
        guard random.next() % 12 == 0 else { return }
        kill(SIGSTOP)
        try waitUntilStopped()
        usleep(UInt32(random.next() % 20_000))
        kill(SIGCONT)
    }

    /// Kills the process after a moment; returns the whole lines that it still wrote.
    fileprivate func end(using random: inout SeededGenerator) throws -> [String] {
        usleep(UInt32(random.next() % 4000))
        kill(SIGKILL)
        let lines = try finish().outputText.split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropLast().map(String.init)
    }
}
