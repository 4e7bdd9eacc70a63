import FoundationEssentials
import SealedState
import Testing

/// Tests of a suite that was stamped by a clock that was ahead.
@Suite("SealedDefaults: clocks") struct DefaultsClockTests {
    let sandbox: DefaultsSandbox
    let clock = TestClock(Date())

    init() throws { sandbox = try DefaultsSandbox() }

    private func open() throws -> SealedDefaults {
        try sandbox.again { [clock, place = sandbox.fixture.place] options in
            options.now = { withExtendedLifetime(place) { clock.now } }
        }
    }

    @Test func aStampOfTheFutureIsRefusedByEveryReaderAndRepairedByTheNextChange() throws {
        let writer = try open()
        clock.advance(by: 86_400)
        try writer.set(1, forKey: "key")
        #expect(try writer.integer(forKey: "key") == 1)
        clock.advance(by: -86_400)
        // The second one already has the suite in memory.
        for defaults in [writer, try open()] {
            #expect(code { _ = try defaults.integer(forKey: "key") } == .notYetValid)
        }
        try open().set(2, forKey: "other")
        for defaults in [writer, try open()] {
            #expect(try defaults.integer(forKey: "key") == 1 && defaults.integer(forKey: "other") == 2)
        }
    }

    @Test func aRefusedStampIsOfTheFutureOnlyUntilThen() throws {
        clock.advance(by: 86_400)
        try open().set(1, forKey: "key")
        clock.advance(by: -86_400)
        let reader = try open()
        #expect(code { _ = try reader.integer(forKey: "key") } == .notYetValid)
        clock.advance(by: 86_400)
        #expect(try reader.integer(forKey: "key") == 1)
    }
}
