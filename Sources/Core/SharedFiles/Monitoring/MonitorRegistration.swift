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
