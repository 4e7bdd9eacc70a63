internal import Glibc
internal import Synchronization

/// Signals that arrive while a terminal's echo is off: kept, so that it can be switched on again before they end us.
enum Interruption {
    private static let caught = Atomic<Int32>(0)
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]

    /// Holds the signals back; they are taken in `awaitInput(_:)` only.
    static func watch() {
        // Touched here, since a handler must not be the first to initialise it.
        caught.store(0, ordering: .relaxed)
        change(SIG_BLOCK)
        for number in signals {
            var action = sigaction()
            action.__sigaction_handler.sa_handler = { Interruption.caught.store($0, ordering: .relaxed) }
            sigaction(number, &action, nil)
        }
    }

    /// Waits for something to read; false when a signal came first.
    ///
    /// The signals are let through by the very call that waits: one that comes just before it is not slept over.
    static func awaitInput(_ descriptor: Int32) -> Bool {
        var mask = sigset_t()
        sigprocmask(SIG_BLOCK, nil, &mask)
        for number in signals { sigdelset(&mask, number) }
        while caught.load(ordering: .relaxed) == 0 {
            var wanted = fd_set()
            withUnsafeMutableBytes(of: &wanted) { $0[Int(descriptor) / 8] |= 1 << (UInt8(descriptor) % 8) }
            if pselect(descriptor + 1, &wanted, nil, nil, nil, &mask) > 0 { return true }
            if errno != EINTR { return false }
        }
        return false
    }

    /// Lets the signals through again, and ends the process if one has come.
    static func deliver() {
        for number in signals { _ = signal(number, SIG_DFL) }
        change(SIG_UNBLOCK)
        let number = caught.load(ordering: .relaxed)
        if number != 0 { raise(number) }
    }

    private static func change(_ how: Int32) {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals { sigaddset(&set, number) }
        sigprocmask(how, &set, nil)
    }
}
