#if Service
public import Metrics
import SealedState
internal import Synchronization

/// Counts rejections by code: `sealedstate_rejections{code="replayed"}`.
///
/// Copies that could not be put into quarantine are counted in `sealedstate_quarantine_failures`.
public final class RejectionMetrics: Sendable {
    /// The counter of rejections.
    public static let rejections = "sealedstate_rejections"
    /// The counter of copies that could not be put into quarantine.
    public static let quarantineFailures = "sealedstate_quarantine_failures"

    private let factory: any MetricsFactory
    // Cached, because a factory may take a lock, or create a new series, for every counter.
    private let counters = Mutex<[StoreError.Code: Counter]>([:])
    private let failures: Counter

    /// Creates counters of a factory; by default the program's own.
    public init(_ factory: any MetricsFactory = MetricsSystem.factory) {
        self.factory = factory
        failures = Counter(label: Self.quarantineFailures, dimensions: [], factory: factory)
    }

    /// Counts a rejection, as a value for `StoreOptions.onRejection`.
    public func count(_ error: StoreError) {
        guard error.isRejection else { return failures.increment() }
        counter(of: error.code).increment()
    }

    private func counter(of code: StoreError.Code) -> Counter {
        counters.withLock { counters in
            if let known = counters[code] { return known }
            let counter = Counter(
                label: Self.rejections, dimensions: [("code", code.rawValue)], factory: factory)
            counters[code] = counter
            return counter
        }
    }
}
#endif
