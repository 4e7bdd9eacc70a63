internal import Dispatch
internal import Synchronization

/// Threads for calls of tasks that block, such as waiting for a lock in the kernel.
///
/// They are no threads of a dispatch queue: on Linux those come from the few that run Swift's tasks as well, and a handful
/// of waiting calls would stop every task of the process, also the one that is to release what they wait for.
///
/// A call beyond the most threads stands in a line. Its limit runs from the call on, in the line as on a thread, and
/// cancelling its task ends its standing there. Hazard: a call that holds what others wait for, and needs a thread of the
/// same pool to go on, stands in that line behind them; what nests uses different pools.
package final class WaitingThreads: Sendable {
    private struct State {
        var line: [WaitingJob] = []
        var idle: [WaitingThread] = []
        var count = 0
    }

    private let name: String
    private let most: Int
    private let stackSize: Int
    private let state = Mutex(State())

    private static let timers = DispatchQueue(label: "SharedFiles.waiting")
    /// Limits beyond this are not enforced in the line.
    private static let longestTimer = Duration.seconds(86_400)

    /// A pool without threads; they are made when needed, and end when there was nothing to do for some seconds.
    ///
    /// - Parameters:
    ///   - name: What the system shows of its threads, at most 15 bytes.
    ///   - most: How many threads there are at most.
    ///   - stackSize: Bytes of each one's stack. Address space only, until used.
    package init(named name: String, most: Int = 64, stackSize: Int = 512 << 10) {
        self.name = name
        self.most = most
        self.stackSize = stackSize
    }

    /// How many threads there are now, idle ones included.
    package var threadCount: Int { state.withLock { $0.count } }

    /// How many calls stand in the line.
    package var lineLength: Int { state.withLock { $0.line.count } }

    /// Runs a call that may block on a thread of the pool.
    ///
    /// - Parameters:
    ///   - limit: How long the call may wait in all; with nil it waits for its thread however long that takes, and also
    ///     when its task is cancelled.
    ///   - operation: What an error says could not be done.
    ///   - subject: What it says that was to be done with.
    ///   - body: The call. It asks what is left of its limit, and whether its task was cancelled.
    /// - Throws: `FileError` `.lockTimeout` or `.cancelled` where that happened in the line, before the body ran; what
    ///   the system says where it gives no thread at all.
    package func run<Value: Sendable>(
        atMost limit: Duration?, _ operation: String, _ subject: String,
        _ body: @escaping @Sendable (WaitingCall) -> Value
    ) async throws(FileError) -> Value {
        let call = WaitingCall(limit)
        let result: Result<Value, FileError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let job = WaitingJob(call: call) {
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

    private enum Placement {
        case handed(WaitingThread)
        case newThread
        case standing
        case cancelled
    }

    private func submit(_ job: WaitingJob) {
        let placement: Placement = state.withLock { state in
            if let thread = state.idle.popLast() { return .handed(thread) }
            if state.count < most {
                state.count += 1
                return .newThread
            }
            return stand(job, &state)
        }
        switch placement {
        case .handed(let thread): thread.hand(job)
        case .newThread: startThread(job)
        case .standing: limitStanding(job.call)
        case .cancelled: job.giveUp(.cancelled, nil)
        }
    }

    private func stand(_ job: WaitingJob, _ state: inout State) -> Placement {
        // A cancellation that came before found nobody to withdraw; one that comes later waits for this lock.
        if job.call.mayBeWithdrawn && job.call.isCancelled { return .cancelled }
        state.line.append(job)
        return .standing
    }

    private func limitStanding(_ call: WaitingCall) {
        guard let remaining = call.remaining, remaining < Self.longestTimer else { return }
        Self.timers.asyncAfter(deadline: .now() + remaining.dispatchInterval) { [weak self, weak call] in
            if let call { self?.withdraw(call, .lockTimeout) }
        }
    }

    private func withdraw(_ call: WaitingCall, _ code: FileError.Code) {
        guard call.mayBeWithdrawn else { return }
        let job = state.withLock { state in
            state.line.firstIndex { $0.call === call }.map { state.line.remove(at: $0) }
        }
        job?.giveUp(code, nil)
    }

    private func startThread(_ job: WaitingJob) {
        let thread = WaitingThread(pool: self)
        thread.hand(job)
        let number = thread.start(named: name, stackSize: stackSize)
        if number == 0 { return }
        // The threads that there are do it; only where there is none it cannot be done.
        let placement: Placement? = state.withLock { state in
            state.count -= 1
            if let thread = state.idle.popLast() { return .handed(thread) }
            return state.count > 0 ? stand(job, &state) : nil
        }
        switch placement {
        case .handed(let thread): thread.hand(job)
        case .standing: limitStanding(job.call)
        case .cancelled: job.giveUp(.cancelled, nil)
        case .newThread, nil: job.giveUp(FileError.Code(errno: number), number)
        }
    }

    /// The next in the line; where there is none, the thread counts as idle from now on.
    func next(for thread: WaitingThread) -> WaitingJob? {
        state.withLock { state in
            if !state.line.isEmpty { return state.line.removeFirst() }
            state.idle.append(thread)
            return nil
        }
    }

    /// Whether an idle thread may end; false where it was just handed a job.
    func mayEnd(_ thread: WaitingThread) -> Bool {
        state.withLock { state in
            guard let index = state.idle.firstIndex(where: { $0 === thread }) else { return false }
            state.idle.remove(at: index)
            state.count -= 1
            return true
        }
    }
}

/// What a call on a thread of its own can ask.
package final class WaitingCall: Sendable {
    private let deadline: SuspendingClock.Instant?
    private let flag = Atomic(false)

    fileprivate init(_ limit: Duration?) { deadline = limit.map { SuspendingClock.now + $0 } }

    /// Whether the call's task was cancelled.
    package var isCancelled: Bool { flag.load(ordering: .acquiring) }

    /// What is left of the call's limit, zero when it is used up; nil without a limit.
    package var remaining: Duration? { deadline.map { max(.zero, $0 - SuspendingClock.now) } }

    fileprivate func cancel() { flag.store(true, ordering: .releasing) }

    fileprivate var mayBeWithdrawn: Bool { deadline != nil }
}

/// A call that is to run on a thread, or is told why it does not: one of the two, once.
struct WaitingJob: Sendable {
    let call: WaitingCall
    let run: @Sendable () -> Void
    let giveUp: @Sendable (FileError.Code, CInt?) -> Void
}

extension Duration {
    fileprivate var dispatchInterval: DispatchTimeInterval {
        .nanoseconds(Int(components.seconds) * 1_000_000_000 + Int(components.attoseconds / 1_000_000_000))
    }
}
