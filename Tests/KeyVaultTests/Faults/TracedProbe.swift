import Glibc
import TestSupport

/// One command of `sealed-probe` under strace(1), which kills it or fails its system calls at chosen places.
struct TracedProbe {
    let arguments: [String]
    /// Where strace writes: beside what is looked at, not in it.
    let log: String

    /// One system call: its name, which call of that name it is in the whole life of the process, and its line.
    struct Call: Sendable, CustomStringConvertible {
        let name: String
        let ordinal: Int
        let line: String
        var description: String { "\(name) \(ordinal)" }

        /// Whether files can be different after it. What is printed is no file's.
        var isChange: Bool {
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

    /// False where strace is missing or tracing is forbidden.
    static let isPossible: Bool = {
        guard let path else { return false }
        return (try? ChildProcess.run(path, ["-qq", "-o", "/dev/null", "/bin/true"]).exitCode) == 0
    }()

    /// The long form: every call, every error; for `make faults`.
    static let isLong = getenv("SEALED_LONG").map { String(cString: $0) } == "1"

    private static let path = ["/usr/bin/strace", "/bin/strace"].first { SystemFile.exists($0) }

    /// Runs the command with strace's injections, such as `fsync:error=EIO`, and answers what it left.
    func run(injecting injections: [String] = []) throws -> ChildResult {
        let words =
            ["-qq", "-s", "0", "-o", log] + injections.flatMap { ["-e", "inject=\($0)"] }
            + [builtProduct("sealed-probe")] + arguments
        return try ChildProcess.run(Self.path ?? "", words, environment: ["SWIFT_BACKTRACE": "enable=no"])
    }

    /// Runs the command and kills it when it enters that call.
    func run(killedAt call: Call) throws -> ChildResult {
        try run(injecting: ["\(call.name):signal=KILL:when=\(call.ordinal)"])
    }

    /// The calls of the last run from the first one whose line contains `start`, or all of them.
    func calls(from start: String?) throws -> [Call] {
        var counts: [String: Int] = [:]
        var calls: [Call] = []
        for line in String(decoding: try SystemFile.read(log), as: UTF8.self).split(separator: "\n") {
            let name = String(line.prefix { $0 != "(" })
            guard name.allSatisfy({ $0.isLetter || $0.isNumber || $0 == "_" }) else { continue }
            counts[name, default: 0] += 1
            guard name != "execve", !calls.isEmpty || start.map({ line.contains($0) }) ?? true else { continue }
            calls.append(Call(name: name, ordinal: counts[name] ?? 0, line: String(line)))
        }
        return calls
    }

    func removeLog() { unlink(log) }
}
