import FoundationEssentials
import SealedState
import Testing

/// Tests of freshness, the only decision that depends on the clock.
@Suite struct FreshnessTests {
    let fixture: StoreFixture
    let clock = TestClock()
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open { [clock] options in options.now = { clock.now } }
    }

    private var refused: StoreError.Code? { code { _ = try store.read(Note.self) } }

    @Test func aValueIsStaleFromItsEndOn() throws {
        try store.write(Note(text: "x", expiresAt: clock.now + 60))
        clock.advance(by: 59.999)
        #expect(refused == nil)
        clock.advance(by: 0.001)
        #expect(refused == .stale)
        #expect(store.readIfValid(Note.self) == nil)
    }

    @Test func theHeadersEndCountsAsWell() throws {
        var forgery = try Forgery(store)
        forgery.sealedAt = clock.now
        forgery.notAfter = clock.now + 60
        try fixture.plant(forgery.blob)
        #expect(refused == nil)
        clock.advance(by: 60)
        #expect(refused == .stale)
    }

    @Test func aTypesMaximumAgeCounts() throws {
        try store.write(Note(text: "x"))
        clock.advance(by: 3600)
        #expect(refused == nil)
        clock.advance(by: 0.1)
        #expect(refused == .stale)
    }

    @Test func aTypeWithoutLimitsNeverGoesStale() throws {
        try store.write(WidgetAuthState(isAuthenticated: false))
        clock.advance(by: 1e9)
        #expect(throws: Never.self) { try store.read(WidgetAuthState.self) }
    }

    @Test func aStampFromTheFutureIsRefusedBeyondTheSkew() throws {
        try store.write(Note(text: "x"))
        clock.advance(by: -5)
        #expect(refused == nil)
        clock.advance(by: -1)
        #expect(refused == .notYetValid)
        clock.advance(by: 6)
        #expect(refused == nil)
    }

    // 5 June ......... the writer's clock jumps a year ahead: write, write
    // 5 June ......... the clock is right again: a newer write replaces them all the same
    @Test func orderNeverFollowsTheClock() throws {
        clock.advance(by: 3e7)
        try store.write(Note(text: "ahead"))
        clock.advance(by: -3e7)
        #expect(refused == .notYetValid)
        #expect(try store.write(Note(text: "right")) == 2)
        #expect(try store.read(Note.self).text == "right")
    }

    @Test func aStaleValueIsStillAccepted() throws {
        // Otherwise a member could replace every expired state with an older one that has not expired yet.
        try store.write(Note(text: "old"))
        let old = try fixture.blob()
        try store.write(Note(text: "new", expiresAt: clock.now + 60))
        clock.advance(by: 61)
        #expect(refused == .stale)
        try fixture.plant(old)
        #expect(refused == .replayed)
    }

    @Test(arguments: [-1e300, -1, 0, 1e300]) func everyEndIsCompared(_ seconds: Double) throws {
        struct Odd: SealedRecord {
            static let recordName = "odd"
            static let schemaVersion = 1
            var seconds: Double
            var expiresAt: Date? { Date(timeIntervalSince1970: seconds) }
        }
        let written = code { try store.write(Odd(seconds: seconds)) }
        if seconds > 1e15 {
            #expect(written == .unencodable)
        } else {
            #expect(written == nil)
            #expect(code { _ = try store.read(Odd.self) } == .stale)
        }
    }

    // From a program of another version, or a computed expiry: a state must not be valid for ever by accident.
    @Test(arguments: [Double.nan, .infinity, -.infinity]) func anExpiryThatIsNotADateIsRefused(_ seconds: Double) throws
    {
        struct Plain: SealedRecord {
            static let recordName = "odd"
            static let schemaVersion = 1
            var seconds: String
        }
        struct Odd: SealedRecord {
            static let recordName = "odd"
            static let schemaVersion = 1
            var seconds: String
            var expiresAt: Date? { Date(timeIntervalSince1970: Double(seconds) ?? 0) }
        }
        #expect(code { try store.write(Odd(seconds: "\(seconds)")) } == .unencodable)
        try store.write(Plain(seconds: "\(seconds)"))
        #expect(throws: Never.self) { try store.read(Plain.self) }
        #expect(code { _ = try store.read(Odd.self) } == .invalid)
    }
}
