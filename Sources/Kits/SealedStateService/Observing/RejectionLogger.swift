#if Service
public import Logging
import SealedState
internal import Synchronization

/// Writes a line for each rejection: record, code and check, and what the code means; never contents.
///
/// What nobody is to blame for (`stale`, `notYetValid`, `tooNew`, `tooOld`, `unsupportedFormat`) is a notice, everything
/// else a warning. A program that reads a refused record again and again repeats itself at `debug`, so that whoever can
/// write to the container can't fill its log.
public final class RejectionLogger: Sendable {
    /// How long the same rejection of the same record is only repeated at `debug`.
    public static let pause: Duration = .seconds(60)
    /// How many records are told apart; beyond it the memory starts anew.
    private static let capacity = 1024

    private struct Line: Hashable {
        let record: String
        let code: StoreError.Code
    }

    private let logger: Logger
    private let now: @Sendable () -> ContinuousClock.Instant
    private let lines = Mutex<[Line: ContinuousClock.Instant]>([:])

    /// A logger of rejections on top of a program's logger.
    public convenience init(_ logger: Logger) {
        self.init(logger, now: { ContinuousClock.now })
    }

    init(_ logger: Logger, now: @escaping @Sendable () -> ContinuousClock.Instant) {
        self.logger = logger
        self.now = now
    }

    /// Logs one; it fits `StoreOptions.onRejection`.
    public func log(_ error: StoreError) {
        // The reason stays out: a record's own rules write it, and they might name what they should not.
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
            if let told = lines[line], told.duration(to: now) < Self.pause { return true }
            if lines.count >= Self.capacity { lines.removeAll() }
            lines[line] = now
            return false
        }
        return isRepeated ? .debug : error.code.isExpected ? .notice : .warning
    }
}
#endif
