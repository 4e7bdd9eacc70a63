internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// Calls handlers when the wall clock reaches a time, and whenever the clock is set. An alarm that only counted seconds
/// would come too late or too early after that.
///
/// A process has one timer for all registrations, and no thread for it. Time that the machine slept counts; alarms that
/// became due meanwhile fire on wake-up.
package final class ClockMonitor: Sendable {
    private struct State {
        var registrations: [UInt64: Entry] = [:]
        var nextID: UInt64 = 0
        /// The timer's setting. It may be earlier than needed: it is moved back only when the timer fires.
        var setTo = Int64.max
        /// `true` if the clock was set and the handlers have not been called for it yet.
        var clockWasSet = false
    }

    private struct Entry {
        let handler: @Sendable () -> Void
        /// Nanoseconds since 1970.
        var alarm: Int64?
    }

    /// The timer's setting without alarms, so that it still detects a set clock: beyond every alarm, and just within
    /// the kernel's range.
    private static let never: Int64 = 9_000_000_000 * 1_000_000_000

    private let timer: Descriptor
    // Only retained; unused after the initialiser.
    nonisolated(unsafe) private let source: any DispatchSourceRead
    private let state = Mutex(State())

    private static let made = Mutex<ClockMonitor?>(nil)

    /// Returns the process's monitor, made at first use.
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
        source.setEventHandler { [unowned self] in alarmFired() }
        state.withLock { set(Self.never, &$0) }
        source.activate()
    }

    /// - Parameter handler: Called on the monitor's queue when an alarm is due or the clock was set; it must be quick.
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
        // Released outside the lock: releasing a handler may release objects that cancel another registration.
        let ended = state.withLock { $0.registrations.removeValue(forKey: id) }
        withExtendedLifetime(ended) {}
    }

    private func alarmFired() {
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
        // 0 would disarm the timer. The only failure is an earlier clock change that has not been read yet. This call
        // would lose it, so the timer is set to fire immediately.
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

/// A handler's registration with the process's ``ClockMonitor``. It ends with this value.
package final class ClockRegistration: Sendable {
    private let id: UInt64
    private let monitor: ClockMonitor

    fileprivate init(id: UInt64, monitor: ClockMonitor) {
        self.id = id
        self.monitor = monitor
    }

    deinit { monitor.cancel(id) }

    /// Sets the alarm to a number of seconds from now by the wall clock; nil removes it. A new alarm replaces the old
    /// one.
    package func ring(in seconds: Double?) {
        let alarm = seconds.map { seconds in
            ClockMonitor.now() + Int64(min(max(0, seconds), 1e8) * 1_000_000_000)
        }
        monitor.setAlarm(alarm, for: id)
    }
}
