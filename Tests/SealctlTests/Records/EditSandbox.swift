import Glibc
import TestSupport
import Testing

/// A sandbox with a runtime directory in memory, and editors that are small shell scripts.
final class EditSandbox: Sendable {
    let sandbox: Sandbox
    /// A directory in memory that only this test uses.
    let runtime: String

    /// True if this machine has a directory in memory that all users may use.
    static let hasMemory: Bool = {
        var facts = stat()
        return stat("/dev/shm", &facts) == 0 && facts.st_mode & S_ISVTX != 0
    }()

    init(_ json: String = #"{"a":1}"#, onDisk: Bool = false) throws {
        sandbox = try Sandbox.initialised(onDisk: onDisk)
        runtime = "/dev/shm/sealctl-tests.\(String(UInt64.random(in: .min ... .max), radix: 16))"
        guard mkdir(runtime, 0o700) == 0 else { throw PseudoTerminal.Unavailable() }
        try sandbox.put("a", json)
    }

    deinit { _ = try? ChildProcess.run("/bin/rm", ["-rf", runtime]) }

    /// Creates an editor from a shell script, in which `$1` is the file and `$S` is sealctl, and returns its path.
    @discardableResult
    func editor(_ script: String, _ name: String = "editor") throws -> String {
        let path = try sandbox.file(name, Array("#!/bin/sh\n\(script)\n".utf8))
        #expect(chmod(path, 0o755) == 0)
        return path
    }

    var variables: [String: String] {
        sandbox.environment.merging([
            "XDG_RUNTIME_DIR": runtime, "EDITOR": sandbox.path("files/editor"), "VISUAL": "", "TERM": "xterm",
            "S": builtProduct("sealctl"),
        ]) { $1 }
    }

    func edit(
        _ arguments: [String] = ["a"], _ changes: [String: String] = [:], input: [UInt8] = []
    ) throws -> ChildResult {
        try ChildProcess.run(
            "sealctl", ["edit"] + arguments, environment: variables.merging(changes) { $1 },
            directory: sandbox.path("files"), input: input)
    }

    /// Runs a script of bash(1), with jobs, on a terminal; `$S` is sealctl.
    func jobs(_ script: String, on terminal: PseudoTerminal) throws -> ChildProcess {
        try ChildProcess(
            "/bin/sh",
            ["-c", #"exec setsid -cw /bin/bash -c "$1" <"$0" >"$0" 2>"$0""#, terminal.path, "set -m\n" + script],
            environment: variables, directory: sandbox.path("files"))
    }

    func start(_ arguments: [String] = ["a"]) throws -> ChildProcess {
        try ChildProcess("sealctl", ["edit"] + arguments, environment: variables, directory: sandbox.path("files"))
    }

    /// Starts the same with a terminal for questions.
    func start(on terminal: PseudoTerminal, _ arguments: [String] = ["a"]) throws -> ChildProcess {
        try ChildProcess(
            "/bin/sh",
            ["-c", #"exec setsid -cw "$@" <"$0""#, terminal.path, builtProduct("sealctl"), "edit"] + arguments,
            environment: variables, directory: sandbox.path("files"))
    }

    func value(_ name: String = "a") throws -> String { try sandbox.succeed(["get", name]).outputText }

    /// Returns the names of all files in memory.
    func remains() throws -> [String] { try SystemFile.names(runtime) }
}
