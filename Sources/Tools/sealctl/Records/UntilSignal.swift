internal import Glibc
internal import SharedFiles
internal import Synchronization

/// Work that runs until it ends or a person ends it. A signal is the usual end of `watch`, and not a failure.
enum UntilSignal {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// The result of the work; `nil` while it runs.
    private final class Outcome: Sendable {
        let result = Mutex<Result<Void, Failure>?>(nil)
    }

    /// - Parameter work: Work that ends soon after its task was cancelled. If it does not, a second signal ends the
    ///   process.
    static func run(_ work: @escaping @Sendable () async throws(Failure) -> Void) throws(Failure) {
        // The mask is set before any thread is created, because threads inherit it. So only this thread receives the
        // signals.
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        let outcome = Outcome()
        let waiting = pthread_self()
        let task = Task {
            do throws(Failure) {
                try await work()
                outcome.result.withLock { $0 = .success(()) }
            } catch {
                outcome.result.withLock { $0 = .failure(error) }
            }
            pthread_kill(waiting, SIGTERM)
        }
        OutputReader.whenClosed {
            let error = FileError(errno: EPIPE, operation: "write", path: "standard output")
            outcome.result.withLock { $0 = $0 ?? .failure(Failure(error, .output)) }
            pthread_kill(waiting, SIGTERM)
        }
        try waitForEnd(outcome, task, set)
    }

    private static func waitForEnd(_ outcome: Outcome, _ task: Task<Void, Never>, _ set: sigset_t) throws(Failure) {
        var set = set
        var wasAsked = false
        while true {
            var number: Int32 = 0
            sigwait(&set, &number)
            if let result = outcome.result.withLock({ $0 }) { return try result.get() }
            // The work may block in a write whose reader does not read.
            if wasAsked { return }
            wasAsked = true
            task.cancel()
        }
    }
}

/// A monitor that notices the end of standard output's reader while nothing is written.
final class OutputReader: Sendable {
    private let body: @Sendable () -> Void

    private init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    /// - Parameter body: A closure that is called once, on a separate thread, when standard output is a pipe or socket
    ///   and its other end is closed.
    static func whenClosed(_ body: @escaping @Sendable () -> Void) {
        var facts = stat()
        guard fstat(1, &facts) == 0, [S_IFIFO, S_IFSOCK].contains(facts.st_mode & S_IFMT) else { return }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(OutputReader(body))
        // If no thread can be created, the next write reports the end.
        guard pthread_create(&thread, nil, outputReaderMain, context.toOpaque()) == 0 else { return context.release() }
        pthread_detach(thread)
    }

    fileprivate func run() {
        // No events are requested, because poll(2) always reports a closed other end.
        var request = pollfd(fd: 1, events: 0, revents: 0)
        while poll(&request, 1, -1) < 0 { guard errno == EINTR else { return } }
        if request.revents & Int16(POLLERR | POLLHUP) != 0 { body() }
    }
}

private func outputReaderMain(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let context else { return nil }
    Unmanaged<OutputReader>.fromOpaque(context).takeRetainedValue().run()
    return nil
}
