internal import Glibc
internal import Synchronization

/// Signals that arrive while plaintext lies in a file: held back until it is wiped.
struct HeldSignals: ~Copyable {
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// How long an editor may take to end after it was asked to.
    private static let grace = timespec(tv_sec: 3, tv_nsec: 0)

    private let caught = Atomic<Int32>(0)

    /// Holds them back until `deliver()`.
    init() {
        Interruption.watch()
        // An inherited "ignore" would reap the editor before anybody learns how it ended.
        _ = signal(SIGCHLD, SIG_DFL)
        var set = Self.set
        sigprocmask(SIG_BLOCK, &set, nil)
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in signals + [SIGCHLD] { sigaddset(&set, number) }
        return set
    }

    var hasCaught: Bool { caught.load(ordering: .relaxed) != 0 }

    /// Whether one waits to be let through: for work that can be given up between two steps.
    var isPending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return hasCaught || Self.signals.contains { sigismember(&pending, $0) == 1 }
    }

    func note(_ number: Int32) { caught.store(number, ordering: .relaxed) }

    /// Waits until a child has ended; its status as waitpid(2) gives it.
    ///
    /// Who ends us ends the editor as well: it is asked to, and killed when it does not. The terminal's own Ctrl-C has
    /// reached the editor already, which may have its own use for it.
    func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        var deadline: timespec?
        while waitpid(child, &status, WNOHANG) != child {
            var info = siginfo_t()
            var set = Self.set
            let number: Int32
            if var limit = deadline {
                number = sigtimedwait(&set, &info, &limit)
            } else {
                number = sigwaitinfo(&set, &info)
            }
            if number == SIGCHLD { continue }
            if number < 0 {
                if errno == EAGAIN { kill(child, SIGKILL) }
                continue
            }
            // SI_KERNEL: typed on the terminal.
            if (number == SIGINT || number == SIGQUIT) && info.si_code == 0x80 { continue }
            note(number)
            kill(child, number == SIGHUP ? SIGHUP : SIGTERM)
            // One that was stopped does not hear anything else.
            kill(child, SIGCONT)
            deadline = Self.grace
        }
        return status
    }

    /// Lets the signals through again, and ends the process if one has come.
    consuming func deliver() {
        Interruption.deliver()
        var set = Self.set
        sigprocmask(SIG_UNBLOCK, &set, nil)
        let number = caught.load(ordering: .relaxed)
        if number != 0 { raise(number) }
    }
}
