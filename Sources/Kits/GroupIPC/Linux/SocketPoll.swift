internal import CLinux
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The thread that waits for the sockets of all tasks, by poll(2): an idle connection costs no thread.
///
/// A caller keeps its socket open until its wait ends.
final class SocketPoll: Sendable {
    enum Outcome: Sendable {
        case ready
        case timeout
        case cancelled
    }

    static let shared = SocketPoll()

    private struct Waiter: Sendable {
        let socket: Int32
        let events: Int16
        let deadline: SuspendingClock.Instant?
        let withdrawal: Withdrawal
        let continuation: CheckedContinuation<Outcome, Never>

        /// Returns the outcome; nil if the wait continues.
        func outcome(_ found: Int16, at now: SuspendingClock.Instant) -> Outcome? {
            if withdrawal.isAskedFor { return .cancelled }
            if found != 0 { return .ready }
            return deadline.map { $0 <= now } == true ? .timeout : nil
        }
    }

    private struct State: Sendable {
        var waiters: [Waiter] = []
        var isRunning = false
    }

    private let state = Mutex(State())
    private let thread = BlockingThreadPool(named: "group-sockets", most: 1)
    /// Negative if no descriptor was available: the thread then checks for new waiters twenty times a second.
    private let waker = clinux_eventfd()

    /// Waits until a socket is ready, the time is over, or the task is cancelled.
    func wait(for events: Int16, at socket: Int32, until deadline: SuspendingClock.Instant?) async -> Outcome {
        let withdrawal = Withdrawal()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(
                    Waiter(
                        socket: socket, events: events, deadline: deadline, withdrawal: withdrawal,
                        continuation: continuation))
            }
        } onCancel: {
            withdrawal.ask()
            wake()
        }
    }

    private func add(_ waiter: Waiter) {
        let isFirst = state.withLock { state in
            state.waiters.append(waiter)
            defer { state.isRunning = true }
            return !state.isRunning
        }
        if isFirst { start() } else { wake() }
    }

    private func start() {
        Task.detached { [self] in
            do throws(FileError) {
                try await thread.run(atMost: nil, "wait for", "sockets") { _ in self.run() }
            } catch {
                // No thread available: the callers check their sockets themselves and wait again.
                try? await Task.sleep(for: .milliseconds(50))
                state.withLock { $0.isRunning = false }
                settle { _ in .ready }
            }
        }
    }

    private func wake() {
        var one: UInt64 = 1
        // Fails only without a descriptor, or if the counter is full, which also wakes the thread.
        _ = write(waker, &one, MemoryLayout<UInt64>.size)
    }

    // MARK: The thread

    private func run() {
        while let waiters = currentWaiters() {
            var requests = waiters.map { pollfd(fd: $0.socket, events: $0.events, revents: 0) }
            requests.append(pollfd(fd: waker, events: Int16(POLLIN), revents: 0))
            _ = poll(&requests, nfds_t(requests.count), limit(of: waiters))
            var count: UInt64 = 0
            if requests.last?.revents != 0 { _ = read(waker, &count, MemoryLayout<UInt64>.size) }
            let now = SuspendingClock.now
            // New waiters are after the polled ones.
            settle { index in index < waiters.count ? waiters[index].outcome(requests[index].revents, at: now) : nil }
        }
    }

    /// Returns the current waiters; nil if there are no more, so that the thread ends.
    private func currentWaiters() -> [Waiter]? {
        state.withLock { state in
            if state.waiters.isEmpty { state.isRunning = false }
            return state.isRunning ? state.waiters : nil
        }
    }

    /// Returns the milliseconds until the first deadline; -1 without deadlines.
    private func limit(of waiters: [Waiter]) -> Int32 {
        if waiters.contains(where: \.withdrawal.isAskedFor) { return 0 }
        let longest = waker < 0 ? Duration.milliseconds(50) : .seconds(86_400)
        guard let deadline = waiters.compactMap(\.deadline).min() else { return waker < 0 ? 50 : -1 }
        let (seconds, attoseconds) = max(.zero, min(deadline - .now, longest)).components
        return Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000) + 1
    }

    private func settle(_ outcome: (Int) -> Outcome?) {
        let settled = state.withLock { state in
            let outcomes = state.waiters.indices.map(outcome)
            defer { state.waiters = zip(state.waiters, outcomes).compactMap { $1 == nil ? $0 : nil } }
            return zip(state.waiters, outcomes).compactMap { waiter, outcome in outcome.map { (waiter, $0) } }
        }
        for (waiter, outcome) in settled { waiter.continuation.resume(returning: outcome) }
    }
}

/// The cancellation flag of a waiting task; it may be set before the waiter is added.
private final class Withdrawal: Sendable {
    private let flag = Atomic(false)

    var isAskedFor: Bool { flag.load(ordering: .acquiring) }
    func ask() { flag.store(true, ordering: .releasing) }
}
