internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// A detached thread of a ``WaitingThreads``, with every signal blocked: the program's signal handlers are not for it.
final class WaitingThread: Sendable {
    private static let patience = DispatchTimeInterval.seconds(10)

    private let pool: WaitingThreads
    private let job = Mutex<WaitingJob?>(nil)
    private let handed = DispatchSemaphore(value: 0)

    init(pool: WaitingThreads) { self.pool = pool }

    /// Hands it its next job. Only while it is idle, or before it starts.
    func hand(_ job: WaitingJob) {
        self.job.withLock { $0 = job }
        handed.signal()
    }

    /// - Returns: 0, or the system's number of why there is no thread.
    func start(named name: String, stackSize: Int) -> CInt {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // The new thread inherits the mask, so that no signal finds it open for a moment.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(WaitingThreadStart(thread: self, name: name))
        let number = pthread_create(&thread, &attributes, waitingThreadMain, context.toOpaque())
        if number != 0 { context.release() }
        return number
    }

    fileprivate func run() {
        while let job = take() ?? pool.next(for: self) ?? awaitJob() { job.run() }
    }

    /// The next job that an idle thread is handed; nil when it is to end.
    private func awaitJob() -> WaitingJob? {
        if handed.wait(timeout: .now() + Self.patience) == .timedOut {
            if pool.mayEnd(self) { return nil }
            // It was taken from the idle ones: the job is on its way.
            handed.wait()
        }
        return job.withLock { $0.take() }
    }

    /// The job that it was started with.
    private func take() -> WaitingJob? {
        handed.wait(timeout: .now()) == .success ? job.withLock { $0.take() } : nil
    }
}

private final class WaitingThreadStart: Sendable {
    let thread: WaitingThread
    let name: String

    init(thread: WaitingThread, name: String) {
        self.thread = thread
        self.name = name
    }
}

private func waitingThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<WaitingThreadStart>.fromOpaque(context).takeRetainedValue()
    _ = clinux_name_thread(start.name)
    start.thread.run()
    return nil
}
