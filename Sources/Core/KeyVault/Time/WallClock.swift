internal import Glibc

/// The time of day, for dates that are shown and never decide anything.
enum WallClock {
    /// Milliseconds since 1970.
    static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return UInt64(max(0, now.tv_sec)) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }
}
