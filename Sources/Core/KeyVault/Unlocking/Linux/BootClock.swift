internal import Glibc

/// The time since the machine started, sleep included: nobody can set it, and a sleeping machine does not stay unlocked.
package enum BootClock {
    /// Milliseconds, `CLOCK_BOOTTIME` of clock_gettime(2).
    package static func milliseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return UInt64(now.tv_sec) * 1000 + UInt64(now.tv_nsec) / 1_000_000
    }
}
