#if Service
public import Logging
import SealedState
internal import Synchronization

/// Logs a line for each rejection: the record, the code, the check and the code's meaning; never contents.
///
/// Rejections without a fault (`stale`, `notYetValid`, `tooNew`, `tooOld`, `unsupportedFormat`) are notices, all others
/// warnings. Repeated rejections of the same record are logged at `debug`, so that a writer to the container cannot
/// fill the program's log.
public final class RejectionLogger: Sendable {
    /// The time during which repetitions of a record's rejection are logged at `debug`.
    public static let pause: Duration = .seconds(60)
    /// The limit on distinct records, at which the memory is reset.
    private static let capacity = 1024

    private struct Line: Hashable {
        let record: String
        let code: StoreError.Code
    }

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let lines = Mutex<[Line: ContinuousClock.Instant]>([:])

    /// Creates a logger of rejections that uses a program's logger.
    public convenience init(_ logger: Logger) {
        self.init(logger, now: { ContinuousClock.now })
    }

    init(_ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.logger = logger
        self.now = now
    }

    /// Logs a rejection, as a value for `StoreOptions.onRejection`.
    public func log(_ error: StoreError) {
        // The reason is omitted, because a record's own rules write it and may include contents.
        logger.log(
            level: level(of: error), "\(error.isRejection ? "record refused" : "no copy in quarantine")",
            metadata: [
                "record": "\(error.subject)", "code": "\(error.code.rawValue)",
                "check": "\(error.code.check?.rawValue ?? "none")", "meaning": "\(error.code.explanation)",
            ])
    }

    private func level(of error: StoreError) -> Logger.Level {
        let line = Line(record: error.subject, code: error.code)
        let now = now()
        let isRepeated = lines.withLock { lines in
            if let logged = lines[line], logged.duration(to: now) < Self.pause { return true }
            if lines.count >= Self.capacity { lines.removeAll() }
            lines[line] = now
            return false
        }
        return isRepeated ? .debug : error.code.isExpected ? .notice : .warning
    }
}
#endif
