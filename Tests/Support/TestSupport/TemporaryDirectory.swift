internal import Glibc

/// A new directory of mode 0700 that is removed with its contents when this object is released.
///
/// A test must keep the object alive while it uses the path: by `withExtendedLifetime`, or in a property of the suite.
package final class TemporaryDirectory: Sendable {
    /// The absolute path, without links.
    package let path: String

    /// Creates one in a file system in memory, where no sync waits for a disk. Where none of some size exists, and for a test
    /// that needs what only a disk has, it is under `$TMPDIR` or `/tmp`.
    package init(onDisk: Bool = false) throws {
        let usual = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let base = onDisk ? usual : Self.memory ?? usual
        var template = Array("\(base)/sealed-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil, let real = realpath(template, nil) else { throw SystemFailure("mkdtemp") }
        defer { free(real) }
        path = String(cString: real)
    }

    /// statvfs(3), `ST_NOEXEC`.
    private static let noExecution: UInt = 8

    /// A directory in memory with room for many tests, in which programs can be started.
    private static let memory: String? = {
        var facts = statvfs()
        guard access("/dev/shm", W_OK | X_OK) == 0, statvfs("/dev/shm", &facts) == 0,
            facts.f_flag & noExecution == 0, facts.f_bavail * facts.f_frsize >= 2 << 30
        else { return nil }
        return "/dev/shm"
    }()

    deinit {
        Self.removeTree(path)
    }

    private static func removeTree(_ path: String) {
        if unlink(path) == 0 { return }
        for name in (try? SystemFile.names(path)) ?? [] { removeTree("\(path)/\(name)") }
        rmdir(path)
    }

    /// Returns the path of a file in the directory.
    package func path(_ relative: String) -> String { "\(path)/\(relative)" }

    /// Creates a subdirectory and returns its path.
    @discardableResult
    package func directory(_ relative: String, mode: UInt32 = 0o700) throws -> String {
        try checked(mkdir(path(relative), 0o700), "mkdir \(relative)")
        try checked(chmod(path(relative), mode), "chmod \(relative)")
        return path(relative)
    }

    /// Creates a symbolic link in the directory.
    package func link(_ relative: String, to target: String) throws {
        try checked(symlink(target, path(relative)), "symlink \(relative)")
    }

    /// Creates a FIFO in the directory. A plain open of it blocks.
    package func fifo(_ relative: String) throws {
        try checked(mkfifo(path(relative), 0o600), "mkfifo \(relative)")
    }

    /// Creates a file in the directory.
    package func file(_ relative: String, _ text: String, mode: UInt32 = 0o600) throws {
        try SystemFile.write(path(relative), Array(text.utf8), mode: mode)
    }
}
