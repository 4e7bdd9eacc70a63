import Glibc

/// A file system in memory that a test fills, on machines that allow a mount.
package final class SmallFileSystem {
    /// The mount point.
    package let path: String
    private var bound: [String] = []

    /// True if this process may mount a file system: it is root, outside a sandbox that forbids it.
    package static let isPossible: Bool = {
        guard geteuid() == 0, let place = try? TemporaryDirectory(),
            let small = try? SmallFileSystem(at: place.path)
        else { return false }
        return withExtendedLifetime(small) { true }
    }()

    /// - Parameters:
    ///   - path: An existing directory.
    ///   - options: The options of tmpfs(5); 64 KiB by default.
    package init(at path: String, options: String = "size=64k") throws {
        self.path = path
        guard mount("none", path, "tmpfs", 0, "\(options),mode=0700") == 0 else { throw SystemFailure("mount") }
    }

    deinit {
        for path in bound.reversed() { umount2(path, Int32(MNT_DETACH)) }
        umount2(path, Int32(MNT_DETACH))
    }

    /// Makes a file or directory read-only.
    package func makeReadOnly(_ path: String) throws {
        guard mount(path, path, nil, UInt(MS_BIND), nil) == 0 else { throw SystemFailure("mount") }
        bound.append(path)
        let flags = UInt(MS_BIND) | UInt(MS_REMOUNT) | UInt(MS_RDONLY)
        guard mount(nil, path, nil, flags, nil) == 0 else { throw SystemFailure("mount") }
    }

    /// Fills the file system until no byte is free.
    package func fillBytes() throws {
        let file = Glibc.open("\(path)/fill", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw SystemFailure("open") }
        defer { close(file) }
        let block = [UInt8](repeating: 0, count: 4096)
        while write(file, block, block.count) > 0 {}
        guard errno == ENOSPC else { throw SystemFailure("write") }
    }

    /// Creates empty files until no inode is free.
    package func fillInodes() throws {
        var number = 0
        while true {
            let file = Glibc.open("\(path)/empty\(number)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
            guard file >= 0 else { break }
            close(file)
            number += 1
        }
        guard errno == ENOSPC else { throw SystemFailure("open") }
    }
}
