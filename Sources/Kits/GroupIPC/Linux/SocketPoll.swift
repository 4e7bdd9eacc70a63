internal import CLinux
internal import Glibc
internal import SharedFiles
internal import Synchronization

/// The threads that wait for the sockets of all tasks, by epoll(7): an idle connection costs no thread.
///
/// They are also the executor of the tasks that answer a channel's requests, so that a request is answered by the
/// thread that received it. A thread runs a job only while another thread waits for sockets: a job may block. If 63
/// threads run jobs, the last one waits for sockets only, and further jobs wait for a thread that ends one. Two threads
/// stay when there is nothing to do.
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
    fileprivate struct Kernel: Sendable {
        let epoll: Int32
        let waker: Int32
        let timer: Int32
    }

    /// The waits for some of the sockets. With one lock for all, each event would contend for it with all others.
    fileprivate final class Waits: Sendable {
        let state = Mutex(WaitState())
    }

    fileprivate struct WaitState: Sendable {
        var kernel: Kernel?
        var waiters: [UInt64: Waiter] = [:]
        var numbers: [Int32: [UInt64]] = [:]
    }

    /// The number of a wait determines the place of its state.
    private let waits = (0..<SocketPoll.parts).map { _ in Waits() }
    private let last = Atomic<UInt64>(0)
    private let threads: Mutex<SocketThreads>
    /// Nil while descriptors are short: a thread then examines everything twenty times a second.
    private let kernel = Mutex<Kernel?>(nil)
    /// The time at which a thread looks for ended waits; not after the first end of one.
    private let alarm = Mutex<SuspendingClock.Instant?>(nil)
    /// Stacks as large as those of other tasks: answers run there. They are only address space until used.
    private let pool: BlockingThreadPool

    fileprivate static let parts = 16
    /// The pause before something is examined again that the system cannot watch, for lack of descriptors or memory.
    fileprivate static let patience = Duration.milliseconds(50)
    /// The milliseconds after which an unneeded thread ends.
    static let idleLimit: Int32 = 10_000

    /// - Parameters:
    ///   - most: The maximum number of threads, one of which waits for sockets.
    ///   - refusal: As that of a `BlockingThreadPool`.
    init(most: Int = 64, refusal: @escaping @Sendable () -> CInt = { 0 }) {
        threads = Mutex(SocketThreads(most: most))
        pool = BlockingThreadPool(named: "group-sockets", most: most, stackSize: 8 << 20, refusal: refusal)
    }
}

// MARK: Waiting

