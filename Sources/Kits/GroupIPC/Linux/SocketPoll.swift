internal import CLinux
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The threads that wait for the sockets of all tasks, by epoll(7): an idle connection costs no thread.
///
/// They are also the executor of the tasks that answer a channel's requests, so that a request is answered by the
/// thread that received it. A thread runs a job only while another thread waits for sockets: a job may block. If all 64
/// threads are needed, the last one waits for sockets only, and jobs wait for a thread that ends one.
final class SocketPoll: TaskExecutor {
    enum Outcome: Sendable {
        case ready
        case timeout
        case cancelled
    }

    static let shared = SocketPoll()

    fileprivate struct Waiter: Sendable {
        let socket: Int32
        let events: Int16
        let deadline: SuspendingClock.Instant?
        let done: @Sendable (Outcome) -> Void
        /// The time at which the caller examines its socket itself, because the system cannot watch it.
        var look: SuspendingClock.Instant?

        var end: SuspendingClock.Instant? {
            guard let look, let deadline else { return look ?? deadline }
            return min(look, deadline)
        }

        /// Returns the outcome of a wait without an event; nil if it continues.
        func outcome(at now: SuspendingClock.Instant) -> Outcome? {
            if let deadline, deadline <= now { return .timeout }
            return look.map { $0 <= now } == true ? .ready : nil
        }
    }

    /// The descriptors of epoll(7), of an eventfd(2) that wakes a thread for jobs, and of a timerfd_create(2).
    fileprivate struct Kernel: Sendable, Equatable {
        let epoll: Int32
        let waker: Int32
        let timer: Int32
    }

    fileprivate struct State: Sendable {
        /// Nil while descriptors are short: a thread then examines everything twenty times a second.
        var kernel: Kernel?
        var waiters: [UInt64: Waiter] = [:]
        var numbers: [Int32: [UInt64]] = [:]
        /// The time at which a thread looks for ended waits; not after the first end of one.
        var alarm: SuspendingClock.Instant?
        var jobs: [UnownedJob] = []
        var threads = 0
        /// The threads that wait for an event.
        var waiting = 0
        /// The threads that examine the jobs before they wait.
        var attentive = 0
    }

    private let state = Mutex(State())
    private let last = Atomic<UInt64>(0)
    /// Stacks as large as those of other tasks: answers run there. They are only address space until used.
    private let pool = BlockingThreadPool(named: "group-sockets", most: SocketPoll.most, stackSize: 8 << 20)

    fileprivate static let most = 64
    /// The pause before something is examined again that the system cannot watch, for lack of descriptors or memory.
    fileprivate static let patience = Duration.milliseconds(50)
    /// The milliseconds after which an unneeded thread ends.
    fileprivate static let idleLimit: Int32 = 10_000
}

// MARK: Waiting

extension SocketPoll {
    /// Returns the number of a wait.
    func number() -> UInt64 { last.add(1, ordering: .relaxed).newValue }

    /// Waits until a socket is ready, the time is over, the task is cancelled, or `settle` ends the wait.
    ///
    /// The caller keeps its socket open until the wait ends.
    /// - Parameters:
    ///   - events: Of poll(2); none for the time alone.
    ///   - socket: -1 for none.
    ///   - number: Of this wait.
    ///   - begun: Called when `settle` can end the wait.
    func wait(
        for events: Int16, at socket: Int32, until deadline: SuspendingClock.Instant?, as number: UInt64? = nil,
        begun: @Sendable () -> Void = {}
    ) async -> Outcome {
        let id = number ?? self.number()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                add(
                    Waiter(socket: socket, events: events, deadline: deadline) { continuation.resume(returning: $0) },
                    id)
                begun()
                // A cancellation before the wait began found nothing to end.
                if Task.isCancelled { settle(id, .cancelled) }
            }
        } onCancel: {
            settle(id, .cancelled)
        }
    }

    /// Calls a closure once when a socket is ready, or the time is over. The closure keeps the socket open, and does not
    /// block.
    func watch(
        for events: Int16, at socket: Int32, until deadline: SuspendingClock.Instant?,
        _ done: @escaping @Sendable (Outcome) -> Void
    ) {
        add(Waiter(socket: socket, events: events, deadline: deadline, done: done), number())
    }

    /// Ends a wait that has not ended.
    func settle(_ id: UInt64, _ outcome: Outcome) {
        state.withLock { $0.take(id) }?.done(outcome)
    }

    private func add(_ waiter: Waiter, _ id: UInt64) {
        perform(
            state.withLock { state in
                if state.kernel == nil { state.use(Self.opened()) }
                state.waiters[id] = waiter
                if waiter.socket >= 0 {
                    state.numbers[waiter.socket, default: []].append(id)
                    state.arm(waiter.socket)
                }
                if let end = state.waiters[id]?.end { state.ring(at: end) }
                return state.waiting + state.attentive == 0 ? state.call() : .unneeded
            })
    }

    private static func opened() -> Kernel? {
        let kernel = Kernel(epoll: clinux_epoll(), waker: clinux_eventfd(), timer: clinux_timer())
        let descriptors = [kernel.epoll, kernel.waker, kernel.timer]
        if descriptors.allSatisfy({ $0 >= 0 }), clinux_epoll_watch(kernel.epoll, kernel.waker) == 0,
            clinux_epoll_watch(kernel.epoll, kernel.timer) == 0
        {
            return kernel
        }
        for descriptor in descriptors where descriptor >= 0 { close(descriptor) }
        return nil
    }
}

