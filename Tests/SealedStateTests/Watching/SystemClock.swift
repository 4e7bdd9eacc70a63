import Glibc

/// The machine's clock, set to its current time: harmless, but an event for watchers.
enum SystemClock {
    /// A Boolean value: this process may set the clock.
    static let canBeSet = set()

    @discardableResult
    static func set() -> Bool {
        var now = timespec()
        return clock_gettime(CLOCK_REALTIME, &now) == 0 && clock_settime(CLOCK_REALTIME, &now) == 0
    }
}
