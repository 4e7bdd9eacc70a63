internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Calls back when the wall clock reaches a time, and whenever somebody sets the clock: an alarm that only counted seconds
/// would come too late or too early after that.
///
/// One timer per process, whatever the number of registrations, and no thread of its own. Time that the machine slept
/// counts; alarms that came due meanwhile ring when it wakes.
package final class ClockMonitor: Sendable {
    private struct State {
        var registrations: [UInt64: Entry] = [:]
        var nextID: UInt64 = 0
        /// What the timer is set to. It may be earlier than needed: it is set back only when it goes off.
        var setTo = Int64.max
        /// Whether the clock was set and the handlers were not called for it yet.
        var clockWasSet = false
    }

    private struct Entry {
        let handler: @Sendable () -> Void
        /// Nanoseconds since 1970.
        var alarm: Int64?
    }

    /// What the timer is set to when there is no alarm, so that it still notices that the clock is set: a time beyond
    /// every alarm, and just within what the kernel takes.
    private static let never: Int64 = 9_000_000_000 * 1_000_000_000

    private let timer: Descriptor
    // Kept alive only; nobody uses it after the initialiser.
    nonisolated(unsafe) private let source: any DispatchSourceRead
    private let state = Mutex(State())

    private static let made = Mutex<ClockMonitor?>(nil)

    /// The process's monitor, made at first use.
    ///
    /// - Throws: `FileError`, such as `.tooManyOpenFiles`.
    package static func shared() throws(FileError) -> ClockMonitor {
        try made.withLock { (made: inout ClockMonitor?) throws(FileError) in
            if let made { return made }
            let monitor = try ClockMonitor()
            made = monitor
            return monitor
        }
    }

    private init() throws(FileError) {
        let opened = clinux_wall_timer()
        if opened < 0 { throw FileError(errno: -opened, operation: "watch the clock", path: "of this machine") }
        timer = Descriptor(owning: opened, path: "the clock")
        source = DispatchSource.makeReadSource(
            fileDescriptor: opened, queue: DispatchQueue(label: "SharedFiles.clock"))
        source.setEventHandler { [unowned self] in rang() }
        state.withLock { set(Self.never, &$0) }
        source.activate()
    }

    /// - Parameter handler: Called on a queue of the monitor when an alarm is due or the clock was set; it must be quick.
    ///   Spurious calls happen.
    package func register(_ handler: @escaping @Sendable () -> Void) -> ClockRegistration {
        let id = state.withLock { state in
            state.nextID += 1
            state.registrations[state.nextID] = Entry(handler: handler)
            return state.nextID
        }
        return ClockRegistration(id: id, monitor: self)
    }

    fileprivate func setAlarm(_ alarm: Int64?, for id: UInt64) {
        state.withLock { state in
            state.registrations[id]?.alarm = alarm
            guard let alarm, alarm < state.setTo else { return }
            state.setTo = alarm
            set(alarm, &state)
        }
    }

    fileprivate func cancel(_ id: UInt64) {
        // Ended outside the lock: what a handler holds may end with it, and that may cancel another registration.
        let ended = state.withLock { $0.registrations.removeValue(forKey: id) }
        withExtendedLifetime(ended) {}
    }

    private func rang() {
        let wasSet = clinux_wall_timer_read(timer.rawValue) < 0
        let now = Self.now()
        let due = state.withLock { state in
            let isForAll = wasSet || state.clockWasSet
            state.clockWasSet = false
            var due: [@Sendable () -> Void] = []
            for (id, entry) in state.registrations {
                let isDue = entry.alarm.map { $0 <= now } ?? false
                if isDue { state.registrations[id]?.alarm = nil }
                if isDue || isForAll { due.append(entry.handler) }
            }
            state.setTo = state.registrations.values.compactMap(\.alarm).min() ?? Int64.max
            set(min(state.setTo, Self.never), &state)
            return due
        }
        for handler in due { handler() }
    }

    private func set(_ time: Int64, _ state: inout State) {
        // 0 would disarm it. The only failure is that the clock was set before and nobody has read that: it would be
        // forgotten now, so the timer is made to go off at once.
        guard clinux_wall_timer_set(timer.rawValue, max(1, time)) < 0 else { return }
        state.clockWasSet = true
        _ = clinux_wall_timer_set(timer.rawValue, 1)
    }

    fileprivate static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// One handler at the process's ``ClockMonitor``. It ends with this value.
package final class ClockRegistration: Sendable {
    private let id: UInt64
    private let monitor: ClockMonitor

    fileprivate init(id: UInt64, monitor: ClockMonitor) {
        self.id = id
        self.monitor = monitor
    }

    deinit { monitor.cancel(id) }

    /// Sets the alarm to that many seconds from now by the wall clock; nil takes it back. The last one counts.
    package func ring(in seconds: Double?) {
        let alarm = seconds.map { seconds in
            ClockMonitor.now() + Int64(min(max(0, seconds), 1e8) * 1_000_000_000)
        }
        monitor.setAlarm(alarm, for: id)
    }
}
