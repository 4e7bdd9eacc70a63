internal import CLinux
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The thread that waits for the sockets of all tasks, by epoll(7): an idle connection costs no thread, and a new wait
/// does not wake it.
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
        let continuation: CheckedContinuation<Outcome, Never>
        /// The time at which the caller examines its socket itself, because the system cannot watch it.
        var look: SuspendingClock.Instant?

        var end: SuspendingClock.Instant? { [look, deadline].compactMap { $0 }.min() }

        /// Returns the outcome of a wait without an event; nil if it continues.
        func outcome(at now: SuspendingClock.Instant) -> Outcome? {
            if let deadline, deadline <= now { return .timeout }
            return look.map { $0 <= now } == true ? .ready : nil
        }
    }

    private struct State: Sendable {
        var epoll: Int32 = -1
        var last: UInt64 = 0
        var waiters: [UInt64: Waiter] = [:]
        var numbers: [Int32: [UInt64]] = [:]
        var isRunning = false
        /// The time at which the thread looks for ended waits; nil for none.
        var alarm: SuspendingClock.Instant?

        mutating func take(_ id: UInt64) -> Waiter? {
            guard let waiter = waiters.removeValue(forKey: id) else { return nil }
            numbers[waiter.socket]?.removeAll { $0 == id }
            if numbers[waiter.socket]?.isEmpty == true { numbers[waiter.socket] = nil }
            return waiter
        }

        /// Has the system report the events that the waiters of a socket wait for.
        mutating func arm(_ socket: Int32) {
            let ids = numbers[socket] ?? []
            let events = ids.reduce(Int16(0)) { $0 | (waiters[$1]?.events ?? 0) }
            guard events != 0, clinux_epoll_arm(epoll, socket, UInt32(events)) < 0 else { return }
            for id in ids { waiters[id]?.look = .now + SocketPoll.patience }
        }
    }

    private let state = Mutex(State())
    private let thread = BlockingThreadPool(named: "group-sockets", most: 1)
    /// Negative if no descriptor was available.
    private let waker = clinux_eventfd()
    /// The pause before a socket is examined again that the system cannot watch, for lack of descriptors or memory.
    private static let patience = Duration.milliseconds(50)

    /// Waits until a socket is ready, the time is over, or the task is cancelled.
    ///
    /// - Parameters:
    ///   - events: Of poll(2); none for the time alone.
    ///   - socket: -1 for none.
    func wait(for events: Int16, at socket: Int32, until deadline: SuspendingClock.Instant?) async -> Outcome {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        let isWithdrawn = Withdrawal()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(Waiter(socket: socket, events: events, deadline: deadline, continuation: continuation), id)
                if isWithdrawn.isAskedFor { settle(id, .cancelled) }
            }
        } onCancel: {
            isWithdrawn.ask()
            settle(id, .cancelled)
        }
    }

    private func add(_ waiter: Waiter, _ id: UInt64) {
        let (isFirst, isEarlier) = state.withLock { state in
            if state.epoll < 0 { state.epoll = opened() }
            state.waiters[id] = waiter
            if waiter.socket >= 0 {
                state.numbers[waiter.socket, default: []].append(id)
                state.arm(waiter.socket)
            }
            defer { state.isRunning = true }
            let alarm = state.alarm
            return (!state.isRunning, state.waiters[id]?.end.map { end in alarm.map { end < $0 } ?? true } ?? false)
        }
        if isFirst { start() } else if isEarlier { wake() }
    }

    private func opened() -> Int32 {
        let epoll = clinux_epoll()
        if epoll >= 0 && waker >= 0 { _ = clinux_epoll_watch(epoll, waker) }
        return epoll
    }

    private func settle(_ id: UInt64, _ outcome: Outcome) {
        state.withLock { $0.take(id) }?.continuation.resume(returning: outcome)
    }

    private func start() {
        Task.detached { [self] in
            do throws(FileError) {
                try await thread.run(atMost: nil, "wait for", "sockets") { _ in self.run() }
            } catch {
                // No thread available: the callers check their sockets themselves and wait again.
                try? await Task.sleep(for: Self.patience)
                let ids = state.withLock { state in
                    state.isRunning = false
                    return Array(state.waiters.keys)
                }
                for id in ids { settle(id, .ready) }
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
        var ready = [clinux_readiness](repeating: clinux_readiness(), count: 64)
        while let (epoll, limit) = next() {
            let count = epoll < 0 ? idle(limit) : clinux_epoll_wait(epoll, &ready, limit)
            for place in ready.prefix(Int(max(0, count))) { report(place) }
            settleEnded()
        }
    }

    /// Sleeps as long as there is nothing to wait with.
    private func idle(_ limit: Int32) -> Int32 {
        var request = timespec(tv_sec: 0, tv_nsec: Int(limit < 0 ? 50 : min(limit, 50)) * 1_000_000)
        nanosleep(&request, nil)
        return 0
    }

    /// Returns the descriptor to wait with, and the milliseconds until the first deadline; nil if there are no more
    /// waiters, so that the thread ends.
    private func next() -> (Int32, Int32)? {
        state.withLock { state in
            guard !state.waiters.isEmpty else {
                state.isRunning = false
                return nil
            }
            state.alarm = state.waiters.values.lazy.compactMap(\.end).min()
            // Without a descriptor to wake it the thread looks for new deadlines twenty times a second.
            let longest = waker < 0 ? Self.patience : .seconds(86_400)
            guard waker < 0 || state.alarm != nil else { return (state.epoll, -1) }
            let rest = state.alarm.map { max(.zero, min($0 - .now, longest)) } ?? longest
            let (seconds, attoseconds) = rest.components
            return (state.epoll, Int32(seconds * 1000 + attoseconds / 1_000_000_000_000_000) + 1)
        }
    }

    private func report(_ place: clinux_readiness) {
        guard place.descriptor != waker else {
            var count: UInt64 = 0
            _ = read(waker, &count, MemoryLayout<UInt64>.size)
            return
        }
        let found = Int16(truncatingIfNeeded: place.events)
        let ended = state.withLock { state in
            // An error or an end concerns every waiter.
            let isOver = found & Int16(POLLERR | POLLHUP) != 0
            let ids = (state.numbers[place.descriptor] ?? []).filter { id in
                isOver || (state.waiters[id]?.events ?? 0) & found != 0
            }
            defer { state.arm(place.descriptor) }
            return ids.compactMap { state.take($0) }
        }
        for waiter in ended { waiter.continuation.resume(returning: .ready) }
    }

    private func settleEnded() {
        let now = SuspendingClock.now
        let ended = state.withLock { state -> [(Waiter, Outcome)] in
            guard state.alarm.map({ $0 <= now }) ?? false else { return [] }
            return state.waiters.compactMap { id, waiter in waiter.outcome(at: now).map { (id, $0) } }
                .compactMap { id, outcome in state.take(id).map { ($0, outcome) } }
        }
        for (waiter, outcome) in ended { waiter.continuation.resume(returning: outcome) }
    }
}

/// The cancellation flag of a waiting task; it may be set before the waiter is added.
private final class Withdrawal: Sendable {
    private let flag = Atomic(false)

    var isAskedFor: Bool { flag.load(ordering: .acquiring) }
    func ask() { flag.store(true, ordering: .releasing) }
}
