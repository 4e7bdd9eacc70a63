internal import Dispatch
internal import Synchronization

/// Threads for blocking calls of tasks, such as waiting for a lock in the kernel.
///
/// They do not belong to a dispatch queue: on Linux those threads also run Swift's tasks, and a few waiting calls would
/// stop every task of the process, including the one that is to release the lock.
///
/// Calls beyond the maximum of threads wait in a queue. A call's limit includes the time in the queue, and cancelling
/// its task removes it from the queue. Hazard: a call that holds a lock that others wait for, and needs a thread of the
/// same pool to continue, queues behind them. Nested calls therefore use different pools.
package final class BlockingThreadPool: Sendable {
    private struct State {
        var line: [BlockingJob] = []
        var idle: [BlockingThread] = []
        var count = 0
    }

    private let name: String
    private let most: Int
    private let stackSize: Int
    private let refusal: @Sendable () -> CInt
    private let state = Mutex(State())

    private static let timers = DispatchQueue(label: "SharedFiles.waiting")
    /// Longer limits are not enforced in the queue.
    private static let longestTimer = Duration.seconds(86_400)

    /// Creates a pool without threads. They are created when needed, and end after some idle seconds.
    ///
    /// - Parameters:
    ///   - name: The threads' name in the system, at most 15 bytes.
    ///   - most: The maximum number of threads.
    ///   - stackSize: Bytes of each thread's stack. Only address space, until used.
    ///   - refusal: Returns the error number with which the next thread is not created; 0 to create it. For tests.
    package init(
        named name: String, most: Int = 64, stackSize: Int = 512 << 10,
        refusal: @escaping @Sendable () -> CInt = { 0 }
    ) {
        self.name = name
        self.most = most
        self.stackSize = stackSize
        self.refusal = refusal
    }

    /// The current number of threads, idle ones included.
    package var threadCount: Int { state.withLock { $0.count } }

    /// The number of queued calls.
    package var lineLength: Int { state.withLock { $0.line.count } }

    /// Runs a call that may block on a thread of the pool.
    ///
    /// - Parameters:
    ///   - limit: The total time limit of the call; with nil it waits for its thread without a limit, even if its task
    ///     is cancelled.
    ///   - operation: The operation of a thrown error.
    ///   - subject: The subject of a thrown error.
    ///   - body: The call. Its parameter has the remaining time and whether its task was cancelled.
    /// - Throws: `FileError` `.lockTimeout` or `.cancelled` if that happened in the queue, before the body ran; a
    ///   system error if no thread can be created.
    package func run<Value: Sendable>(
        atMost limit: Duration?, _ operation: String, _ subject: String,
        _ body: @escaping @Sendable (BlockingCall) -> Value
    ) async throws(FileError) -> Value {
        let call = BlockingCall(limit)
        let result: Result<Value, FileError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = BlockingJob(call: call) {
                    continuation.resume(returning: .success(body(call)))
                } giveUp: { code, errno in
                    continuation.resume(
                        returning: .failure(FileError(code, operation: operation, path: subject, errno: errno)))
                }
                submit(job)
            }
        } onCancel: {
            call.cancel()
            withdraw(call, .cancelled)
        }
        return try result.get()
    }

    /// Runs a body on a thread of the pool, and does not wait for it.
    ///
    /// - Parameter giveUp: Called instead if no thread can be created and none is idle, on this thread. The body does not
    ///   wait for another one, which may be the caller's.
    package func begin(_ body: @escaping @Sendable () -> Void, orElse giveUp: @escaping @Sendable () -> Void) {
        submit(BlockingJob(call: BlockingCall(nil), needsThread: true, run: body) { _, _ in giveUp() })
    }

    private enum Placement {
        case handed(BlockingThread)
        case newThread
        case queued
        case cancelled
    }

    private func submit(_ job: BlockingJob) {
        let placement: Placement = state.withLock { state in
            if let thread = state.idle.popLast() { return .handed(thread) }
            if state.count < most {
                state.count += 1
                return .newThread
            }
            return enqueue(job, &state)
        }
        switch placement {
        case .handed(let thread): thread.hand(job)
        case .newThread: startThread(job)
        case .queued: limitQueued(job.call)
        case .cancelled: job.giveUp(.cancelled, nil)
        }
    }

    private func enqueue(_ job: BlockingJob, _ state: inout State) -> Placement {
        // An earlier cancellation found no job to withdraw; a later one waits for this lock.
        if job.call.mayBeWithdrawn && job.call.isCancelled { return .cancelled }
        state.line.append(job)
        return .queued
    }

    private func limitQueued(_ call: BlockingCall) {
        guard let remaining = call.remaining, remaining < Self.longestTimer else { return }
        Self.timers.asyncAfter(deadline: .now() + remaining.dispatchInterval) { [weak self, weak call] in
            if let call { self?.withdraw(call, .lockTimeout) }
        }
    }

    private func withdraw(_ call: BlockingCall, _ code: FileError.Code) {
        guard call.mayBeWithdrawn else { return }
        let job = state.withLock { state in
            state.line.firstIndex { $0.call === call }.map { state.line.remove(at: $0) }
        }
        job?.giveUp(code, nil)
    }

    private func startThread(_ job: BlockingJob) {
        let thread = BlockingThread(pool: self)
        thread.hand(job)
        var number = refusal()
        if number == 0 { number = thread.start(named: name, stackSize: stackSize) }
        if number == 0 { return }
        // The existing threads take the job; it fails only if there is no thread, or the job needs one of its own.
        let placement: Placement? = state.withLock { state in
            state.count -= 1
            if let thread = state.idle.popLast() { return .handed(thread) }
            return state.count > 0 && !job.needsThread ? enqueue(job, &state) : nil
        }
        switch placement {
        case .handed(let thread): thread.hand(job)
        case .queued: limitQueued(job.call)
        case .cancelled: job.giveUp(.cancelled, nil)
        case .newThread, nil: job.giveUp(FileError.Code(errno: number), number)
        }
    }

    /// Returns the next queued job; if the queue is empty, the thread counts as idle from now on.
    func next(for thread: BlockingThread) -> BlockingJob? {
        state.withLock { state in
            if !state.line.isEmpty { return state.line.removeFirst() }
            state.idle.append(thread)
            return nil
        }
    }

    /// Returns whether an idle thread may end; false if it was just handed a job.
    func mayEnd(_ thread: BlockingThread) -> Bool {
        state.withLock { state in
            guard let index = state.idle.firstIndex(where: { $0 === thread }) else { return false }
            state.idle.remove(at: index)
            state.count -= 1
            return true
        }
    }
}

/// The state of a call, for its body.
package final class BlockingCall: Sendable {
    private let deadline: SuspendingClock.Instant?
    private let flag = Atomic(false)

    fileprivate init(_ limit: Duration?) { deadline = limit.map { SuspendingClock.now + $0 } }

    /// `true` if the call's task was cancelled.
    package var isCancelled: Bool { flag.load(ordering: .acquiring) }

    /// The call's remaining time, zero when it is used up; nil without a limit.
    package var remaining: Duration? { deadline.map { max(.zero, $0 - SuspendingClock.now) } }

    fileprivate func cancel() { flag.store(true, ordering: .releasing) }

    fileprivate var mayBeWithdrawn: Bool { deadline != nil }
}

/// A call that either runs on a thread or is given up with a reason, exactly once.
struct BlockingJob: Sendable {
    let call: BlockingCall
    /// It does not wait for the thread of another job if none can be created.
    var needsThread = false
    let run: @Sendable () -> Void
    let giveUp: @Sendable (FileError.Code, CInt?) -> Void
}

extension Duration {
    fileprivate var dispatchInterval: DispatchTimeInterval {
        .nanoseconds(Int(components.seconds) * 1_000_000_000 + Int(components.attoseconds / 1_000_000_000))
    }
}
