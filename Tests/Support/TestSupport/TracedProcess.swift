internal import Glibc

/// One command of `sealed-probe` or of another product under strace(1), which kills it or fails its system calls at
/// chosen points.
package struct TracedProcess: Sendable {
    private let product: String
    private let arguments: [String]
    private let log: String
    private let showsPaths: Bool
    private let showsContents: Bool

    /// Prepares a command with its arguments.
    ///
    /// - Parameters:
    ///   - product: the program.
    ///   - log: the output file of strace, outside the examined directory.
    ///   - showingPaths: adds the path of its file to each descriptor, as in `read(3</etc/group>,`.
    ///   - showingContents: prints contents of up to a mebibyte, and each byte of a string as in `\x41`, for `RecordedCalls`.
    package init(
        _ arguments: [String], of product: String = "sealed-probe", log: String, showingPaths: Bool = false,
        showingContents: Bool = false
    ) {
        self.product = product
        self.arguments = arguments
        self.log = log
        showsPaths = showingPaths
        showsContents = showingContents
    }

    /// One system call: its name, its ordinal among the calls of that name in the process, and its line.
    package struct Call: Sendable, CustomStringConvertible {
        /// The system call's name.
        package let name: String
        /// The ordinal, counted from 1, for strace's `when=`.
        package let ordinal: Int
        /// The line that strace wrote, with whole file names and without contents.
        package let line: String
        /// Name and ordinal.
        package var description: String { "\(name) \(ordinal)" }

        /// True for a call that can change files. Output to the streams does not count.
        package var isChange: Bool {
            switch name {
            case "openat", "openat2": line.contains("O_CREAT") || line.contains("O_TMPFILE")
            case "write": !line.hasPrefix("write(1,")
            default: Self.changes.contains(name)
            }
        }

        private static let changes: Set = [
            "mkdirat", "fchmod", "fchown", "fallocate", "pwrite64", "ftruncate", "linkat", "fdatasync", "renameat",
            "fsync", "unlinkat", "fcntl",
        ]
    }

    /// True if strace is installed and tracing is allowed.
    package static let isPossible: Bool = {
        guard let strace else { return false }
        return (try? ChildProcess.run(strace, ["-qq", "-o", "/dev/null", "/bin/true"]).exitCode) == 0
    }()

    private static let strace = ["/usr/bin/strace", "/bin/strace"].first { SystemFile.exists($0) }

    /// Runs the command with strace's injections, such as `fsync:error=EIO`, and returns its results.
    ///
    /// - Parameters:
    ///   - everyThread: injects into the calls of all threads; ordinals are then counted per thread.
    ///   - environment: added for the command alone, not for strace.
    package func run(
        injecting injections: [String] = [], everyThread: Bool = false, environment: [String: String] = [:]
    ) throws -> ChildResult {
        try start(injecting: injections, everyThread: everyThread, environment: environment).finish()
    }

    /// Runs the command and kills it when it enters that call.
    ///
    /// - Parameter environment: added for the command alone, not for strace.
    package func run(killedAt call: Call, environment: [String: String] = [:]) throws -> ChildResult {
        try run(changing: call, "signal=KILL", environment: environment)
    }

    /// Runs the command and fails that call with an error, such as `EIO`.
    package func run(failing call: Call, with error: String) throws -> ChildResult {
        try run(changing: call, "error=\(error)")
    }

    private func run(
        changing call: Call, _ injection: String, environment: [String: String] = [:]
    ) throws -> ChildResult {
        try run(injecting: ["\(call.name):\(injection):when=\(call.ordinal)"], environment: environment)
    }

    /// Starts the command. The streams are those of the returned child.
    package func start(
        injecting injections: [String] = [], everyThread: Bool = false, environment: [String: String] = [:]
    ) throws -> ChildProcess {
        let contents = showsContents ? ["-xx", "-s", "\(1 << 20)"] : ["-s", "0"]
        let options = (everyThread ? ["-f"] : []) + (showsPaths ? ["-y"] : []) + ["-qq"] + contents + ["-o", log]
        let words =
            options + injections.flatMap { ["-e", "inject=\($0)"] } + environment.flatMap { ["-E", "\($0)=\($1)"] }
            + [builtProduct(product)] + arguments
        return try ChildProcess(Self.strace ?? "", words, environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    /// Returns the calls of the last run, from the first one whose line contains `start`, or all of them.
    package func calls(from start: String? = nil) throws -> [Call] {
        var counts: [String: Int] = [:]
        var calls: [Call] = []
        for line in try lines() {
            // Where threads are followed, their number comes first.
            let name = String(line.drop { $0.isNumber || $0 == " " }.prefix { $0 != "(" })
            guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { continue }
            counts[name, default: 0] += 1
            guard name != "execve", !calls.isEmpty || start.map({ line.contains($0) }) ?? true else { continue }
            calls.append(Call(name: name, ordinal: counts[name] ?? 0, line: line))
        }
        return calls
    }

    /// Returns the number of these calls in the last run.
    package func count(of name: String) throws -> Int { try calls().count { $0.name == name } }

    /// Returns the output of strace so far, line by line.
    package func lines() throws -> [String] {
        String(decoding: try SystemFile.read(log), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    /// Removes the output of strace.
    package func removeLog() { unlink(log) }
}
