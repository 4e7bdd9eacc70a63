/// Where the wall clock stood at one moment, against the time since the machine started.
///
/// Nobody can set the time since the start. Added to the anchor it tells what the wall clock would show now if it had not
/// been set since, so a clock that is set back makes nothing young again before the next restart.
package struct ClockAnchor: Hashable, Sendable, Comparable {
    /// Wall clock minus `CLOCK_BOOTTIME`, in milliseconds; 0 means unknown.
    let milliseconds: Int64

    /// Nothing is known.
    package static let unknown = ClockAnchor(milliseconds: 0)

    init(milliseconds: Int64) { self.milliseconds = milliseconds }

    /// Of a wall clock that shows so many seconds since 1970 now. Rounded so that it is never ahead of that clock.
    package init(atMost seconds: Double) { self.init(seconds, .down, correction: -1) }

    /// The same, rounded so that it is never behind that clock.
    package init(atLeast seconds: Double) { self.init(seconds, .up, correction: 0) }

    /// What a header can hold, and far more than a clock shows; a clock that shows no number tells nothing.
    private static let range = -9e15...9e15

    private init(_ seconds: Double, _ rule: FloatingPointRoundingRule, correction: Int64) {
        let wall = (seconds * 1000).rounded(rule)
        guard wall.isFinite else {
            self = .unknown
            return
        }
        let clamped = Int64(min(max(wall, Self.range.lowerBound), Self.range.upperBound))
        let anchor = clamped - Int64(BootClock.milliseconds()) + correction
        milliseconds = anchor == 0 ? 1 + 2 * correction : anchor
    }

    package var isKnown: Bool { self != .unknown }

    /// Seconds since 1970 as that clock would show them now; nil where nothing is known.
    package var now: Double? {
        guard isKnown else { return nil }
        return (Double(milliseconds) + Double(BootClock.milliseconds())) / 1000
    }

    /// The later clock is the greater anchor; an unknown one is below all.
    package static func < (first: ClockAnchor, second: ClockAnchor) -> Bool {
        guard first.isKnown, second.isKnown else { return !first.isKnown && second.isKnown }
        return first.milliseconds < second.milliseconds
    }
}
