@preconcurrency internal import Glibc
internal import Synchronization

/// A child process with three pipes. If it is still running when this object is released, it is killed and reaped.
package final class ChildProcess: Sendable {
    /// Its process id.
    package let pid: Int32

    struct Streams {
        var input: Int32
        var output: Int32
        var errors: Int32
        var outputRead: [UInt8] = []
        var errorsRead: [UInt8] = []
        var status: ChildStatus?
    }

    let streams: Mutex<Streams>

    /// Starts an executable by its path; without a `/` it is a product of this package.
    ///
    /// - Parameters:
    ///   - environment: added to the test's own environment; an empty value removes a variable.
    ///   - directory: its working directory.
    package init(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        directory: String? = nil
    ) throws {
        // Writing to a child that has ended must fail with EPIPE and not end the tests. The child gets the default
        // action.
        _ = signal(SIGPIPE, SIG_IGN)
        let path = executable.contains("/") ? executable : builtProduct(executable)
        let variables = Self.environment(adding: environment)
        let launch = Launch(path: path, arguments: arguments, environment: variables, directory: directory)
        let (pid, streams) = try Self.spawning.withLock { _ in try Self.start(launch) }
        self.pid = pid
        self.streams = Mutex(streams)
    }

    /// A lock that allows one spawn at a time. A child that inherits another child's pipe, before its close-on-exec
    /// flag is set, would keep that pipe open.
    private static let spawning = Mutex(())

    private static func start(_ launch: Launch) throws -> (Int32, Streams) {
        let (input, output, errors) = (try Pipe(), try Pipe(), try Pipe())
        defer { [input.reader, output.writer, errors.writer].forEach { _ = close($0) } }
        do {
            let pid = try launch.spawn(streams: [input.reader, output.writer, errors.writer])
            return (pid, Streams(input: input.writer, output: output.reader, errors: errors.reader))
        } catch {
            [input.writer, output.reader, errors.reader].forEach { _ = close($0) }
            throw error
        }
    }

    deinit {
        streams.withLock { streams in
            if streams.status == nil {
                Glibc.kill(pid, SIGKILL)
                var status: Int32 = 0
                waitpid(pid, &status, 0)
            }
            for descriptor in [streams.input, streams.output, streams.errors] where descriptor >= 0 {
                close(descriptor)
            }
        }
    }

    /// Runs an executable to its end, with these bytes on its standard input.
    package static func run(
        _ executable: String, _ arguments: [String] = [], environment: [String: String] = [:],
        directory: String? = nil, input: [UInt8] = [], timeLimit: Duration = .seconds(120)
    ) throws -> ChildResult {
        let child = try ChildProcess(executable, arguments, environment: environment, directory: directory)
        return try child.finish(input: input, timeLimit: timeLimit)
    }

    private static func environment(adding changes: [String: String]) -> [String] {
        var inherited: [String] = []
        var next = environ
        while let entry = next.pointee {
            inherited.append(String(cString: entry))
            next += 1
        }
        let kept = inherited.filter { changes[String($0.prefix { $0 != "=" })] == nil }
        return kept + changes.filter { !$0.value.isEmpty }.map { "\($0.key)=\($0.value)" }
    }
}

/// Both ends of a pipe, closed in children unless passed on.
struct Pipe {
    let reader: Int32
    let writer: Int32

    init() throws {
        var ends: [Int32] = [-1, -1]
        try checked(pipe(&ends), "pipe")
        for end in ends { try checked(fcntl(end, F_SETFD, FD_CLOEXEC), "fcntl") }
        (reader, writer) = (ends[0], ends[1])
    }
}
