/// The time that is left for a lock, spent in pauses that grow from 50 microseconds to a millisecond.
///
/// Measured on a clock that can't be set and does not run while the machine sleeps: waking up is no time-out.
struct LockWait {
    /// Who has waited that long stands in line.
    private static let patience = Duration.milliseconds(20)
    /// How long a newcomer holds back for those in line: longer than the longest of their pauses, so that each of them
    /// looks at least once meanwhile.
    private static let courtesy = Duration.milliseconds(2)
    private static let longestPause = Duration.milliseconds(1)

    private let start = SuspendingClock.now
    private let deadline: SuspendingClock.Instant
    private let isCancelled: (() -> Bool)?
    private var delay = Duration.microseconds(50)

    init(timeout: Duration, isCancelled: (() -> Bool)?) {
        deadline = start + timeout
        self.isCancelled = isCancelled
    }

    /// Whether it is time to stand in line.
    var isLong: Bool { SuspendingClock.now - start >= Self.patience }

    /// Pauses once, or throws `cancelled`, or `failure` when the time is used up.
    mutating func step(_ failure: FileError.Code, _ path: @autoclosure () -> String) throws(FileError) {
        try spend(delay, failure, path())
        delay = min(delay * 2, Self.longestPause)
    }

    /// Lets those in line go first, once.
    mutating func giveWay(_ path: @autoclosure () -> String) throws(FileError) {
        try spend(Self.courtesy, .lockTimeout, path())
        delay = Self.longestPause
    }

    private func spend(
        _ duration: Duration, _ failure: FileError.Code, _ path: @autoclosure () -> String
    ) throws(FileError) {
        if isCancelled?() == true { throw FileError(.cancelled, operation: "take the lock", path: path()) }
        let remaining = deadline - SuspendingClock.now
        if remaining <= .zero { throw FileError(failure, operation: "take the lock", path: path()) }
        pause(min(duration, remaining))
    }
}