extension SocketPoll {
    /// Returns the number of a wait for a socket; -1 for none.
    func number(at socket: Int32 = -1) -> UInt64 {
        let part = UInt64(Int(socket) & (Self.parts - 1))
        return last.add(UInt64(Self.parts), ordering: .relaxed).newValue | part
    }

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
        let id = number ?? self.number(at: socket)
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
        add(Waiter(socket: socket, events: events, deadline: deadline, done: done), number(at: socket))
    }

    /// Ends a wait that has not ended.
    func settle(_ id: UInt64, _ outcome: Outcome) {
        part(of: id).state.withLock { $0.take(id) }?.done(outcome)
    }

    private func part(of id: UInt64) -> Waits { waits[Int(id % UInt64(Self.parts))] }

    private func add(_ waiter: Waiter, _ id: UInt64) {
        let end = part(of: id).state.withLock { waits -> SuspendingClock.Instant? in
            if waits.kernel == nil { waits.kernel = present() }
            waits.waiters[id] = waiter
            guard waiter.socket >= 0 else { return waiter.end }
            waits.numbers[waiter.socket, default: []].append(id)
            return [waiter.deadline, waits.arm(waiter.socket)].compactMap(\.self).min()
        }
        if let end { ring(at: end) }
        perform(threads.withLock { $0.waiting + $0.attentive == 0 ? $0.call() : .unneeded })
    }

    /// Returns the descriptors, which are opened when they are needed first.
    private func present() -> Kernel? {
        kernel.withLock { kernel in
            if kernel == nil { kernel = Self.opened() }
            return kernel
        }
    }

    private static func opened() -> Kernel? {
        var opened: [Int32] = []
        // Ends at the first failure: other threads need the descriptors that are left.
        for open in [clinux_epoll, clinux_eventfd, clinux_timer] {
            let descriptor = open()
            if descriptor < 0 { break }
            opened.append(descriptor)
        }
        if opened.count == 3, opened[1...].allSatisfy({ clinux_epoll_watch(opened[0], $0) == 0 }) {
            // Has a thread look for the ends of the waits that began before.
            _ = clinux_timer_set(opened[2], 1)
            return Kernel(epoll: opened[0], waker: opened[1], timer: opened[2])
        }
        for descriptor in opened { close(descriptor) }
        return nil
    }

    /// Has a thread look for ended waits at a time, or before.
    private func ring(at end: SuspendingClock.Instant) {
        alarm.withLock { alarm in
            if let alarm, alarm <= end { return }
            alarm = end
            guard let kernel = kernel.withLock({ $0 }) else { return }
            let (seconds, attoseconds) = max(.nanoseconds(1), min(end - .now, .seconds(1 << 30))).components
            _ = clinux_timer_set(kernel.timer, seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        }
    }

    /// Ends the waits whose time is over; all those for a socket if the callers have to examine it themselves.
    private func endLate(all: Bool = false) {
        // A wait that begins from now on sets the alarm, or is seen below.
        alarm.withLock { $0 = nil }
        let now = SuspendingClock.now
        var next: SuspendingClock.Instant?
        for part in waits {
            let (ended, end) = part.state.withLock { $0.endLate(now, all) }
            finish(ended)
            next = [next, end].compactMap(\.self).min()
        }
        if let next { ring(at: next) }
    }

    private func finish(_ ended: [(Waiter, Outcome)]) {
        for (waiter, outcome) in ended { waiter.done(outcome) }
    }
}

extension SocketPoll.WaitState {
    mutating func take(_ id: UInt64) -> SocketPoll.Waiter? {
        guard let waiter = waiters.removeValue(forKey: id) else { return nil }
        if waiter.socket >= 0 {
            numbers[waiter.socket]?.removeAll { $0 == id }
            if numbers[waiter.socket]?.isEmpty == true { numbers[waiter.socket] = nil }
        }
        return waiter
    }

    /// Has the system report, to one thread, the events that the waiters of a socket wait for. Otherwise they look
    /// themselves; returns when.
    mutating func arm(_ socket: Int32) -> SuspendingClock.Instant? {
        guard let ids = numbers[socket] else { return nil }
        let events = ids.reduce(Int16(0)) { $0 | (waiters[$1]?.events ?? 0) }
        guard events != 0 else { return nil }
        if let kernel, clinux_epoll_arm(kernel.epoll, socket, UInt32(events)) == 0 { return nil }
        let look = SuspendingClock.now + SocketPoll.patience
        for id in ids { waiters[id]?.look = look }
        return look
    }

    /// Removes the waits that an event of a socket ends; returns the next time at which others have to be ended.
    mutating func end(
        _ place: clinux_readiness
    ) -> ([(SocketPoll.Waiter, SocketPoll.Outcome)], SuspendingClock.Instant?) {
        let found = Int16(truncatingIfNeeded: place.events)
        // An error or an end concerns every waiter.
        let isOver = found & Int16(POLLERR | POLLHUP) != 0
        let ids = (numbers[place.descriptor] ?? []).filter { isOver || (waiters[$0]?.events ?? 0) & found != 0 }
        let ended = ids.compactMap { take($0) }.map { ($0, SocketPoll.Outcome.ready) }
        return (ended, arm(place.descriptor))
    }