extension SocketPoll.State {
    mutating func take(_ id: UInt64) -> SocketPoll.Waiter? {
        guard let waiter = waiters.removeValue(forKey: id) else { return nil }
        if waiter.socket >= 0 {
            numbers[waiter.socket]?.removeAll { $0 == id }
            if numbers[waiter.socket]?.isEmpty == true { numbers[waiter.socket] = nil }
        }
        return waiter
    }

    /// Has the system report, to one thread, the events that the waiters of a socket wait for.
    mutating func arm(_ socket: Int32) {
        guard let ids = numbers[socket] else { return }
        let events = ids.reduce(Int16(0)) { $0 | (waiters[$1]?.events ?? 0) }
        guard events != 0 else { return }
        if let kernel, clinux_epoll_arm(kernel.epoll, socket, UInt32(events)) == 0 { return }
        for id in ids { waiters[id]?.look = .now + SocketPoll.patience }
        ring(at: .now + SocketPoll.patience)
    }

    mutating func use(_ kernel: SocketPoll.Kernel?) {
        self.kernel = kernel
        guard kernel != nil, let end = alarm else { return }
        // The timer does not have it.
        alarm = nil
        ring(at: end)
    }

    /// Has a thread look for ended waits at a time, or before.
    mutating func ring(at end: SuspendingClock.Instant) {
        if let alarm, alarm <= end { return }
        alarm = end
        guard let kernel else { return }
        let (seconds, attoseconds) = max(.nanoseconds(1), min(end - .now, .seconds(1 << 30))).components
        _ = clinux_timer_set(kernel.timer, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }

    /// Removes the waits that an event of a socket ends.
    mutating func end(_ place: clinux_readiness, _ ended: inout [(SocketPoll.Waiter, SocketPoll.Outcome)]) {
        let found = Int16(truncatingIfNeeded: place.events)
        // An error or an end concerns every waiter.
        let isOver = found & Int16(POLLERR | POLLHUP) != 0
        for id in numbers[place.descriptor] ?? [] where isOver || (waiters[id]?.events ?? 0) & found != 0 {
            if let waiter = take(id) { ended.append((waiter, .ready)) }
        }
        arm(place.descriptor)
    }

    /// Removes the waits whose time is over.
    mutating func endLate(_ ended: inout [(SocketPoll.Waiter, SocketPoll.Outcome)]) {
        guard let alarm, alarm <= .now else { return }
        let now = SuspendingClock.now
        for (id, outcome) in waiters.compactMap({ id, waiter in waiter.outcome(at: now).map { (id, $0) } }) {
            if let waiter = take(id) { ended.append((waiter, outcome)) }
        }
        self.alarm = nil
        if let next = waiters.values.lazy.compactMap(\.end).min() { ring(at: next) }
    }
}

// MARK: Threads

extension SocketPoll {
    /// The thread that a caller needs.
    fileprivate enum Call: Sendable, Equatable {
        case unneeded
        /// One of those that wait; it looks by itself soon if it cannot be woken.
        case waiting(Kernel?)
        case new
        /// There is none; one that ends its job examines the others.
        case none
    }

