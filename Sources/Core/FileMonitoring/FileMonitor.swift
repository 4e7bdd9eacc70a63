package import SharedFiles
internal import Synchronization

/// Calls back when something about a path may have changed; spurious calls happen, none is missed.
///
/// A monitor has one inotify instance and one thread, made at first use and kept until the monitor ends; `shared` is the
/// only one that a process needs. Paths in one directory share its watch.
///
/// What is told: the name appears, vanishes or stands for another file; the file's content or permissions change; the same
/// of the entries of a watched directory, not of what lies in directories below; any of that through a change of the way:
/// directories that appear, vanish, are moved away, replaced or mounted on, and links on the way. Not told, since the system
/// does not: writes through a memory mapping or another hard link, and changes by other machines on a network file system.
///
/// Where a directory of the way may not be read by this user, or the user's limits are used up when it is to be watched
/// anew, the handler is called with `.rescan` about once a second until it can be watched.
package final class FileMonitor: Sendable {
    /// The process's monitor.
    package static let shared = FileMonitor()

    private let engine = Mutex<MonitorEngine?>(nil)

    /// Another monitor, with an instance and a thread of its own: for tests.
    package init() {}

    deinit {
        engine.withLock { $0?.stop() }
    }

    /// Watches a path until the registration ends.
    ///
    /// Look at the path after this has returned, and again after each call: then nothing is missed, though several changes may
    /// become one call.
    /// - Parameters:
    ///   - path: absolute. It, and any directory above it, need not exist. Links on the way are followed, one under the
    ///     path's own name is not.
    ///   - handler: runs on the monitor's thread, must be quick, and holds up every other one while it runs. It may watch
    ///     and cancel.
    /// - Throws: `watchLimit` where the user's inotify instances or watches are used up, `tooManyOpenFiles`,
    ///   `invalidName` for a relative path.
    package func watch(
        _ path: String, _ handler: @escaping @Sendable (MonitorEvent) -> Void
    ) throws(FileError) -> MonitorRegistration {
        let path = try MonitorPath(path)
        return MonitorRegistration(try started().add(path, handler), of: self)
    }

    func remove(_ client: MonitorClient) {
        engine.withLock { $0 }?.remove(client)
    }

    private func started() throws(FileError) -> MonitorEngine {
        try engine.withLock { (engine) throws(FileError) in
            if let engine { return engine }
            let new = MonitorEngine(watcher: try InotifyWatcher())
            try MonitorThread.start(new)
            engine = new
            return new
        }
    }
}

/// A handler's place in a monitor; it ends with this object.
package final class MonitorRegistration: Sendable {
    private let monitor: FileMonitor
    private let client: MonitorClient

    init(_ client: MonitorClient, of monitor: FileMonitor) {
        self.client = client
        self.monitor = monitor
    }

    deinit { cancel() }

    /// Ends it. Once this has returned no call of the handler begins; one that has begun may still be running.
    ///
    /// It never waits for a handler, so it may be called inside one, and by whoever holds a lock that a handler takes.
    /// A second call does nothing.
    package func cancel() {
        if client.cancel() { monitor.remove(client) }
    }
}

/// What a monitor tells about a path.
package enum MonitorEvent: Sendable, Hashable {
    /// Something about the path may have changed.
    case changed
    /// Events were lost, or could not be had for a while: look again, at everything that hangs on the path.
    case rescan
}
