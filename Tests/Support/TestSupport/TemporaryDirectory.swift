internal import Glibc

/// A fresh directory of mode 0700 that is removed with everything in it when the test lets go of it.
///
/// A test must keep it alive while it uses the path: `withExtendedLifetime`, or a property of the suite.
package final class TemporaryDirectory: Sendable {
    /// Its absolute path, free of links.
    package let path: String

    /// Makes one under `$TMPDIR` or `/tmp`.
    package init() throws {
        let base = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(base)/sealed-test-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil, let real = realpath(template, nil) else { throw SystemFailure("mkdtemp") }
        defer { free(real) }
        path = String(cString: real)
    }

    deinit {
        Self.removeTree(path)
    }

    private static func removeTree(_ path: String) {
        if unlink(path) == 0 { return }
        for name in (try? SystemFile.names(path)) ?? [] { removeTree("\(path)/\(name)") }
        rmdir(path)
    }

    /// The path of something in it.
    package func path(_ relative: String) -> String { "\(path)/\(relative)" }

    /// Makes a directory in it and answers its path.
    @discardableResult
    package func directory(_ relative: String, mode: UInt32 = 0o700) throws -> String {
        try checked(mkdir(path(relative), 0o700), "mkdir \(relative)")
        try checked(chmod(path(relative), mode), "chmod \(relative)")
        return path(relative)
    }

    /// Makes a symbolic link in it.
    package func link(_ relative: String, to target: String) throws {
        try checked(symlink(target, path(relative)), "symlink \(relative)")
    }

    /// Makes a FIFO in it: opening it without care hangs.
    package func fifo(_ relative: String) throws {
        try checked(mkfifo(path(relative), 0o600), "mkfifo \(relative)")
    }

    /// Makes a file in it.
    package func file(_ relative: String, _ text: String, mode: UInt32 = 0o600) throws {
        try SystemFile.write(path(relative), Array(text.utf8), mode: mode)
    }
}
