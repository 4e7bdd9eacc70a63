internal import Synchronization

/// One watcher, its table and the thread that reads its events.
///
/// One lock, the table's, and nothing is locked under it. The file system is looked at and directories are watched under
/// it, so that the table knows every watch before an event of it is taken in. No handler runs under it, and none is let go:
/// so a handler may watch and cancel, and a cancel may come from whoever holds a lock that a handler takes.
final class MonitorEngine: Sendable {
    private let watcher: any DirectoryWatcher
    private let table: Mutex<MonitorTable>
    private let isStopped = Atomic(false)
    private let lastNumber = Atomic<UInt64>(0)

    /// How long a path whose way can't be watched is left alone. Only such a path is ever looked at by the clock.
    private static let retryInterval = Duration.seconds(1)

    init(watcher: any DirectoryWatcher) {
        self.watcher = watcher
        table = Mutex(MonitorTable(watcher: watcher))
    }

    func add(
        _ path: MonitorPath, _ handler: @escaping @Sendable (MonitorEvent) -> Void
    ) throws(FileError) -> MonitorClient {
        let number = lastNumber.add(1, ordering: .relaxed).newValue
        let client = MonitorClient(number: number, handler)
        let isCovered = try table.withLock { (table) throws(FileError) in
            try table.add(client, path)
            return !table.uncovered.contains(number)
        }
        // The thread may be waiting without a limit.
        if !isCovered { watcher.wake() }
        return client
    }

    /// The caller holds the client, and with it the handler, until after the unlock.
    func remove(_ client: MonitorClient) {
        table.withLock { $0.remove(client.number) }
    }

    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        watcher.wake()
    }

    /// The thread's life.
    func run() {
        var retry: ContinuousClock.Instant?
        while !isStopped.load(ordering: .sequentiallyConsistent) {
            let events = watcher.wait(retry.map { $0 - ContinuousClock.now })
            var calls = events.isEmpty ? [] : table.withLock { $0.take(events) }
            if let due = retry, due <= ContinuousClock.now {
                calls += table.withLock { $0.rescan($0.uncovered) }
                retry = nil
            }
            for call in calls { call.client.call(call.event) }
            let isCovered = table.withLock { $0.uncovered.isEmpty }
            retry = isCovered ? nil : retry ?? ContinuousClock.now + Self.retryInterval
        }
    }
}
