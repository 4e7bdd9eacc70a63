#if Service
internal import FoundationEssentials
public import SealedState
public import ServiceLifecycle
internal import Synchronization

/// A service that watches a record, for a `ServiceGroup`.
///
/// ```swift
/// let watcher = RecordWatcher(store, of: WidgetAuthState.self) { update in await display.show(update) }
/// try await ServiceGroup(services: [watcher], gracefulShutdownSignals: [.sigterm], logger: logger).run()
/// ```
/// States are handed over one after the other. Changes during a handler call are merged into the latest one. A graceful
/// shutdown waits for the current handler call.
public final class RecordWatcher<Record: SealedRecord>: Service, CustomStringConvertible {
    /// Handles each state. An error from it ends the service.
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

    /// Creates a watcher of one record.
    ///
    /// - Parameters:
    ///   - store: The store of the record.
    ///   - type: The record's type.
    ///   - name: The record's name; by default the type's `recordName`.
    ///   - cursor: The last update that an earlier run of the program handled.
    ///   - handler: Receives the current state first, then every change.
    public init(
        _ store: SealedStore, of type: Record.Type, named name: String = Record.recordName,
        from cursor: UpdateCursor? = nil, handler: @escaping Handler
    ) {
        self.store = store
        self.name = name
        self.cursor = cursor
        self.handler = handler
    }

    /// The service's name in logs of the service group.
    public var description: String { "watcher of \(name)" }

    /// The health of the store and of the watcher, with its last update.
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
    /// - Throws: `StoreError` if the watch cannot begin (`.invalidName`, `.invalidCursor`, `.watchLimit`), or the
    ///   handler's error.
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
