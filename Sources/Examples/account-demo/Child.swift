internal import FoundationEssentials
internal import Glibc

/// A process that the demo started, with a pipe to its input and one from its output.
final class Child {
    let name: String
    /// The read end of its output; nil once that has ended, and for a child that speaks to the terminal itself.
    private(set) var output: Int32?
    private var input: Int32?
    private let id: pid_t
    private var status: Int32?
    private var lines = LineBuffer()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - mergesErrors: Whether what it complains about comes with its output.
    ///   - isHeard: Whether its output is read here; else it goes where ours goes.
    /// - Throws: `Stop` `.unavailable`.
    init(
        _ path: String, _ arguments: [String] = [], environment: [String: String], isHeard: Bool = true,
        mergesErrors: Bool = false
    ) throws(Stop) {
        name = path.split(separator: "/").last.map(String.init) ?? path
        let inward = try Pipe.make()
        let outward = try Pipe.make()
        var launch = Launch(path, arguments, environment)
        launch.connect(inward.readEnd, to: STDIN_FILENO)
        if isHeard { launch.connect(outward.writeEnd, to: STDOUT_FILENO) }
        if mergesErrors { launch.connect(outward.writeEnd, to: STDERR_FILENO) }
        let result = launch.start()
        close(inward.readEnd)
        close(outward.writeEnd)
        guard case .success(let id) = result else {
            close(inward.writeEnd)
            close(outward.readEnd)
            throw .unavailable("\(path) does not start")
        }
        self.id = id
        input = inward.writeEnd
        output = isHeard ? outward.readEnd : nil
        if !isHeard { close(outward.readEnd) }
    }

    /// Sends one line. A child that is gone is noticed by its silence.
    func tell(_ line: String) {
        guard let input else { return }
        var line = line + "\n"
        line.withUTF8 { _ = write(input, $0.baseAddress, $0.count) }
    }

    /// Its next lines, once its output is readable.
    func hear() -> [String] {
        guard let output else { return [] }
        let count = withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 1) { buffer in
            let count = read(output, buffer.baseAddress, buffer.count)
            if count > 0 { lines.append(UnsafeRawBufferPointer(rebasing: buffer[0..<count])) }
            return count
        }
        if count == 0 || (count < 0 && errno != EINTR && errno != EAGAIN) {
            close(output)
            self.output = nil
            return lines.takeAll()
        }
        return lines.takeWhole()
    }

    /// How often its threads have woken up from waiting, proc_pid_status(5): all but the one that waits for the kernel to
    /// tell of changes, which hears of names in a busy directory far above as well.
    var wakeUps: Int {
        let tasks = "/proc/\(id)/task"
        let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
        let lines = threads.map { thread in
            let status = (try? String(contentsOf: URL(filePath: "\(tasks)/\(thread)/status"), encoding: .utf8)) ?? ""
            return status.split(separator: "\n").map { $0.split { $0 == ":" || $0.isWhitespace } }
        }
        let counts = lines.filter { !$0.contains(["Name", "file-monitor"]) }
            .compactMap { $0.first { $0.first == "voluntary_ctxt_switches" }?.last }
        return counts.compactMap { Int($0) }.reduce(0, +)
    }

    /// Its wait status once it has ended.
    func ended() -> Int32? {
        if status == nil {
            var found: Int32 = 0
            if waitpid(id, &found, WNOHANG) == id { status = found }
        }
        return status
    }

    /// Nothing more to say to it: both programs take that as the end.
    func closeInput() {
        guard let input else { return }
        close(input)
        self.input = nil
    }

    /// Sees to it that it has ended: asks, then insists.
    func end() {
        closeInput()
        for signal in [0, SIGTERM, SIGKILL] where !awaitEnd() {
            // An ended child keeps its id until it is waited for, so no other process is ever meant.
            kill(id, signal)
        }
        _ = awaitEnd()
        if let output { close(output) }
        output = nil
    }

    private func awaitEnd() -> Bool {
        for _ in 0..<50 {
            if ended() != nil { return true }
            usleep(10_000)
        }
        return false
    }
}

/// How a program is to be started: posix_spawn(3) with its descriptors and a clean slate of signals.
struct Launch: ~Copyable {
    private let path: String
    private let arguments: [String]
    private let environment: [String]
    private var actions = posix_spawn_file_actions_t()

    init(_ path: String, _ arguments: [String], _ environment: [String: String]) {
        self.path = path
        self.arguments = [path] + arguments
        self.environment = ProcessInfo.processInfo.environment
            .merging(environment) { _, ours in ours }
            .map { "\($0)=\($1)" }
        posix_spawn_file_actions_init(&actions)
    }

    deinit {
        var actions = actions
        posix_spawn_file_actions_destroy(&actions)
    }

    mutating func connect(_ descriptor: Int32, to target: Int32) {
        posix_spawn_file_actions_adddup2(&actions, descriptor, target)
    }

    enum Failure: Error {
        case number(Int32)
    }

    func start() -> Result<pid_t, Failure> {
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        Self.resetSignals(&attributes)
        var actions = actions
        let argv = arguments.map { strdup($0) } + [nil]
        let envp = environment.map { strdup($0) } + [nil]
        defer { for string in argv + envp { free(string) } }
        var id: pid_t = 0
        let error = posix_spawn(&id, path, &actions, &attributes, argv, envp)
        return error == 0 ? .success(id) : .failure(.number(error))
    }

    /// The conductor blocks and ignores signals that its children have to feel.
    private static func resetSignals(_ attributes: inout posix_spawnattr_t) {
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
    }
}

/// A pipe whose ends no later child inherits: an end left open in a sibling would hide that a program has ended.
struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    /// - Throws: `Stop` `.unavailable`.
    static func make() throws(Stop) -> Pipe {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .unavailable("no pipe can be made") }
        // Nothing is started between the two calls: the demo has one thread.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return Pipe(readEnd: ends[0], writeEnd: ends[1])
    }
}

/// Turns what a pipe delivers into lines.
struct LineBuffer {
    private var bytes: [UInt8] = []

    mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// The lines that have their end.
    mutating func takeWhole() -> [String] {
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = bytes[...last].split(separator: UInt8(ascii: "\n"))
        bytes.removeSubrange(...last)
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    /// All lines, and what stands at the end without one.
    mutating func takeAll() -> [String] {
        defer { bytes = [] }
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// How a process ended, from its wait status.
struct ExitStatus: CustomStringConvertible {
    private let status: Int32

    init(_ status: Int32) { self.status = status }

    private var signal: Int32 { status & 0x7F }

    /// Its exit status; 128 and the signal for one that was killed, as shells have it.
    var code: Int32 { signal == 0 ? (status >> 8) & 0xFF : 128 + signal }

    var description: String {
        signal == 0 ? "exit status \(code)" : "signal \(signal) (\(String(cString: strsignal(signal))))"
    }
}
