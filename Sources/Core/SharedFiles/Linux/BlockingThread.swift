// The thread attributes are CDispatch's where FoundationEssentials is loaded.
internal import CDispatch
internal import CLinux
internal import Dispatch
internal import Glibc
internal import Synchronization

/// A detached thread of a ``BlockingThreadPool``. It blocks every signal that is not of a fault of its own, so it runs no
/// other signal handlers of the program.
final class BlockingThread: Sendable {
    private static let patience = DispatchTimeInterval.seconds(10)

    private let pool: BlockingThreadPool
    private let job = Mutex<BlockingJob?>(nil)
    private let handed = DispatchSemaphore(value: 0)

    init(pool: BlockingThreadPool) { self.pool = pool }

    /// Hands over the next job. Only while the thread is idle, or before it starts.
    func hand(_ job: BlockingJob) {
        self.job.withLock { $0 = job }
        handed.signal()
    }

    /// - Returns: 0, or the error number if no thread could be created.
    func start(named name: String, stackSize: Int) -> CInt {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
        pthread_attr_setstacksize(&attributes, stackSize)
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        // The report of a crash is made by a handler.
        for fault in [SIGSEGV, SIGBUS, SIGILL, SIGTRAP, SIGFPE, SIGABRT, SIGSYS] { sigdelset(&all, fault) }
        // The new thread inherits the mask, so there is no moment with unblocked signals.
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(BlockingThreadStart(thread: self, name: name))
        let number = pthread_create(&thread, &attributes, blockingThreadMain, context.toOpaque())
        if number != 0 { context.release() }
        return number
    }

    fileprivate func run() {
        while let job = take() ?? pool.next(for: self) ?? awaitJob() { job.run() }
    }

    /// Waits for the idle thread's next job; returns nil when the thread is to end.
    private func awaitJob() -> BlockingJob? {
        if handed.wait(timeout: .now() + Self.patience) == .timedOut {
            if pool.mayEnd(self) { return nil }
            // It was removed from the idle threads: the job is about to arrive.
            handed.wait()
        }
        return job.withLock { $0.take() }
    }

    /// Takes the job that the thread was started with.
    private func take() -> BlockingJob? {
        handed.wait(timeout: .now()) == .success ? job.withLock { $0.take() } : nil
    }
}

private final class BlockingThreadStart: Sendable {
    let thread: BlockingThread
    let name: String

    init(thread: BlockingThread, name: String) {
        self.thread = thread
        self.name = name
    }
}

private func blockingThreadMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    let start = Unmanaged<BlockingThreadStart>.fromOpaque(context).takeRetainedValue()
    _ = clinux_name_thread(start.name)
    start.thread.run()
    return nil
}
