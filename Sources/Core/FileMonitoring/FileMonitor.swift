package import SharedFiles
internal import Synchronization

/// Calls handlers when a path may have changed. Spurious calls happen, but no change is missed.
///
/// A monitor has one inotify instance and one thread, made at first use and kept until the monitor ends. A process
/// needs only `shared`. Paths in one directory share its watch.
///
/// Reported changes: the name appears, vanishes or refers to another file; the file's content or permissions change;
/// the same for the entries of a watched directory, not of its subdirectories; and any of these through directories on
/// the path that appear, vanish, are moved, replaced or mounted on, and through links on the path. Not reported, since
/// the system does not report them: writes through a memory mapping or another hard link, and changes by other machines
/// on a network file system.
///
/// If this user may not read a directory on the path, or the user's limits are exhausted when it has to be watched
/// again, the handler is called with `.rescan` about once a second until it can be watched.
package final class FileMonitor: Sendable {
    /// The process's monitor.
    package static let shared = FileMonitor()

    private let engine = Mutex<MonitorEngine?>(nil)

    /// Creates another monitor, with its own instance and thread, for tests.
    package init() {}

    deinit {
        engine.withLock { $0?.stop() }
    }

    /// Watches a path until the registration ends.
    ///
    /// Examine the path after this has returned, and again after each call; then no change is missed, though several
    /// changes may become one call.
    /// - Parameters:
    ///   - path: absolute. It, and any directory above it, need not exist. Links on the way are followed, a link under
    ///     the path's own name is not.
    ///   - handler: runs on the monitor's thread, must be quick, and delays every other handler while it runs. It may
    ///     watch and cancel.
    /// - Throws: `watchLimit` if the user's inotify instances or watches are exhausted, `tooManyOpenFiles`,
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

/// A handler's registration with a monitor; it ends with this object.
package final class MonitorRegistration: Sendable {
    private let monitor: FileMonitor
    private let client: MonitorClient

    init(_ client: MonitorClient, of monitor: FileMonitor) {
        self.client = client
        self.monitor = monitor
    }

    deinit { cancel() }

    /// Cancels the registration. No call of the handler begins after this has returned; one that has begun may still be
    /// running.
    ///
    /// The call never waits for a handler, so it may be made inside one, and by a holder of a lock that a handler
    /// takes. A second call has no effect.
    package func cancel() {
        if client.cancel() { monitor.remove(client) }
    }
}

/// A monitor's report about a path.
package enum MonitorEvent: Sendable, Hashable {
    /// Something about the path may have changed.
    case changed
    /// Events were lost or temporarily unavailable: examine everything that depends on the path again.
    case rescan
}
