internal import Synchronization

/// A handler and whether it is still wanted.
final class MonitorClient: Sendable {
    /// Its number in the table.
    let number: UInt64
    private let handler: @Sendable (MonitorEvent) -> Void
    private let isCancelled = Atomic(false)

    init(number: UInt64, _ handler: @escaping @Sendable (MonitorEvent) -> Void) {
        self.number = number
        self.handler = handler
    }

    /// Calls the handler unless it was cancelled: a call begins when this flag is read, and not after it was set.
    func call(_ event: MonitorEvent) {
        if !isCancelled.load(ordering: .sequentiallyConsistent) { handler(event) }
    }

    /// Whether this call was the one that cancelled it.
    func cancel() -> Bool {
        !isCancelled.exchange(true, ordering: .sequentiallyConsistent)
    }
}
