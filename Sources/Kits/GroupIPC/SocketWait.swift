internal import AppGroups
internal import Dispatch
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The time limit of a call that waits for a socket. Synchronous forms block the thread; the others end when the task
/// is cancelled.
struct SocketWait: Sendable {
    /// The end of the wait; nil without a limit.
    let deadline: SuspendingClock.Instant?
    private let name: GroupIPCName

    init(_ limit: Duration?, _ name: GroupIPCName) {
        deadline = limit.map { SuspendingClock.now + $0 }
        self.name = name
    }

    /// The remaining time; nil without a limit.
    var remaining: Duration? { deadline.map { max(.zero, $0 - SuspendingClock.now) } }

    var isOver: AppGroupError { .waiting(.timeout, name) }

    /// Waits once for a socket.
    ///
    /// - Throws: `AppGroupError` with `timeout`.
    func step(_ events: Int16, at socket: borrowing Descriptor) throws(AppGroupError) {
        let remaining = remaining
        if remaining == .zero { throw isOver }
        LocalSocket.wait(for: events, at: socket, remaining)
    }

    /// - Throws: `AppGroupError` with `timeout`, `cancelled`. The caller keeps the socket open.
    func step(_ events: Int16, at socket: Int32) async throws(AppGroupError) {
        let outcome = await SocketPoll.shared.wait(for: events, at: socket, until: deadline)
        if outcome != .ready { throw error(outcome) }
    }

    /// The error of a wait that did not end with an event.
    fileprivate func error(_ outcome: SocketPoll.Outcome) -> AppGroupError {
        outcome == .cancelled ? .waiting(.cancelled, name) : isOver
    }

    /// Waits for a condition without notification.
    ///
    /// - Throws: `AppGroupError` with `timeout`.
    func pause(_ time: Duration) throws(AppGroupError) {
        var request = timespec(tv_sec: 0, tv_nsec: Int(try part(of: time).components.attoseconds / 1_000_000_000))
        nanosleep(&request, nil)
    }

    /// Hazard: `Task.sleep` needs a timer descriptor of the dispatch library. If the process has none left, that timer
    /// is never armed and the task sleeps for ever. The threads of `SocketPoll` have their descriptor, or do without.
    ///
    /// - Throws: `AppGroupError` with `timeout`, `cancelled`.
    func pause(_ time: Duration) async throws(AppGroupError) {
        let end = SuspendingClock.now + (try part(of: time))
        guard await SocketPoll.shared.wait(for: 0, at: -1, until: end) != .cancelled else {
            throw .waiting(.cancelled, name)
        }
    }

    /// Returns at most a second.
    private func part(of time: Duration) throws(AppGroupError) -> Duration {
        let part = min(time, remaining ?? time)
        if part == .zero { throw isOver }
        return min(part, .milliseconds(999))
    }
}

extension AppGroupError {
    static func lost(_ name: GroupIPCName, _ reason: String) -> Self {
        .ipc(
            .connectionLost, "talk through", name.description, reason,
            "Connect again; what was sent may or may not have been received.")
    }
}

/// A number of places, one for the calls at one end of a connection. Threads and tasks get them in the order in which
/// they ask.
final class SocketTurn: Sendable {
    private struct Line: Sendable {
        var free: Int
        var waiters: [(number: UInt64, admit: @Sendable () -> Void)] = []
    }

    private let line: Mutex<Line>

    init(places: Int = 1) { line = Mutex(Line(free: places)) }

    /// The number of calls that wait for a place.
    var lineLength: Int { line.withLock { $0.waiters.count } }

    /// - Throws: `AppGroupError` with `timeout`.
    func take(_ wait: SocketWait) throws(AppGroupError) {
        if enter() { return }
        let (semaphore, number) = (DispatchSemaphore(value: 0), SocketPoll.shared.number())
        if enter(number, { semaphore.signal() }) { return }
        let limit = wait.remaining.map { DispatchTime.now() + .nanoseconds($0.clampedNanoseconds) } ?? .distantFuture
        if semaphore.wait(timeout: limit) == .success { return }
        leave(number)
        throw wait.isOver
    }

    /// - Throws: `AppGroupError` with `timeout`, `cancelled`.
    func take(_ wait: SocketWait) async throws(AppGroupError) {
        if enter() { return }
        let (poll, number) = (SocketPoll.shared, SocketPoll.shared.number())
        let outcome = await poll.wait(for: 0, at: -1, until: wait.deadline, as: number) {
            if enter(number, { poll.settle(number, .ready) }) { poll.settle(number, .ready) }
        }
        if outcome == .ready { return }
        leave(number)
        throw wait.error(outcome)
    }

    /// Gives the place to the next call.
    func end() {
        let admit = line.withLock { line in
            guard line.waiters.isEmpty else { return line.waiters.removeFirst().admit }
            line.free += 1
            return {}
        }
        admit()
    }

    /// Takes a free place; returns whether there was one. Otherwise the call is admitted later, if it has a number.
    private func enter(_ number: UInt64 = 0, _ admit: (@Sendable () -> Void)? = nil) -> Bool {
        line.withLock { line in
            if line.free > 0 {
                line.free -= 1
                return true
            }
            if let admit { line.waiters.append((number, admit)) }
            return false
        }
    }

    /// Ends the waiting of a call; one that was admitted meanwhile gives its place to the next.
    private func leave(_ number: UInt64) {
        let isWaiting = line.withLock { line in
            let count = line.waiters.count
            line.waiters.removeAll { $0.number == number }
            return line.waiters.count < count
        }
        if !isWaiting { end() }
    }
}

extension Duration {
    fileprivate var clampedNanoseconds: Int {
        let part = min(self, .seconds(1 << 31)).components
        return Int(part.seconds) * 1_000_000_000 + Int(part.attoseconds / 1_000_000_000)
    }
}
