internal import ChildProcesses
internal import FoundationEssentials
internal import Glibc

/// A process that the demo started, with a pipe to its input and one from its output.
final class Child {
    let name: String
    /// The read end of its output; nil after its end, and for a child that writes to the terminal itself.
    private(set) var output: Int32?
    private var input: Int32?
    private let id: pid_t
    private var status: Int32?
    private var lines = LineBuffer()

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - mergesErrors: Whether its standard error is merged with its output.
    ///   - capturesOutput: Whether its output is read here; otherwise it shares this program's output.
    /// - Throws: `Stop` `.unavailable`.
    init(
        _ path: String, _ arguments: [String] = [], environment: [String: String], capturesOutput: Bool = true,
        mergesErrors: Bool = false
    ) throws(Stop) {
        name = path.split(separator: "/").last.map(String.init) ?? path
        let inward = try Pipe.make()
        let outward = try Pipe.make()
        let variables = ProcessInfo.processInfo.environment.merging(environment) { _, ours in ours }
        var program = ChildProgram(
            .path(path), [path] + arguments, environment: variables.map { "\($0)=\($1)" })
        program.connect(inward.readEnd, to: STDIN_FILENO)
        if capturesOutput { program.connect(outward.writeEnd, to: STDOUT_FILENO) }
        if mergesErrors { program.connect(outward.writeEnd, to: STDERR_FILENO) }
        // The demo ignores the signal, but its children must receive it.
        program.restoreSignals([SIGPIPE])
        do throws(StartFailure) {
            defer {
                close(inward.readEnd)
                close(outward.writeEnd)
            }
            id = try program.start()
        } catch {
            close(inward.writeEnd)
            close(outward.readEnd)
            throw .unavailable("\(path) does not start")
        }
        input = inward.writeEnd
        output = capturesOutput ? outward.readEnd : nil
        if !capturesOutput { close(outward.readEnd) }
    }

    /// Sends a line. The absence of answers reveals a dead child.
    func send(_ line: String) {
        guard let input else { return }
        var line = line + "\n"
        line.withUTF8 { _ = write(input, $0.baseAddress, $0.count) }
    }

    /// Reads its next lines, once its output is readable.
    func readLines() -> [String] {
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

    /// The number of its threads' voluntary context switches, proc_pid_status(5). Excludes the file monitor's thread,
    /// which also wakes up for names in a busy directory far above.
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

    /// Returns its wait status once it has ended.
    func ended() -> Int32? {
        if status == nil {
            var found: Int32 = 0
            if waitpid(id, &found, WNOHANG) == id { status = found }
        }
        return status
    }

    /// Closes its input, which both programs treat as the end.
    func closeInput() {
        guard let input else { return }
        close(input)
        self.input = nil
    }

    /// Ends the child: closes its input, then sends signals.
    func end() {
        closeInput()
        for signal in [0, SIGTERM, SIGKILL] where !awaitEnd() {
            // An ended child keeps its id until it is waited for, so no other process gets the signal.
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

/// A pipe whose ends no later child inherits: an end left open in a sibling would hide that a program has ended.
struct Pipe {
    let readEnd: Int32
    let writeEnd: Int32

    /// - Throws: `Stop` `.unavailable`.
    static func make() throws(Stop) -> Pipe {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw .unavailable("no pipe can be created") }
        // No process is started between the two calls: the demo has one thread.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return Pipe(readEnd: ends[0], writeEnd: ends[1])
    }
}

/// Splits a pipe's bytes into lines.
struct LineBuffer {
    private var bytes: [UInt8] = []

    mutating func append(_ more: UnsafeRawBufferPointer) { bytes.append(contentsOf: more) }

    /// Takes the complete lines.
    mutating func takeWhole() -> [String] {
        guard let last = bytes.lastIndex(of: UInt8(ascii: "\n")) else { return [] }
        let lines = bytes[...last].split(separator: UInt8(ascii: "\n"))
        bytes.removeSubrange(...last)
        return lines.map { String(decoding: $0, as: UTF8.self) }
    }

    /// Takes all lines, including an incomplete last one.
    mutating func takeAll() -> [String] {
        defer { bytes = [] }
        return bytes.split(separator: UInt8(ascii: "\n")).map { String(decoding: $0, as: UTF8.self) }
    }
}
