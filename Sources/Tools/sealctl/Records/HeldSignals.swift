internal import Glibc
internal import Synchronization

/// Signals that arrive while plaintext is in a file. They are held back until it is wiped.
struct HeldSignals: ~Copyable {
    static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT]
    /// The time that an editor has to end after it was asked to.
    private static let grace = timespec(tv_sec: 3, tv_nsec: 0)

    private let caught = Atomic<Int32>(0)

    /// Holds the signals back until `deliver()`.
    init() {
        Interruption.watch()
        // With an inherited "ignore" the kernel would discard the editor's exit status.
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

    /// True if a signal is pending, for work that can be abandoned between two steps.
    static var arePending: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return signals.contains { sigismember(&pending, $0) == 1 }
    }

    func note(_ number: Int32) { caught.store(number, ordering: .relaxed) }

    /// Waits until an editor has ended, and returns its status as waitpid(2) does.
    ///
    /// A signal that ends this process ends the editor and all its descendants as well: they are asked to end, and
    /// killed if they do not. Ctrl-C on the terminal has already reached the editor, which may have its own use for it,
    /// unless the editor is stopped. Ctrl-Z stops this process with the editor, and a continue signal continues both,
    /// because they share a process group.
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

    /// Returns the next signal, or -1.
    ///
    /// - Parameter isLimited: True if the wait ends after the grace period.
    private static func next(isLimited: Bool) -> (number: Int32, isTyped: Bool) {
        var info = siginfo_t()
        var set = set
        var limit = grace
        let number = isLimited ? sigtimedwait(&set, &info, &limit) : sigwaitinfo(&set, &info)
        // SI_KERNEL: the signal was typed on the terminal.
        return (number, (number == SIGINT || number == SIGQUIT) && info.si_code == 0x80)
    }

    private static func ask(_ processes: EditorProcesses, _ number: Int32) {
        processes.send(number == SIGHUP ? SIGHUP : SIGTERM)
        // A stopped process does not react to other signals.
        processes.send(SIGCONT)
    }

    /// Waits for processes that outlive their parent.
    private static func end(_ processes: EditorProcesses) {
        var pause = timespec(tv_sec: 0, tv_nsec: 50_000_000)
        for _ in 0..<60 where processes.isAlive { nanosleep(&pause, nil) }
        processes.send(SIGKILL)
    }

    /// Lets the signals through again, and ends the process if a signal has arrived.
    consuming func deliver() {
        Interruption.deliver()
        var set = Self.set
        sigprocmask(SIG_UNBLOCK, &set, nil)
        let number = caught.load(ordering: .relaxed)
        if number != 0 { raise(number) }
    }
}
