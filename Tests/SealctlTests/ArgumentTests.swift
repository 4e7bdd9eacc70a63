import Glibc
import TestSupport
import Testing

/// Tests of commands without `/proc`, from which Swift reads the arguments of a process.
@Suite(.enabled(if: HiddenProc.isPossible, "root and mount namespaces (unshare --mount)"))
struct ArgumentTests {
    private func withoutProc(_ sandbox: Sandbox, _ script: String) throws -> ChildResult {
        try sandbox.shell("unshare --mount /bin/sh -c 'mount -t tmpfs none /proc && \(script)'")
    }

    @Test func aRecordIsWritten() throws {
        let sandbox = try Sandbox.initialised()
        let result = try withoutProc(sandbox, #"echo {} | "$S" put a -"#)
        #expect(result.exitCode == 0 && !result.outputText.contains("USAGE"), "\(result.errorText)")
        #expect(try sandbox.succeed(["get", "a"]).outputText == "{}\n")
    }

    @Test(.enabled(if: Sandbox.canUnlock, "a kernel keyring or a runtime directory in memory"))
    func theVaultIsLocked() throws {
        let sandbox = try Sandbox()
        try sandbox.file("pass", Array("correct horse".utf8))
        try sandbox.succeed(["init", "--passphrase-file", "pass", "--unlock-time", "1ms"])
        try sandbox.succeed(["vault", "unlock", "--passphrase-file", "pass"])
        defer { _ = try? sandbox.sealctl(["vault", "lock", "--everything"]) }
        try sandbox.succeed(["vault", "keys"])
        let result = try withoutProc(sandbox, #""$S" vault lock --everything"#)
        #expect(result.exitCode == 0 && result.outputText.hasPrefix("locked"), "\(result.errorText)")
        #expect(try sandbox.sealctl(["vault", "keys"]).exitCode == 36)
    }

    @Test func anAuditFailsOnWhatItFinds() throws {
        let sandbox = try Sandbox.initialised()
        try SystemFile.write(sandbox.container + "/Library/config.json", Array(#"{"password": "Tr0ub4dor&3xyz"}"#.utf8))
        let expected = try sandbox.sealctl(["audit", "--fail-on", "low"]).exitCode
        #expect(expected != 0)
        #expect(try withoutProc(sandbox, #""$S" audit --fail-on low"#).exitCode == expected)
    }

    @Test func aProgramIsStartedWithItsOwnArguments() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["vault", "add", "-s", "db", "-a", "ada"], input: Array("x".utf8))
        let result = try withoutProc(sandbox, #""$S" exec --env V=db/ada -- /bin/echo a b"#)
        #expect(result.outputText == "a b\n", "\(result.errorText)")
    }
}

/// Tests of a process that gets no arguments from the C library.
@Suite struct MissingArgumentTests {
    private static let compiler: String? = ["/usr/bin/clang", "/usr/bin/cc", "/opt/swift/usr/bin/clang"].first {
        SystemFile.exists($0)
    }

    /// A program that starts another one as a C library does that passes no arguments to initialisers.
    private static let shim = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        typedef int start(int (*)(int, char **, char **), int, char **, void *, void *, void *, void *);
        int __libc_start_main(int (*main)(int, char **, char **), int count, char **arguments, void *a, void *b, void *c, void *d) {
            return ((start *)dlsym(RTLD_NEXT, "__libc_start_main"))(main, 0, arguments + count, a, b, c, d);
        }
        """

    /// An empty list would show the help and succeed without a command.
    @Test(.enabled(if: compiler != nil, "needs a C compiler"), arguments: [["vault", "lock"], ["--help"], []])
    func noArgumentsAreStatus71(arguments: [String]) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("shim.c", Array(Self.shim.utf8))
        let built = try sandbox.shell("\(Self.compiler ?? "") -shared -fPIC -o shim.so shim.c -ldl")
        try #require(built.exitCode == 0, "\(built.errorText)")
        let result = try ChildProcess.run(
            "sealctl", arguments,
            environment: sandbox.environment.merging(["LD_PRELOAD": sandbox.path("files/shim.so")]) { $1 })
        #expect(result.exitCode == 71 && result.output.isEmpty, "\(result.outputText)")
        #expect(result.errorText.contains("no arguments"), "\(result.errorText)")
    }

    /// execve(2) with an empty argument vector, which Linux replaces by one with an empty string since 5.18.
    @Test func anEmptyArgumentVectorIsNotACommand() throws {
        let sandbox = try Sandbox.initialised()
        let script = """
            import ctypes, os, sys
            libc = ctypes.CDLL(None, use_errno=True)
            variables = [f"{k}={v}".encode() for k, v in os.environ.items()] + [None]
            libc.execve(sys.argv[1].encode(), (ctypes.c_char_p * 1)(None), (ctypes.c_char_p * len(variables))(*variables))
            sys.exit(f"execve: {ctypes.get_errno()}")
            """
        let found = try ChildProcess.run(
            Python.path, ["-c", script, builtProduct("sealctl")], environment: sandbox.environment)
        #expect(found.exitCode == 71 && found.output.isEmpty, "\(found.exitCode): \(found.errorText)")
        #expect(found.errorText.contains("no arguments"))
    }
}

/// A mount namespace in which `/proc` is empty.
private enum HiddenProc {
    static var isPossible: Bool {
        let words = ["--mount", "mount", "-t", "tmpfs", "none", "/proc"]
        return geteuid() == 0 && (try? ChildProcess.run("/usr/bin/unshare", words).exitCode) == 0
    }
}
