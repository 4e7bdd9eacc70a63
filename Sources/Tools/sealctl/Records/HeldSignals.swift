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
    static var arePending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.contains { sigismember(&pending, $0) == 1 }
    }

    func note(_ number: Int32) { caught.store(number, ordering: .relaxed) }

    /// Waits until an editor has ended; its status as waitpid(2) gives it.
    ///
    /// Who ends us ends the editor as well, with all that it has started: it is asked to, and killed when it does not. The
    /// terminal's own Ctrl-C has reached the editor already, which may have its own use for it, unless it is stopped. Ctrl-Z
    /// stops us with it, and what continues us continues it: we are in one process group.
    func wait(for child: pid_t) -> Int32 {
        var status: Int32 = 0
        var ending: EditorProcesses?
        while waitpid(child, &status, WNOHANG) != child {
            let (number, isTyped) = Self.next(isLimited: ending != nil)
            if number == SIGCHLD { continue }
            if number < 0 {
                guard errno == EAGAIN else { continue }
                ending?.look()
                ending?.send(SIGKILL)
                continue
            }
            var processes = ending ?? EditorProcesses(of: child)
            processes.look()
            if isTyped && !processes.isStopped { continue }
            note(number)
            Self.ask(processes, number)
            ending = processes
        }
        if let ending { Self.end(ending) }
        return status
    }

    /// The next signal, or -1.
    ///
    /// - Parameter isLimited: Whether it is waited for no longer than the grace.
    private static func next(isLimited: Bool) -> (number: Int32, isTyped: Bool) {
        var info = siginfo_t()
        var set = set
        var limit = grace
        let number = isLimited ? sigtimedwait(&set, &info, &limit) : sigwaitinfo(&set, &info)
        // SI_KERNEL: typed on the terminal.
        return (number, (number == SIGINT || number == SIGQUIT) && info.si_code == 0x80)
    }

    private static func ask(_ processes: EditorProcesses, _ number: Int32) {
        processes.send(number == SIGHUP ? SIGHUP : SIGTERM)
        // One that was stopped does not hear anything else.
        processes.send(SIGCONT)
    }

    /// Waits for those whose parent has ended before them.
    private static func end(_ processes: EditorProcesses) {
        var pause = timespec(tv_sec: 0, tv_nsec: 50_000_000)
        for _ in 0..<60 where processes.isAlive { nanosleep(&pause, nil) }
        processes.send(SIGKILL)
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
