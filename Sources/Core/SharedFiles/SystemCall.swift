internal import Glibc

/// Runs a system call again while a signal interrupts it, and answers its result or -errno.
///
/// Not for `close`, `fsync` and `fdatasync`: an interrupted close has closed, and a sync that failed once may
/// report success the second time although the data is lost.
@inline(__always)
package func uninterrupted(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { return -number }
    }
}

/// The same for calls that answer a byte count.
@inline(__always)
package func uninterruptedCount(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { return -Int(number) }
    }
}

/// Waits until a non-blocking descriptor is ready; standard streams inherit that flag from whoever started us.
func awaitReadiness(_ descriptor: Int32, _ events: Int16) {
    var request = pollfd(fd: descriptor, events: events, revents: 0)
    _ = poll(&request, 1, -1)
}

/// Waits until something can be read from a descriptor, or its end was reached.
///
/// - Returns: `false` if the deadline came first.
func awaitInput(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
        let (seconds, attoseconds) = (deadline - ContinuousClock.now).components
        let milliseconds = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let result = poll(&request, 1, Int32(min(milliseconds + 1, 60_000)))
        // What cannot be polled is not waited for: the read that follows says why.
        if result > 0 || (result < 0 && errno != EINTR) { return true }
        if ContinuousClock.now >= deadline { return false }
    }
}

/// Waits without giving up the thread's place: lock attempts are spaced by this.
package func pause(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var request = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    nanosleep(&request, nil)
}

/// The wait before files are read again that another program may be replacing, one after the other.
package enum RacePause {
    /// Waits 5 ms: some times what two replaced files take.
    package static func wait() { pause(.milliseconds(5)) }
}
