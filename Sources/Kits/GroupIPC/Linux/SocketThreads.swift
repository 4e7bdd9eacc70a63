/// The counts by which the threads of a `SocketPoll` share their work, and the jobs that wait for one.
struct SocketThreads: Sendable {
    /// The maximum number of threads.
    let most: Int
    var jobs: [UnownedJob] = []
    private var count = 0
    /// The threads that wait for an event.
    var waiting = 0
    /// The threads that examine the jobs before they wait.
    var attentive = 0
    /// A job runs on a thread of the global pool.
    private var runsWithoutThread = false

    init(most: Int) { self.most = most }

    /// The thread that has to examine the jobs.
    enum Call: Sendable {
        case unneeded
        /// A thread that waits; without descriptors it looks by itself soon.
        case waiting
        case new
    }

    enum Step: Sendable {
        case run(UnownedJob)
        /// At most for the milliseconds; without a limit if negative.
        case wait(Int32)
        case end
    }

    /// Chooses the thread that has to examine the jobs. If all run jobs, they examine the others afterwards.
    mutating func call() -> Call {
        if attentive > 0 || waiting == 0 && count == most { return .unneeded }
        if waiting > 0 { return .waiting }
        count += 1
        attentive += 1
        return .new
    }

    /// Returns the next step of a thread, and the thread that has to do the rest.
    ///
    /// - Parameters:
    ///   - isAttentive: The thread is counted as one that examines the jobs.
    ///   - isIdle: The thread has waited for a long time.
    mutating func next(_ isAttentive: Bool, _ isIdle: Bool) -> (Step, Call) {
        if isAttentive { attentive -= 1 }
        let others = waiting + attentive
        // While the job runs, another thread has to wait for sockets, and to run the rest.
        if !jobs.isEmpty, others > 0 || count < most {
            let job = jobs.removeFirst()
            return (.run(job), others > 0 && jobs.isEmpty ? .unneeded : call())
        }
        if jobs.isEmpty, isIdle, waiting >= 2 {
            count -= 1
            return (.end, .unneeded)
        }
        waiting += 1
        return (.wait(waiting <= 2 ? -1 : SocketPoll.idleLimit), .unneeded)
    }

    // MARK: Without threads

    /// There is a job, and none runs on a thread of the global pool.
    var mayRunWithoutThread: Bool { !jobs.isEmpty && !runsWithoutThread }

    /// Ends a round of the work of a thread that could not be created; returns its job, and the thread that does the
    /// next round.
    ///
    /// - Parameter isUnneeded: Returns whether no wait is left.
    mutating func endRound(_ isUnneeded: () -> Bool) -> (UnownedJob?, Call) {
        count -= 1
        attentive -= 1
        if jobs.isEmpty, isUnneeded() { return (nil, .unneeded) }
        guard mayRunWithoutThread, waiting == 0 else { return (nil, call()) }
        runsWithoutThread = true
        return (jobs.removeFirst(), call())
    }

    /// Returns the next job for the thread of the global pool whose job has ended.
    mutating func nextWithoutThread() -> UnownedJob? {
        runsWithoutThread = !jobs.isEmpty && waiting == 0
        return runsWithoutThread ? jobs.removeFirst() : nil
    }
}
