import ChildProcesses
import Glibc

/// A complete run of a program.
struct ChildProcess {
    /// The cost of a finished program.
    struct Cost {
        /// The time from start to end, in seconds.
        var wall = 0.0
        /// The processor time on all cores, in seconds.
        var processor = 0.0
        /// The peak memory in bytes; a little less if it grew in its last milliseconds.
        var peakMemory = 0.0
    }

    private let arguments: [String]
    private let environment: [String]
    private let isSilent: Bool
    private let accepted: [Int32]

    /// - Parameters:
    ///   - arguments: The program, by path or by name in `PATH`, and its arguments.
    ///   - environment: `NAME=value` pairs besides `PATH`.
    ///   - isSilent: Whether its standard error is discarded.
    ///   - accepted: The exit statuses that count as success.
    init(
        _ arguments: [String], environment: [String] = [], isSilent: Bool = false, accepting accepted: [Int32] = [0]
    ) {
        self.accepted = accepted
        self.arguments = arguments
        self.isSilent = isSilent
        self.environment = ["PATH=" + (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")] + environment
    }

    /// Runs the program to its end with empty input and discarded output.
    ///
    /// - Parameter watchingMemory: Whether to read its memory every millisecond, which costs it a little time.
    /// - Throws: `BenchmarkFailure` if it cannot start or ends with another exit status.
    @discardableResult
    func run(watchingMemory: Bool = false) throws -> Cost {
        let start = Stopwatch.now()
        let process = try spawn()
        var cost = Cost()
        while watchingMemory && isRunning(process) {
            cost.peakMemory = max(cost.peakMemory, Self.peakMemory(of: process))
            usleep(1000)
        }
        var status: Int32 = 0
        var usage = rusage()
        while wait4(process, &status, 0, &usage) < 0 && errno == EINTR {}
        cost.wall = Double(Stopwatch.now() - start) / 1e9
        cost.processor = Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime)
        let end = WaitStatus(status)
        guard end.signal == 0, accepted.contains(end.code) else {
            throw BenchmarkFailure("\(arguments[0]) failed (wait status \(status))")
        }
        return cost
    }

    private func spawn() throws -> pid_t {
        var program = ChildProgram(.name(arguments[0]), arguments, environment: environment)
        program.open("/dev/null", O_RDONLY, as: STDIN_FILENO)
        program.open("/dev/null", O_WRONLY, as: STDOUT_FILENO)
        if isSilent { program.open("/dev/null", O_WRONLY, as: STDERR_FILENO) }
        do throws(StartFailure) { return try program.start() } catch {
            throw BenchmarkFailure("\(arguments[0]) cannot be started: \(error)")
        }
    }

    private func isRunning(_ process: pid_t) -> Bool {
        var info = siginfo_t()
        return waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_signo == 0
    }

    /// `VmHWM` of proc(5). Not `ru_maxrss` of wait4(2), which includes the memory of the parent at the start.
    private static func peakMemory(of process: pid_t) -> Double {
        let words = Program.text(ofFile: "/proc/\(process)/status").split(whereSeparator: \.isWhitespace)
        guard let name = words.firstIndex(of: "VmHWM:"), name + 1 < words.count else { return 0 }
        return (Double(words[name + 1]) ?? 0) * 1024
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }
}

/// This program's directory, and the reading of small files.
enum Program {
    /// The path of this program.
    static let path: String = {
        let path = [UInt8](unsafeUninitializedCapacity: Int(PATH_MAX)) { buffer, count in
            buffer.withMemoryRebound(to: CChar.self) { text in
                guard let start = text.baseAddress else { return }
                count = max(0, readlink("/proc/self/exe", start, text.count))
            }
        }
        return String(decoding: path, as: UTF8.self)
    }()

    /// The directory of this program and of sealctl.
    static var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    /// Returns the beginning of a small text file; empty if it does not exist.
    static func text(ofFile path: String) -> String {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return "" }
        defer { close(file) }
        let bytes = [UInt8](unsafeUninitializedCapacity: 4096) { buffer, count in
            count = max(0, read(file, buffer.baseAddress, 4096))
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
