internal import Synchronization

/// Tells how far an audit is, a few times a second at most.
final class ProgressMeter: Sendable {
    private struct State {
        var files = 0
        var bytes: Int64 = 0
        var next: ContinuousClock.Instant
    }

    private static let interval = Duration.milliseconds(100)

    private let listener: (@Sendable (AuditProgress) -> Void)?
    private let total: Int?
    private let state = Mutex(State(next: .now))

    /// - Parameter total: How many there are in all; nil while that is not known.
    init(_ listener: (@Sendable (AuditProgress) -> Void)?, total: Int?) {
        self.listener = listener
        self.total = total
    }

    /// Counts files that are done. The listener runs under the lock, so that what it is told never goes back.
    func add(files: Int, bytes: Int64, findings: Int) {
        guard let listener else { return }
        state.withLock { state in
            state.files += files
            state.bytes += bytes
            let now = ContinuousClock.now
            guard now >= state.next || state.files == total else { return }
            state.next = now + Self.interval
            listener(
                AuditProgress(files: state.files, totalFiles: total, bytes: state.bytes, findings: findings))
        }
    }
}
