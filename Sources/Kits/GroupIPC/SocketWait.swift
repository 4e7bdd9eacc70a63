internal import AppGroups
internal import Dispatch
internal import Glibc
internal import SharedFiles

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
        switch await SocketPoll.shared.wait(for: events, at: socket, until: deadline) {
        case .ready: return
        case .timeout: throw isOver
        case .cancelled: throw .waiting(.cancelled, name)
        }
    }

    /// Waits for a condition without notification.
    ///
    /// - Throws: `AppGroupError` with `timeout`.
    func pause(_ time: Duration) throws(AppGroupError) {
        var request = timespec(tv_sec: 0, tv_nsec: Int(try part(of: time).components.attoseconds / 1_000_000_000))
        nanosleep(&request, nil)
    }

    /// Hazard: `Task.sleep` needs a timer descriptor of the dispatch library. If the process has none left, that timer
    /// is never armed and the task sleeps for ever. The thread of `SocketPoll` needs none: poll(2) ignores a negative
    /// descriptor.
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

/// The order of calls at one end of a connection: threads queue, tasks retry, at first every millisecond.
struct SocketTurn: Sendable {
    private let semaphore = DispatchSemaphore(value: 1)

    /// - Throws: `AppGroupError` with `timeout`.
    func take(_ wait: SocketWait) throws(AppGroupError) {
        let limit = wait.remaining.map { DispatchTime.now() + .nanoseconds($0.clampedNanoseconds) } ?? .distantFuture
        if semaphore.wait(timeout: limit) != .success { throw wait.isOver }
    }

    /// - Throws: `AppGroupError` with `timeout`, `cancelled`.
    func take(_ wait: SocketWait) async throws(AppGroupError) {
        var pause = Duration.milliseconds(1)
        while !isTaken() {
            try await wait.pause(pause)
            pause = min(pause * 2, .milliseconds(50))
        }
    }

    private func isTaken() -> Bool { semaphore.wait(timeout: .now()) == .success }

    func end() { semaphore.signal() }
}

extension Duration {
    fileprivate var clampedNanoseconds: Int {
        let part = min(self, .seconds(1 << 31)).components
        return Int(part.seconds) * 1_000_000_000 + Int(part.attoseconds / 1_000_000_000)
    }
}
