internal import Glibc

/// Repeats a system call while signals interrupt it; returns its result or -errno.
///
/// Not for `close`, `fsync` and `fdatasync`: an interrupted close has closed, and a sync that failed once may report
/// success the second time although the data is lost.
@inline(__always)
package func uninterrupted(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { return -number }
    }
}

/// Does the same for calls that return a byte count.
@inline(__always)
package func uninterruptedCount(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { return -Int(number) }
    }
}

/// Waits until a non-blocking descriptor is ready; standard streams inherit that flag from the parent process.
func awaitReadiness(_ descriptor: Int32, _ events: Int16) {
    var request = pollfd(fd: descriptor, events: events, revents: 0)
    _ = poll(&request, 1, -1)
}

/// Waits until a descriptor has input or reached its end.
///
/// - Returns: `false` if the deadline came first.
func awaitInput(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
        let (seconds, attoseconds) = (deadline - ContinuousClock.now).components
        let milliseconds = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let result = poll(&request, 1, Int32(min(milliseconds + 1, 60_000)))
        // For a descriptor that cannot be polled, the following read reports the error.
        if result > 0 || (result < 0 && errno != EINTR) { return true }
        if ContinuousClock.now >= deadline { return false }
    }
}

/// Sleeps for a duration, for example between lock attempts.
package func pause(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var request = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    nanosleep(&request, nil)
}

/// The pause before files are read again that another program may be replacing one after the other.
package enum RacePause {
    /// Waits 5 ms, several times as long as replacing two files takes.
    package static func wait() { pause(.milliseconds(5)) }
}
