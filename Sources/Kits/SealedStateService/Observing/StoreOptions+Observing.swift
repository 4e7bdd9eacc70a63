#if Service
public import Logging
public import Metrics
public import SealedState

extension StoreOptions {
    /// Logs and counts every rejection, in addition to the current `onRejection`.
    ///
    /// ```swift
    /// var options = StoreOptions()
    /// options.observe(with: Logger(label: "account-widget"))
    /// ```
    /// - Parameters:
    ///   - logger: The logger; `nil` logs nothing.
    ///   - factory: The factory of the counters; by default the program's own.
    public mutating func observe(with logger: Logger?, metrics factory: (any MetricsFactory)? = nil) {
        let lines = logger.map { RejectionLogger($0) }
        let counters = RejectionMetrics(factory ?? MetricsSystem.factory)
        let former = onRejection
        onRejection = { error in
            former?(error)
            lines?.log(error)
            counters.count(error)
        }
    }
}
#endif
