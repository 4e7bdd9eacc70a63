import Testing

@testable import KeyVault

/// Tests of a clock that cannot be set back.
@Suite struct ClockAnchorTests {
    @Test(
        arguments: [0, 1, -1, 1.0004, 1_800_000_000, 1_800_000_000.9999, -62_135_596_800, 253_402_300_800] as [Double])
    func anAnchorIsNeverAheadOfItsClockNorBehindIt(_ seconds: Double) throws {
        // The check covers the times before and after, because the time since the start advances meanwhile.
        let early = try #require(ClockAnchor(atMost: seconds).now)
        let start = BootClock.milliseconds()
        let late = try #require(ClockAnchor(atLeast: seconds).now)
        let end = BootClock.milliseconds()
        let elapsed = Double(end - start) / 1000 + 0.0025
        #expect(early <= seconds + elapsed)
        #expect(late >= seconds - 0.000_001 && late <= seconds + elapsed)
    }

    @Test(arguments: [.nan, .infinity, -.infinity] as [Double]) func aClockWithoutANumberShowsNothing(_ seconds: Double)
    {
        #expect(ClockAnchor(atMost: seconds) == .unknown)
        #expect(ClockAnchor(atLeast: seconds).now == nil)
    }

    @Test(arguments: [1e300, -1e300, 9.2e18, -9.2e18]) func noClockIsTooFarOff(_ seconds: Double) throws {
        let now = try #require(ClockAnchor(atLeast: seconds).now)
        #expect((now < 0) == (seconds < 0))
    }

    @Test func theLaterClockIsTheGreaterAnchor() {
        let anchors = [.unknown, ClockAnchor(milliseconds: -5), ClockAnchor(milliseconds: 5)]
        #expect(anchors.shuffled().sorted() == anchors)
        #expect(max(.unknown, anchors[1]) == anchors[1])
    }
}
