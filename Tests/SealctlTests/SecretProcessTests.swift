import Glibc
import TestSupport
import Testing

/// Tests that a process with secrets leaves none behind and cannot be read by others.
@Suite struct SecretProcessTests {
    /// Starts a process that waits for a passphrase. If root runs the tests, it runs as a user without rights. Core
    /// files are allowed for it as far as the machine allows them.
    private func waiting(_ sandbox: Sandbox) throws -> ChildProcess {
        chmod(sandbox.directory.path, 0o755)
        let drop = geteuid() == 0 ? "/usr/bin/setpriv --reuid=65534 --regid=65534 --clear-groups " : ""
        let script = "ulimit -c 1000 2>/dev/null; exec \(drop)\"$0\" vault keys --passphrase-file -"
        return try ChildProcess(
            "/bin/sh", ["-c", script, builtProduct("sealctl")], environment: sandbox.environment)
    }

    /// Waits until the program itself runs, and then until its /proc entries belong to root, which is the kernel's
    /// reaction to a process that has hidden its memory.
    private func isHidden(_ child: ChildProcess) throws -> Bool {
        var status = stat()
        for _ in 0..<3000 {
            let name = String(decoding: try SystemFile.read("/proc/\(child.pid)/comm"), as: UTF8.self)
            if name == "sealctl\n", stat("/proc/\(child.pid)/environ", &status) == 0, status.st_uid == 0 { return true }
            usleep(10_000)
        }
        return false
    }

    @Test(.enabled(if: ChildProcess.canRunUnprivileged, "needs a user without rights"))
    func itLeavesNoCoreFileAndItsMemoryIsNotReadable() throws {
        let sandbox = try Sandbox()
        let child = try waiting(sandbox)
        #expect(try isHidden(child))
        let limits = String(decoding: try SystemFile.read("/proc/\(child.pid)/limits"), as: UTF8.self)
        let core = try #require(limits.split(separator: "\n").first { $0.hasPrefix("Max core file size") })
        #expect(core.split(separator: " ").dropFirst(4).first == "0")
        _ = try child.finish()
    }
}
