import FoundationEssentials
import TestSupport
import Testing

@testable import SealedState

/// Tests of clocks that are wrong or set: the order is unaffected, the future is refused, expired states stay expired.
@Suite struct ClockTests {
    private struct ClockRecord: SealedRecord {
        static let recordName = "clock"
        static let schemaVersion = 1
        var expiresAt: Date?
    }

    private static let tenYears = 315_576_000.0

    let fixture: StoreFixture
    let clock = TestClock()
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open { [clock] options in options.now = { clock.now } }
    }

    private var refused: StoreError.Code? { code { _ = try store.read(ClockRecord.self) } }

    private func marksSize() throws -> Int { try SystemFacts(fixture.marks).size }

    /// Returns the answers of other processes whose clocks are off by these offsets, in seconds.
    private func others(_ offsets: Double...) throws -> [String] {
        let times = offsets.map { "\(clock.now.timeIntervalSince1970 + $0)" }
        let words = ["clock-read", fixture.place.path, fixture.group.identifier] + times
        return try ChildProcess.run("sealed-probe", words).outputText.split(separator: "\n").map(String.init)
    }

    // MARK: One process

    @Test(arguments: [61, 3600, tenYears]) func aClockThatIsSetBackRevivesNothing(_ seconds: Double) throws {
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        #expect(refused == nil)
        clock.advance(by: seconds)
        #expect(refused == .stale)
        clock.advance(by: -seconds)
        for _ in 0..<3 { #expect(refused == .stale) }
        clock.advance(by: -3)
        #expect(refused == .stale)
    }

    @Test func aClockThatWasBehindHarmsNothing() throws {
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        clock.advance(by: -Self.tenYears)
        #expect(refused == .notYetValid)
        clock.advance(by: Self.tenYears)
        #expect(refused == nil)
    }

    @Test func aValueWrittenAfterAWrongClockIsJudgedByItsOwnTime() throws {
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        clock.advance(by: Self.tenYears)
        #expect(refused == .stale)
        clock.advance(by: -Self.tenYears)
        #expect(refused == .stale)
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        #expect(refused == nil)
        clock.advance(by: 60)
        #expect(refused == .stale)
    }

    @Test func aValueWithoutAnExpiryNeverGoesStale() throws {
        try store.write(ClockRecord())
        clock.advance(by: Self.tenYears)
        #expect(refused == nil)
        clock.advance(by: -Self.tenYears)
        #expect(refused == nil)
    }

    @Test func aMaximumAgeIsHeldToAsWell() throws {
        try store.write(Note(text: "x"))
        clock.advance(by: 3601)
        #expect(code { _ = try store.read(Note.self) } == .stale)
        clock.advance(by: -3601)
        #expect(code { _ = try store.read(Note.self) } == .stale)
    }

    @Test func aStaleReadIsRememberedOnce() throws {
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        let before = try marksSize()
        clock.advance(by: 61)
        for _ in 0..<5 { #expect(refused == .stale) }
        #expect(try marksSize() == before + 128)
        clock.advance(by: Self.tenYears)
        for _ in 0..<5 { #expect(refused == .stale) }
        #expect(try marksSize() == before + 128)
        #expect(try others(0, -30, 60) == ["stale", "stale", "stale"])
        #expect(try marksSize() == before + 128)
    }

    // MARK: Across processes

    @Test func anotherProcessSeesWhatWasStaleBefore() throws {
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        #expect(try others(0, Self.tenYears, 0) == ["valid", "stale", "stale"])
        #expect(try others(0) == ["stale"])
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        #expect(try others(0, 59, -Self.tenYears, 0) == ["valid", "valid", "notYetValid", "valid"])
    }

    @Test func orderIsUnaffectedRegardlessOfTheClock() throws {
        var blobs: [[UInt8]] = []
        for offset in [0, Self.tenYears, -2 * Self.tenYears, Self.tenYears] {
            clock.advance(by: offset)
            try store.write(ClockRecord())
            blobs.append(try fixture.blob("clock"))
        }
        #expect(refused == nil)
        for old in blobs.dropLast() {
            try fixture.plant(old, "clock")
            #expect(refused == .replayed)
            #expect(try others(0, Self.tenYears, -Self.tenYears) == ["replayed", "replayed", "replayed"])
        }
    }

    // MARK: The next change

    @Test func theNextChangeIsTheEarliestEnd() throws {
        try store.write(ClockRecord())
        #expect(store.reader.nextChange(of: try store.snapshot(of: ClockRecord.self)) == nil)
        try store.write(ClockRecord(expiresAt: clock.now + 60))
        let snapshot = try store.snapshot(of: ClockRecord.self)
        let change = try #require(store.reader.nextChange(of: snapshot)).timeIntervalSince(clock.now)
        #expect(change > 59 && change <= 60.002)
        try store.write(Note(text: "x", expiresAt: clock.now + 7200))
        let note = try store.snapshot(of: Note.self)
        let age = try #require(store.reader.nextChange(of: note)).timeIntervalSince(clock.now)
        #expect(age > 3590 && age <= 3600.002)
    }

    @Test func atTheNextChangeTheAnswerIsAnother() throws {
        try store.write(Note(text: "x"))
        let change = try #require(store.reader.nextChange(of: try store.snapshot(of: Note.self)))
        clock.advance(by: change.timeIntervalSince(clock.now))
        #expect(code { _ = try store.read(Note.self) } == .stale)
    }

    @Test func aValueOfTheFutureStatesItsTime() throws {
        try store.write(ClockRecord(expiresAt: clock.now + 600))
        #expect(store.reader.nextChange(ofRefused: "clock") == nil)
        clock.advance(by: -100)
        #expect(refused == .notYetValid)
        let change = try #require(store.reader.nextChange(ofRefused: "clock"))
        #expect(change.timeIntervalSince(clock.now) > 94 && change.timeIntervalSince(clock.now) <= 95)
        clock.advance(by: 95)
        #expect(refused == nil)
        #expect(store.reader.nextChange(ofRefused: "nothing") == nil)
    }
}
