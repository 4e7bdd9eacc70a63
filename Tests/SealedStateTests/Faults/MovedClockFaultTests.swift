import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of programs whose wall clock is off by ten years.
@Suite(.enabled(if: Interposer.isPossible, "needs a C compiler"), .timeLimit(.minutes(10)))
struct MovedClockFaultTests {
    private static let tenYears = 315_576_000

    let fixture: StoreFixture
    init() throws { fixture = try StoreFixture() }

    private func probe(_ years: Int, _ words: String...) throws -> String {
        let arguments = [words[0], fixture.place.path, fixture.group.identifier] + words.dropFirst()
        let variables = Interposer.variables(["SEALED_CLOCK": "\(years / 10 * Self.tenYears)"])
        return try ChildProcess.run("sealed-probe", arguments, environment: variables).outputText.trimmingNewlines
    }

    // clock:  now      | ten years on        | now             | ten years back       | now
    // writer: 1        | 2                   | 3               | 4                    |
    // reader: 1        | 2, and now: refused | 3, not refused  | 4                    | 4
    @Test func theOrderIsUnaffectedAndTheFutureIsRefused() throws {
        #expect(try probe(0, "store-write", "1", "1", "durable") == "written 1")
        #expect(try probe(10, "store-read") == "1 1 1")
        #expect(try probe(10, "store-write", "2", "1", "durable") == "written 2")
        #expect(try probe(10, "store-read") == "2 1 2")
        #expect(try probe(0, "store-read") == "notYetValid")
        // An update would build on the refused state.
        #expect(try probe(0, "store-change", "update", "9") == "notYetValid")
        #expect(try probe(0, "store-write", "3", "1", "durable") == "written 3")
        #expect(try probe(0, "store-read") == "3 1 3")
        #expect(try probe(-10, "store-read") == "notYetValid")
        #expect(try probe(-10, "store-write", "4", "1", "durable") == "written 4")
        for years in [-10, 0, 10] { #expect(try probe(years, "store-read") == "4 1 4") }
    }

    // A: clock ten years on: expired       | back: still expired
    // B: valid                             | never moved: expired as well, soon
    @Test func aRecordThatExpiredForOneReaderIsExpiredForAll() throws {
        let store = try fixture.open()
        let end = store.options.now() + 3600
        try store.write(ExpiringRecord(expiresAt: end), named: "clock")
        let now = "\(store.options.now().timeIntervalSince1970)"
        #expect(try fixture.probe("clock-read", now) == "valid")
        #expect(try fixture.probe("clock-read", "\(end.timeIntervalSince1970 + Double(Self.tenYears))") == "stale")
        #expect(try fixture.probe("clock-read", now) == "stale")
        // A store that has read it before and never had that clock checks the results of others once a second.
        while code({ _ = try store.read(ExpiringRecord.self, named: "clock") }) == nil { usleep(10_000) }
        #expect(code { _ = try fixture.open().read(ExpiringRecord.self, named: "clock") } == .stale)
    }

    private struct ExpiringRecord: SealedRecord {
        static let recordName = "clock"
        static let schemaVersion = 1
        var expiresAt: Date?
    }

    // writers: one by each clock, in turn  | order is the sequence's
    // reader:  by its own clock            | never an older one
    @Test func concurrentWritersWithOtherClocksKeepOneOrder() throws {
        #expect(try probe(0, "store-write", "1", "1", "durable") == "written 1")
        let fixture = fixture
        let variables = [-10, 0, 10].map { Interposer.variables(["SEALED_CLOCK": "\($0 / 10 * Self.tenYears)"]) }
        let rounds = isLongForm ? 100 : 8
        let answers = try concurrently(3) { slot in
            try (0..<rounds).map { round in
                let words = ["store-write", fixture.place.path, fixture.group.identifier, "\(round)", "1", "unsynced"]
                return try ChildProcess.run("sealed-probe", words, environment: variables[slot])
                    .outputText.trimmingNewlines
            }
        }
        let sequences = try answers.map { try $0.get().compactMap { Int($0.split(separator: " ").last ?? "") } }
        for row in sequences { #expect(row == row.sorted() && row.count == rounds) }
        #expect(sequences.flatMap { $0 }.sorted() == Array(2...rounds * 3 + 1))
    }
}
