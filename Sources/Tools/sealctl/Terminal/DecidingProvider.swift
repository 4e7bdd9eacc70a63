#if CommandLineConfiguration
internal import Configuration
internal import Synchronization

/// The provider that had the value of the last lookup, which determines the origin of a setting.
final class DecidingProvider: AccessReporter {
    private let last = Atomic<Int>(0)

    /// The provider's index in the order of providers.
    var index: Int { last.load(ordering: .relaxed) }

    func report(_ event: AccessEvent) {
        // Providers are asked in order, up to the first one with a value.
        last.store(max(0, event.providerResults.count - 1), ordering: .relaxed)
    }
}
#endif
