import FileMonitoring
import Glibc
import SharedFiles
import Synchronization
import Testing

/// The events that a handler got, for the thread that waits for them.
final class MonitorCalls: Sendable {
    private let events: Mutex<[MonitorEvent]> = Mutex([])

    func record(_ event: MonitorEvent) { events.withLock { $0.append(event) } }

    var count: Int { events.withLock { $0.count } }
    var all: [MonitorEvent] { events.withLock { $0 } }

    /// Forgets the events so far.
    func reset() { events.withLock { $0 = [] } }

    /// Returns whether a call comes, or has come.
    func wait() -> Bool { eventually { self.count > 0 } }
}

/// Returns whether a condition comes true; the limit is far beyond the needs of any machine.
func eventually(seconds: Int = 20, _ condition: () -> Bool) -> Bool {
    let deadline = ContinuousClock.now + .seconds(seconds)
    while !condition() {
        if ContinuousClock.now > deadline { return false }
        usleep(500)
    }
    return true
}

/// Holds a thread until it is opened.
final class Gate: Sendable {
    private let isOpen = Atomic(false)
    private let arrivals = Atomic(0)

    /// Waits until it is open; an open gate lets every thread pass.
    func pass() {
        arrivals.add(1, ordering: .sequentiallyConsistent)
        while !isOpen.load(ordering: .sequentiallyConsistent) { usleep(500) }
    }

    func open() { isOpen.store(true, ordering: .sequentiallyConsistent) }

    func waitForArrival() -> Bool { eventually { arrivals.load(ordering: .sequentiallyConsistent) > 0 } }
}

extension FileMonitor {
    func watch(_ path: String, _ calls: MonitorCalls) throws -> MonitorRegistration {
        try watch(path) { calls.record($0) }
    }
}

extension Directory {
    func replace(_ name: String, with text: String, strategy: TemporaryStrategy = .automatic) throws(FileError) {
        try replace(name, with: bytes(text), mode: 0o600, durability: .unsynced, strategy: strategy)
    }
}
