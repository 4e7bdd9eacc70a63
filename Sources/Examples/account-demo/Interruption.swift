internal import Glibc

/// Signals that end the demo, noticed between two steps: they are blocked and looked for, so that no handler ever runs
/// in the middle of something that has to be cleaned up.
enum Interruption {
    private static let signals = [SIGINT, SIGTERM, SIGHUP]

    static func prepare() {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A child that is gone shows itself by the end of its output, not by ending its conductor.
        signal(SIGPIPE, SIG_IGN)
    }

    /// - Throws: `Stop` `.interrupted` once somebody wants the demo to end.
    static func check() throws(Stop) {
        var pending = sigset_t()
        sigpending(&pending)
        if let signal = signals.first(where: { sigismember(&pending, $0) == 1 }) { throw .interrupted(signal: signal) }
    }
}
