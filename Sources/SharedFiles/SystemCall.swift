internal import Glibc

/// Runs a system call again while a signal interrupts it, and answers its result or -errno.
///
/// Not for `close`, `fsync` and `fdatasync`: an interrupted close has closed, and a sync that failed once may
/// report success the second time although the data is lost.
@inline(__always)
func uninterrupted(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { return -number }
    }
}

/// The same for calls that answer a byte count.
@inline(__always)
func uninterruptedCount(_ call: () -> Int) -> Int {
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

/// Waits without giving up the thread's place: lock attempts are spaced by this.
func pause(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var request = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    nanosleep(&request, nil)
}
