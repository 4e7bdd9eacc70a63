import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of a member that removes the lock file repeatedly while eight others write.
///
/// Guaranteed: no torn state, no rollback of a state that a reader has accepted, no sequence acknowledged twice, and an
/// error (`lockLost`) for each writer that may have overwritten another's value. Not guaranteed: an update can be lost.
@Suite(.timeLimit(.minutes(30))) struct LockRobberyFaultTests {
    /// A writer's line: `ack RECORD COUNT SEQUENCE` or `failed RECORD CODE`.
    private struct WriterLine: Sendable {
        let writer: Int
        let words: [Substring]
        var isAcknowledged: Bool { words.first == "ack" && words.count == 4 }
        var code: String? { words.first == "failed" ? words.last.map(String.init) : nil }
        /// The record and its sequence.
        var place: [Substring] { [words[1], words[3]] }
    }

    private static let rounds = isLongForm ? 3000 : 60
    /// The errors that a robbed writer may get. A complete new file has one name: of two robbed writers the second can
    /// remove the first one's file before it is renamed (`file`).
    private static let refusals = notices.union(["lockTimeout", "file"])
    /// The errors that report a possibly lost update.
    private static let notices: Set = ["lockLost", "forked", "replayed"]

    // writers: lock, read, add one, write, lock … error if the lock file was replaced in between
    // member:  ……… removes it ……… puts another one there ……… removes it ………
    // reader:  whole states, never an older one
    @Test(arguments: [false, true]) func nothingIsTornAndWhatMayBeLostIsReported(_ isReplaced: Bool) throws {
        let sandbox = try StressSandbox()
        let writing = Mutex(StressSandbox.writers)
        let results = try concurrently(StressSandbox.writers + 2) { slot -> [WriterLine] in
            let isOver = { writing.withLock { $0 == 0 } }
            if slot == StressSandbox.writers { try Self.rob(sandbox.fixture, replacing: isReplaced, until: isOver) }
            if slot > StressSandbox.writers { try Self.read(sandbox, until: isOver) }
            if slot >= StressSandbox.writers { return [] }
            defer { writing.withLock { $0 -= 1 } }
            return try Self.write(slot, sandbox)
        }
        try judge(try results.flatMap { try $0.get() }, sandbox)
    }

    private static func write(_ slot: Int, _ sandbox: StressSandbox) throws -> [WriterLine] {
        let writer = try sandbox.start("stress-write", "\(slot)", "\(sandbox.seed >> 32 &+ UInt64(slot))")
        return try (0..<rounds).map { _ in
            WriterLine(writer: slot, words: try #require(try writer.readLine()).split(separator: " "))
        }
    }

    private static func rob(_ fixture: StoreFixture, replacing: Bool, until isOver: () -> Bool) throws {
        let lock = fixture.container + "/.sealedstate.lock"
        while !isOver() {
            if replacing {
                try SystemFile.write(fixture.place.path("other"), [])
                rename(fixture.place.path("other"), lock)
            } else {
                unlink(lock)
            }
            usleep(.random(in: 0...3000))
        }
    }

    private static func read(_ sandbox: StressSandbox, until isOver: () -> Bool) throws {
        let reader = try sandbox.start("stress-read", "7")
        // A lost update shows in the sum; a state that two writers have written is refused until a plain write.
        let allowed: Set = ["lost", "forked", "replayed"]
        while !isOver() {
            // Silence during that time is no failure.
            guard let line = try? reader.readLine(timeLimit: .milliseconds(200)) else { continue }
            let words = line.split(separator: " ")
            guard words.first == "seen" || allowed.contains(words.last.map(String.init) ?? "") else {
                throw StressFailure("a reader said", line)
            }
        }
    }

    private func judge(_ sayings: [WriterLine], _ sandbox: StressSandbox) throws {
        let codes = Set(sayings.compactMap(\.code))
        // Not empty: the robbery took effect.
        #expect(!codes.isEmpty && codes.isSubset(of: Self.refusals), "\(codes)")
        let acknowledged = sayings.filter(\.isAcknowledged)
        #expect(acknowledged.count + sayings.count(where: { $0.code != nil }) == sayings.count)
        #expect(Set(acknowledged.map(\.place)).count == acknowledged.count)
        if try isLost(acknowledged, sandbox) { #expect(!codes.isDisjoint(with: Self.notices), "\(codes)") }

        // A plain write ends any remaining state, above everything that was acknowledged.
        let store = try sandbox.fixture.open()
        for record in 0..<StressSandbox.records {
            let highest =
                acknowledged.filter { $0.words[1] == "\(record)" }.compactMap { UInt64($0.words[3]) }.max() ?? 0
            #expect(try store.write(ProbeRecord(number: record), named: "stress/\(record)") > highest)
            #expect(try store.read(ProbeRecord.self, named: "stress/\(record)").number == record)
        }
    }

    /// Returns whether the readable records contain less than was acknowledged.
    private func isLost(_ acknowledged: [WriterLine], _ sandbox: StressSandbox) throws -> Bool {
        let states = try sandbox.fixture.probe("stress-finish").split(separator: "\n").map { FinalRecord(String($0)) }
        return acknowledged.contains { saying in
            guard let record = Int(saying.words[1]), let count = Int(saying.words[2]), record < states.count,
                let state = states[record]
            else { return false }
            return state.counts[saying.writer] < count
        }
    }
}
