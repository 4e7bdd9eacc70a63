internal import ChildProcesses
internal import Glibc
internal import SharedFiles

/// The program that a person edits with.
struct Editor: Sendable {
    /// The command as the shell takes it: a program, perhaps with options.
    let command: String
    /// True if the environment names the editor; else it is vi(1), which waits forever without a terminal.
    private let isStated: Bool

    /// Takes the first of `$VISUAL`, `$EDITOR` and vi(1) that is not blank. On a dumb terminal `$VISUAL` is ignored, as
    /// in git.
    init() {
        func variable(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.allSatisfy(\.isWhitespace) ? nil : $0 }
        }
        let isDumb = variable("TERM").map { $0 == "dumb" } ?? false
        let stated = (isDumb ? nil : variable("VISUAL")) ?? variable("EDITOR")
        command = stated ?? "vi"
        isStated = stated != nil
    }

    /// Refuses an edit that could not be ended. It is called before anything is opened.
    ///
    /// - Throws: `Failure` `noTerminal` if the environment names no editor and standard input or output is no terminal.
    func requireTerminal() throws(Failure) {
        guard !isStated, !StandardStreams.inputIsTerminal || !StandardStreams.outputIsTerminal else { return }
        throw Failure(
            .unavailable, "noTerminal", "there is no terminal for the editor \(command)",
            hint: "Run it on a terminal, set EDITOR to a program that needs none, or use sealctl get and sealctl put.")
    }

    /// The shell script that runs the editor with the file as `$1`.
    ///
    /// The traps only keep the shell running until the editor has ended, even if a signal is typed or sent; child
    /// processes do not inherit them. So the editor's status is known, and all processes below the shell can be found.
    private var script: String { "trap : HUP INT QUIT TERM\n\(VimCommand.discreet(command)) \"$1\"" }

    /// Runs the editor on a file and waits for its end. The editor runs in this process group, so that it has the same
    /// access to the terminal.
    ///
    /// Core files stay switched off, because a crash of the editor must not write the plaintext to a disk.
    func run(on path: String, _ signals: borrowing HeldSignals) throws(Failure) {
        var program = ChildProgram(.path("/bin/sh"), ["sh", "-c", script, "sh", path])
        // The editor handles itself what we hold back or ignore.
        program.restoreSignals(HeldSignals.signals + [SIGPIPE, SIGXFSZ, SIGCHLD])
        let child: pid_t
        do throws(StartFailure) { child = try program.start() } catch {
            throw failed("it cannot be started: \(error)")
        }
        let status = signals.wait(for: child)
        let end = WaitStatus(status)
        // The shell says how its child ended by a status above 128.
        let signal = end.signal != 0 ? end.signal : max(0, end.code - 128)
        if signal == SIGINT || signal == SIGQUIT { signals.note(signal) }
        guard !signals.hasCaught, status != 0 else { return }
        if signal != 0 { throw failed("signal \(signal) ended it") }
        guard end.code != 127 else {
            throw Failure(
                .configuration, "noEditor", "the editor \(command) does not exist",
                hint: "Set VISUAL or EDITOR to one; nothing was written.")
        }
        throw failed("it ended with status \(end.code)")
    }

    private func failed(_ reason: String) -> Failure {
        Failure(
            .unavailable, "editorFailed", "the editor \(command) failed: \(reason)",
            hint: "Nothing was written; the edit was wiped.")
    }
}

/// A process and its descendants, as /proc shows them. An editor may run behind a shell and scripts.
struct EditorProcesses {
    private struct Member: Hashable {
        let pid: pid_t
        /// The start time, which distinguishes the process from a later one with the same number.
        let start: UInt64
    }

    private struct Facts {
        let state: UInt8
        let parent: pid_t
        let start: UInt64
    }

    private let root: pid_t
    /// All processes that were seen. A process whose parent has ended can no longer be found below it.
    private var members: Set<Member> = []

    init(of root: pid_t) { self.root = root }

    /// Adds the processes that exist now.
    mutating func look() {
        let all = Self.all()
        var found: Set<pid_t> = [root]
        var isGrowing = true
        while isGrowing {
            let below = all.filter { !found.contains($0.key) && found.contains($0.value.parent) }.map(\.key)
            found.formUnion(below)
            isGrowing = !below.isEmpty
        }
        for pid in found { if let facts = all[pid] { members.insert(Member(pid: pid, start: facts.start)) } }
    }

    func send(_ number: Int32) {
        for member in members where Self.lives(member) { kill(member.pid, number) }
    }

    /// True if a process is stopped and does not react to other signals until it is continued.
    var isStopped: Bool {
        members.contains { member in
            Self.facts(of: member.pid).map { $0.state == UInt8(ascii: "T") && $0.start == member.start } ?? false
        }
    }

    var isAlive: Bool { members.contains { Self.lives($0) } }

    private static func lives(_ member: Member) -> Bool {
        guard let facts = facts(of: member.pid), facts.start == member.start else { return false }
        return facts.state != UInt8(ascii: "Z") && facts.state != UInt8(ascii: "X")
    }

    private static func all() -> [pid_t: Facts] {
        let names = (try? Directory.open("/proc").entries().map(\.name)) ?? []
        return names.reduce(into: [:]) { all, name in if let pid = pid_t(name) { all[pid] = facts(of: pid) } }
    }

    /// Returns state, parent and start from /proc/PID/stat. The name before them may contain any character, including
    /// brackets.
    private static func facts(of pid: pid_t) -> Facts? {
        let file = open("/proc/\(pid)/stat", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: 1024)
        let count = read(file, &bytes, bytes.count)
        guard count > 0, let end = bytes[..<count].lastIndex(of: UInt8(ascii: ")")) else { return nil }
        let fields = String(decoding: bytes[(end + 1)..<count], as: UTF8.self).split(separator: " ")
        guard fields.count > 19, let state = fields[0].utf8.first, let parent = pid_t(fields[1]),
            let start = UInt64(fields[19])
        else { return nil }
        return Facts(state: state, parent: parent, start: start)
    }
}
