#if Service
internal import FoundationEssentials
public import SealedState
public import ServiceLifecycle
internal import Synchronization

/// Watches a record as a service, for a `ServiceGroup`.
///
/// ```swift
/// let watcher = RecordWatcher(store, of: WidgetAuthState.self) { update in await display.show(update) }
/// try await ServiceGroup(services: [watcher], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
/// States are handed over one after the other; while the handler is at work changes become one, the latest. A graceful
/// shutdown lets it finish the state that it has.
public final class RecordWatcher<Record: SealedRecord>: Service, CustomStringConvertible {
    /// Gets each state; an error that it throws ends the service with it.
    public typealias Handler = @Sendable (RecordUpdate<Record>) async throws -> Void

    private struct State {
        var watching = StoreHealth.Watching.notBegun
        var date: Date?
        var rejection: StoreError?
    }

    private let store: SealedStore
    private let name: String
    private let cursor: UpdateCursor?
    private let handler: Handler
    private let state = Mutex(State())

    /// A watcher of one record.
    ///
    /// - Parameters:
    ///   - store: Where it lies.
    ///   - type: The record's type.
    ///   - name: Its name; the type's `recordName` unless stated.
    ///   - cursor: The last update that was dealt with, in an earlier run of the program.
    ///   - handler: Gets the present state first, then every change.
    public init(
        _ store: SealedStore, of type: Record.Type, named name: String = Record.recordName,
        from cursor: UpdateCursor? = nil, handler: @escaping Handler
    ) {
        self.store = store
        self.name = name
        self.cursor = cursor
        self.handler = handler
    }

    /// What logs of the service group call it.
    public var description: String { "watcher of \(name)" }

    /// The store's health, whether the watcher runs, and what it was last told.
    public var health: StoreHealth {
        var health = store.health
        let state = state.withLock { $0 }
        health.watching = state.watching
        health.lastUpdate = state.date
        health.lastRejection = state.rejection
        return health
    }

    /// Watches until the service group shuts down or the task is cancelled.
    ///
    /// - Throws: `StoreError` when the watch cannot begin (`.invalidName`, `.invalidCursor`, `.watchLimit`), and what the
    ///   handler throws.
    public func run() async throws {
        state.withLock { $0.watching = .running }
        do {
            try await watch()
            state.withLock { $0.watching = .ended }
        } catch {
            state.withLock { $0.watching = .failed }
            throw error
        }
    }

    private func watch() async throws {
        let updates = try store.updates(of: Record.self, named: name, from: cursor)
        try await withGracefulShutdownHandler {
            for await update in updates {
                state.withLock { state in
                    state.date = Date()
                    state.rejection = update.rejection
                }
                try await handler(update)
            }
        } onGracefulShutdown: {
            updates.finish()
        }
    }
}
#endif
