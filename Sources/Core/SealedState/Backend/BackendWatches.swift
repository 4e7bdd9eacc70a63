internal import Dispatch
internal import SealedBackends
internal import Synchronization

/// Distributes the changes of a backend to the watches of one store. It follows the backend while there are watches.
final class BackendWatches: Sendable {
    /// Called with a changed record; with nil if every record may have changed.
    typealias Handler = @Sendable (BackendKey?) -> Void

    private struct State {
        var changes: (any BackendChanges)?
        var handlers: [UInt64: (key: BackendKey?, call: Handler)] = [:]
        var next: UInt64 = 0
    }

    private let backend: any SealedBackend
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "SealedState.changes")
    /// The queue will take the news.
    private let isWaiting = Atomic<Bool>(false)
    private static let page = 1000

    init(of backend: any SealedBackend) { self.backend = backend }

    /// A watch, which ends when it is released.
    private final class Registration: Sendable {
        private let end: @Sendable () -> Void
        init(_ end: @escaping @Sendable () -> Void) { self.end = end }
        deinit { end() }
    }

    /// Watches one record, or all.
    ///
    /// - Returns: The watch, which ends when it is released.
    func watch(_ key: BackendKey?, _ handler: @escaping Handler) throws(StoreError) -> any Sendable {
        let ticket = state.withLock { state in
            state.next += 1
            state.handlers[state.next] = (key, handler)
            return state.next
        }
        do throws(StoreError) { try begin() } catch {
            end(ticket)
            throw error
        }
        return Registration { [weak self] in self?.end(ticket) }
    }

    private func begin() throws(StoreError) {
        if state.withLock({ $0.changes != nil }) { return }
        let begun = try StoreError.onBackend("watch", "the backend") { () throws(BackendError) in
            try backend.changes(after: nil) { [weak self] in self?.takeNewsSoon() }
        }
        // Another thread may have begun at the same moment; a second one reports the same again.
        let spare = state.withLock { state -> (any BackendChanges)? in
            if state.changes != nil { return begun }
            state.changes = begun
            return nil
        }
        withExtendedLifetime(spare) {}
    }

    private func end(_ ticket: UInt64) {
        let ended = state.withLock { state -> (any BackendChanges)? in
            state.handlers[ticket] = nil
            return state.handlers.isEmpty ? state.changes.take() : nil
        }
        withExtendedLifetime(ended) {}
    }

    /// Takes the news on another thread: the backend waits for this call, and may block.
    private func takeNewsSoon() {
        guard isWaiting.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged
        else { return }
        queue.async { [weak self] in
            guard let self else { return }
            // Before the news: later ones wake the queue again.
            isWaiting.store(false, ordering: .releasing)
            if let changes = state.withLock({ $0.changes }) { take(changes) }
        }
    }

    private func take(_ changes: any BackendChanges) {
        while true {
            let news: BackendNews
            // Every record may have changed; the look of each watch meets the failure itself.
            do throws(BackendError) { news = try changes.next(limit: Self.page) } catch {
                return report(nil)
            }
            if news.isResync { report(nil) }
            for key in news.keys { report(key) }
            if !news.isPartial { return }
        }
    }

    private func report(_ key: BackendKey?) {
        let handlers = state.withLock { $0.handlers.values.filter { key == nil || $0.key == nil || $0.key == key } }
        for handler in handlers { handler.call(key) }
    }
}
