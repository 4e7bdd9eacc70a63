import Glibc

/// The clock of the machine, set to what it shows: harmless, and an event all the same.
enum SystemClock {
    /// Whether this process may set it.
    static let canBeSet = set()

    @discardableResult
    static func set() -> Bool {
        var now = timespec()
        return clock_gettime(CLOCK_REALTIME, &now) == 0 && clock_settime(CLOCK_REALTIME, &now) == 0
    }
}