    /// Removes the waits whose time is over; returns the next end.
    mutating func endLate(
        _ now: SuspendingClock.Instant, _ all: Bool
    ) -> ([(SocketPoll.Waiter, SocketPoll.Outcome)], SuspendingClock.Instant?) {
        let late = waiters.compactMap { id, waiter in
            (waiter.outcome(at: now) ?? (all && waiter.events != 0 ? .ready : nil)).map { (id, $0) }
        }
        let ended = late.compactMap { id, outcome in take(id).map { ($0, outcome) } }
        return (ended, waiters.values.lazy.compactMap(\.end).min())
    }
}

// MARK: Threads

extension SocketPoll {
    /// Adds a job of a task to those that the threads run.
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        perform(
            threads.withLock { threads in
                threads.jobs.append(job)
                return threads.call()
            })
    }

    private func perform(_ call: SocketThreads.Call) {
        switch call {
        case .unneeded: return
        case .waiting:
            guard let kernel = kernel.withLock({ $0 }) else { return }
            var one: UInt64 = 1
            // Fails only if the counter is full, which also wakes a thread.
            _ = write(kernel.waker, &one, MemoryLayout<UInt64>.size)
        case .new:
            pool.begin {
                self.run()
            } orElse: {
                Task.detached { self.workWithoutThread() }
            }
        }
    }

    private func run() {
        // Few: the jobs, and events that are taken with others, wait for this thread. Other threads take the rest.
        var ready = [clinux_readiness](repeating: clinux_readiness(), count: 4)
        var (isAttentive, isIdle) = (true, false)
        while true {
            let (step, call) = threads.withLock { $0.next(isAttentive, isIdle) }
            perform(call)
            switch step {
            case .run(let job):
                job.runSynchronously(on: asUnownedTaskExecutor())
                (isAttentive, isIdle) = (false, false)
            case .wait(let limit):
                isIdle = look(limit, &ready)
                isAttentive = true
            case .end: return
            }
        }
    }

    /// Waits for events and ends the waits that they concern; returns whether there were none for a long time.
    private func look(_ limit: Int32, _ ready: inout [clinux_readiness]) -> Bool {
        let kernel = kernel.withLock { $0 }
        let count = kernel.map { clinux_epoll_wait($0.epoll, &ready, Int32(ready.count), limit) } ?? Self.sleep()
        threads.withLock { threads in
            threads.waiting -= 1
            threads.attentive += 1
        }
        var isLate = kernel == nil
        for place in ready.prefix(Int(max(0, count))) where place.descriptor != kernel?.waker {
            guard place.descriptor != kernel?.timer else {
                isLate = true
                continue
            }
            let (ended, look) = waits[Int(place.descriptor) & (Self.parts - 1)].state.withLock { $0.end(place) }
            finish(ended)
            if let look { ring(at: look) }
        }
        if isLate { endLate() }
        return count == 0 && limit == Self.idleLimit
    }

    private static func sleep() -> Int32 {
        var request = timespec(tv_sec: 0, tv_nsec: Int(patience.components.attoseconds / 1_000_000_000))
        nanosleep(&request, nil)
        return 0
    }

    /// Does a round of the work of a thread that could not be created, in its place: has the callers examine their sockets
    /// themselves, and runs a job unless another round does. A job may block a thread of the global pool: the others
    /// do not. As long as there is work and no thread waits, the next round is a thread's, or another one of these.
    private func workWithoutThread() {
        if threads.withLock({ !$0.mayRunWithoutThread }) { _ = Self.sleep() }
        endLate(all: true)
        let (job, call) = threads.withLock { threads in
            // A wait that begins from now on finds that this thread is gone.
            threads.endRound { waits.allSatisfy { $0.state.withLock { $0.waiters.isEmpty } } }
        }
        perform(call)
        if let job { runWithoutThread(job) }
    }

    /// Runs a job, then the next one in another task, so that the global pool's other tasks have their turn.
    private func runWithoutThread(_ job: UnownedJob) {
        job.runSynchronously(on: asUnownedTaskExecutor())
        if let next = threads.withLock({ $0.nextWithoutThread() }) { Task.detached { self.runWithoutThread(next) } }
    }
}
