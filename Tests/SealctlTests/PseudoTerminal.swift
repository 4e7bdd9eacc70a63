import Glibc
import TestSupport

/// A pseudo-terminal whose other end the test controls.
final class PseudoTerminal: Sendable {
    private let leader: Int32
    /// The path that programs open.
    let path: String

    init() throws {
        leader = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        // TIOCSPTLCK and TIOCGPTN of pty(7): unlockpt and ptsname, which Swift does not import.
        var lock: Int32 = 0
        var number: UInt32 = 0
        guard leader >= 0, ioctl(leader, 0x4004_5431, &lock) == 0, ioctl(leader, 0x8004_5430, &number) == 0 else {
            throw Unavailable()
        }
        path = "/dev/pts/\(number)"
    }

    deinit { close(leader) }

    /// True if setsid(1) of util-linux is installed, which gives a child this terminal as its controlling
    /// terminal.
    static let canControl = access("/usr/bin/setsid", X_OK) == 0

    /// Waits until the child has printed this text, and returns the whole output so far.
    func read(until text: String) throws -> String {
        var shown: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1024)
        while !String(decoding: shown, as: UTF8.self).contains(text) {
            var request = pollfd(fd: leader, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 30_000) > 0 else { throw Unavailable() }
            let count = Glibc.read(leader, &chunk, chunk.count)
            guard count > 0 else { throw Unavailable() }
            shown += chunk[..<count]
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Returns the remaining output.
    func readRest() -> String {
        var shown: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 1024)
        while true {
            var request = pollfd(fd: leader, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, 0) > 0, request.revents & Int16(POLLIN) != 0 else { break }
            let count = Glibc.read(leader, &chunk, chunk.count)
            guard count > 0 else { break }
            shown += chunk[..<count]
        }
        return String(decoding: shown, as: UTF8.self)
    }

    /// Types text.
    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = Glibc.write(leader, bytes, bytes.count)
    }

    /// Starts sealctl with this controlling terminal. Its standard streams other than the input are pipes.
    ///
    /// - Parameter script: The shell script, in which `$0` is the terminal and `$@` the command.
    func start(
        _ sandbox: Sandbox, _ arguments: [String], script: String = #"exec setsid -cw "$@" <"$0""#
    ) throws -> ChildProcess {
        try ChildProcess(
            "/bin/sh", ["-c", script, path, builtProduct("sealctl")] + arguments,
            environment: sandbox.environment, directory: sandbox.path("files"))
    }

    struct Unavailable: Error {}
}
