internal import Glibc
internal import SharedFiles
internal import Synchronization

/// Runs work until it ends or a person ends it: for what is watched a signal is the usual end, and no failure.
enum UntilSignal {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    /// What the work came to; nil while it runs.
    private final class Outcome: Sendable {
        let result = Mutex<Result<Void, Failure>?>(nil)
    }

    /// - Parameter work: Ends soon after its task was cancelled. A second signal ends the process where it does not.
    static func run(_ work: @escaping @Sendable () async throws(Failure) -> Void) throws(Failure) {
        // Before any thread is made: they inherit it, so that a signal waits for this one.
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
        OutputReader.whenGone {
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
            // The work may hang in a write to somebody who does not read.
            if wasAsked { return }
            wasAsked = true
            task.cancel()
        }
    }
}
