#if CommandLineConfiguration
internal import Configuration
internal import Synchronization

/// Which provider had the value that was looked up last: people want to know where a setting comes from.
final class DecidingProvider: AccessReporter {
    private let last = Atomic<Int>(0)

    /// Its place in the order of providers.
    var index: Int { last.load(ordering: .relaxed) }

    func report(_ event: AccessEvent) {
        // Providers are asked in order, and none is asked behind the one that has a value.
        last.store(max(0, event.providerResults.count - 1), ordering: .relaxed)
    }
}
#endif