    /// Adds a job of a task to those that the threads run.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform(
            state.withLock { state in
                state.jobs.append(job)
                return state.call()
            })
    }

    private func perform(_ call: Call) {
        switch call {
        case .unneeded, .none, .waiting(nil): return
        case .waiting(let kernel?):
            var one: UInt64 = 1
            // Fails only if the counter is full, which also wakes a thread.
            _ = write(kernel.waker, &one, MemoryLayout<UInt64>.size)
        case .new:
            pool.begin { self.run() } orElse: {
                self.state.withLock { state in
                    state.threads -= 1
                    state.attentive -= 1
                }
                Task.detached { await self.workWithoutThread() }
            }
        }
    }

    private func run() {
        var ready = [clinux_readiness](repeating: clinux_readiness(), count: 64)
        var (isAttentive, isIdle) = (true, false)
        while true {
            let (step, call) = state.withLock { $0.next(isAttentive, isIdle) }
            perform(call)
            switch step {
            case .run(let job):
                job.runSynchronously(on: asUnownedTaskExecutor())
                (isAttentive, isIdle) = (false, false)
            case .wait(let kernel, let limit):
                isIdle = look(kernel, limit, &ready)
                isAttentive = true
            case .end: return
            }
        }
    }

    /// Waits for events and ends the waits that they concern; returns whether there were none for a long time.
    private func look(_ kernel: Kernel?, _ limit: Int32, _ ready: inout [clinux_readiness]) -> Bool {
        let count = kernel.map { clinux_epoll_wait($0.epoll, &ready, limit) } ?? Self.sleep()
        finish(
            state.withLock { state in
                state.waiting -= 1
                state.attentive += 1
                var ended: [(Waiter, Outcome)] = []
                for place in ready.prefix(Int(max(0, count))) { state.end(place, &ended) }
                state.endLate(&ended)
                return ended
            })
        return count == 0 && limit == Self.idleLimit
    }

    private func finish(_ ended: [(Waiter, Outcome)]) {
        for (waiter, outcome) in ended { waiter.done(outcome) }
    }

    private static func sleep() -> Int32 {
        var request = timespec(tv_sec: 0, tv_nsec: Int(patience.components.attoseconds / 1_000_000_000))
        nanosleep(&request, nil)
        return 0
    }

    /// Has the callers examine their sockets themselves, and runs the jobs, because no thread could be created.
    private func workWithoutThread() async {
        try? await Task.sleep(for: Self.patience)
        let (ended, jobs) = state.withLock { state -> ([(Waiter, Outcome)], [UnownedJob]) in
            // Another thread does it.
            guard state.waiting + state.attentive == 0 else { return ([], []) }
            defer { state.jobs = [] }
            let now = SuspendingClock.now
            return (
                Array(state.waiters.keys).compactMap { id in
                    state.take(id).map { ($0, $0.outcome(at: now) ?? .ready) }
                }, state.jobs
            )
        }
        finish(ended)
        for job in jobs { job.runSynchronously(on: asUnownedTaskExecutor()) }
    }
}

extension SocketPoll.State {
    fileprivate enum Step: Sendable {
        case run(UnownedJob)
        /// At most for the milliseconds; without a limit if negative.
        case wait(SocketPoll.Kernel?, Int32)
        case end
    }

    /// Returns the thread that has to examine the jobs.
    fileprivate mutating func call() -> SocketPoll.Call {
        if attentive > 0 { return .unneeded }
        if waiting > 0 { return .waiting(kernel) }
        if threads == SocketPoll.most { return .none }
        threads += 1
        attentive += 1
        return .new
    }

    /// Returns the next step of a thread, and the thread that has to do the rest.
    ///
    /// - Parameters:
    ///   - isAttentive: The thread is counted as one that examines the jobs.
    ///   - isIdle: The thread has waited for a long time.
    fileprivate mutating func next(_ isAttentive: Bool, _ isIdle: Bool) -> (Step, SocketPoll.Call) {
        if isAttentive { attentive -= 1 }
        if let job = jobs.first {
            // While the job runs, another thread has to wait for sockets, and to run the rest.
            let call = waiting + attentive > 0 && jobs.count == 1 ? .unneeded : call()
            if call != .none {
                jobs.removeFirst()
                return (.run(job), call)
            }
        } else if isIdle, waiting >= 2 || waiters.isEmpty {
            threads -= 1
            return (.end, .unneeded)
        }
        waiting += 1
        let isNeeded = threads <= 2 && !waiters.isEmpty
        return (.wait(kernel, isNeeded ? -1 : SocketPoll.idleLimit), .unneeded)
    }
}
