#if Service
public import Logging
public import Metrics
public import SealedState

extension StoreOptions {
    /// Logs and counts every rejection, besides what `onRejection` does already.
    ///
    /// ```swift
    /// var options = StoreOptions()
    /// options.observe(with: Logger(label: "account-widget"))
    /// ```
    /// - Parameters:
    ///   - logger: Where lines go; nil logs nothing.
    ///   - factory: Where counters are made; the program's own unless stated.
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
