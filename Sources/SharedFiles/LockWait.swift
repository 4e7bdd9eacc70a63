/// The time that is left for a lock, spent in pauses that grow from 50 microseconds to 10 milliseconds.
///
/// Measured on a clock that can't be set and does not run while the machine sleeps: waking up is no time-out.
struct LockWait {
    private let deadline: SuspendingClock.Instant
    private let isCancelled: (() -> Bool)?
    private var delay = Duration.microseconds(50)

    init(timeout: Duration, isCancelled: (() -> Bool)?) {
        deadline = SuspendingClock.now + timeout
        self.isCancelled = isCancelled
    }

    /// Pauses once, or throws `cancelled`, or `failure` when the time is used up.
    mutating func step(_ failure: FileError.Code, _ path: @autoclosure () -> String) throws(FileError) {
        if isCancelled?() == true { throw FileError(.cancelled, operation: "take the lock", path: path()) }
        let remaining = deadline - SuspendingClock.now
        if remaining <= .zero { throw FileError(failure, operation: "take the lock", path: path()) }
        pause(min(delay, remaining))
        delay = min(delay * 2, .milliseconds(10))
    }
}
