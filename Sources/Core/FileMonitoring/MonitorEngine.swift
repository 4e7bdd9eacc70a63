internal import CLinux
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// A watcher, its table and the thread that reads its events.
///
/// The table's lock is the only one, and no other lock is taken under it. The file system is examined and directories
/// are watched under it, so that the table contains every watch before an event of it is processed. No handler runs or
/// is released under it, so a handler may watch and cancel, and a holder of a lock that a handler takes may cancel.
final class MonitorEngine: Sendable {
    private let watcher: any DirectoryWatcher
    private let table: Mutex<MonitorTable>
    private let isStopped = Atomic(false)
    private let lastNumber = Atomic<UInt64>(0)

    /// The retry interval for a path whose way can't be watched. Only such paths are polled.
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

    /// The caller retains the client, and with it the handler, until after the unlock.
    func remove(_ client: MonitorClient) {
        table.withLock { $0.remove(client.number) }
    }

    func stop() {
        isStopped.store(true, ordering: .sequentiallyConsistent)
        watcher.wake()
    }

    /// Runs the thread's event loop.
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

/// A detached thread for one engine. It blocks every signal, so it never runs the program's signal handlers.
enum MonitorThread {
    static func start(_ engine: MonitorEngine) throws(FileError) {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // The new thread inherits the mask, so there is no moment with unblocked signals.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(engine)
        let number = pthread_create(&thread, nil, monitorThreadMain, context.toOpaque())
        if number != 0 {
            context.release()
            throw FileError(errno: number, operation: "start the thread that watches files", path: "inotify")
        }
        pthread_detach(thread)
    }
}

private func monitorThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    _ = clinux_name_thread("file-monitor")
    Unmanaged<MonitorEngine>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
