package import Glibc

/// A file whose byte ranges are locks between processes, and between threads of one process.
///
/// The file stays empty and is never removed. Each acquisition opens it afresh, so two threads exclude each other as
/// two processes do. A holder that dies frees its locks; one that is stopped costs others their time limit.
package final class LockFile: Sendable {
    private let directory: Directory
    private let name: String
    private let mode: mode_t

    /// A lock file by its name in a directory; made when the first lock is taken.
    ///
    /// - Parameter mode: permission bits it gets at least, whatever the umask: `Directory.fileMode`, where others share it.
    package init(directory: Directory, name: String, mode: mode_t = 0o600) {
        self.directory = directory
        self.name = name
        self.mode = mode
    }

    /// Takes a range, waiting until it is free. Blocks the calling thread.
    ///
    /// Waits by trying again, after 50 microseconds first and at most a millisecond later, so that a limit and
    /// cancellation always work. There is no queue; but who has waited for 20 milliseconds shows it, and whoever comes then
    /// holds back for 2 milliseconds before the first attempt, so that nobody is kept out by others who come again and
    /// again.
    /// - Parameters:
    ///   - timeout: zero tries once, and holds back for nobody.
    ///   - isCancelled: asked before each wait.
    /// - Throws: `lockTimeout`, `lockFileReplaced` when the time ran out on a file that kept being replaced,
    ///   `cancelled`, `notRegularFile` or `unsafePath` for something planted, or what opening it gave.
    package func acquire(
        _ range: LockRange, _ lockMode: LockMode, timeout: Duration, isCancelled: (() -> Bool)? = nil
    ) throws(FileError) -> HeldLock {
        var wait = LockWait(timeout: timeout, isCancelled: isCancelled)
        var line = LockLine(range)
        var file = try open()
        if timeout > .zero && line.isFormed(file) { try wait.giveWay(directory.display(name)) }
        while true {
            let result = ByteRangeLock.attempt(file.rawValue, range, lockMode)
            // Asked while waiting too: a lock on a file that lost its name excludes nobody and may never come free.
            let isNamed = Self.isNamed(file, name, in: directory)
            if result == 0 && isNamed {
                line.leave(file)
                return HeldLock(file, range, directory, name)
            }
            do throws(FileError) {
                if result < 0 && result != -EAGAIN { throw directory.error(-result, "take the lock", name) }
                try wait.step(isNamed ? .lockTimeout : .lockFileReplaced, directory.display(name))
            } catch {
                line.leave(file)
                throw error
            }
            if !isNamed {
                line.leave(file)
                file = try open()
            }
            if wait.isLong { line.join(file) }
        }
    }

    private func open() throws(FileError) -> Descriptor {
        _ = try LeafName(name)
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
        let file = try directory.openOrMake(name, flags, mode: mode, "open the lock file")
        let facts = try file.attributes()
        try requireLockFile(facts)
        try widenMode(of: file, facts)
        return file
    }

    /// A planted FIFO or device is no lock; a second name or a foreign owner means that somebody chose our lock's file.
    private func requireLockFile(_ facts: FileAttributes) throws(FileError) {
        guard facts.kind == .regular else {
            throw FileError(.notRegularFile, operation: "use the lock file", path: directory.display(name))
        }
        // 0 names: removed since it was opened; the caller sees that and opens the new one.
        if facts.nlink > 1 { throw unsafeLockFile }
        if facts.uid == geteuid() || facts.uid == 0 { return }
        let place = try directory.attributes(".")
        let isMembers = place.sharing == .unixGroup(facts.gid)
        if facts.uid != place.uid && !isMembers { throw unsafeLockFile }
    }

    private var unsafeLockFile: FileError {
        let path = directory.display(name)
        return FileError(
            .unsafePath, operation: "use the lock file", path: path,
            advice: "It has a second name or a foreign owner; stop its users and remove it: rm \(path.shellQuoted)")
    }

    /// Undoes what somebody took from a file that is ours, so that other members can lock it as well.
    private func widenMode(of file: borrowing Descriptor, _ facts: FileAttributes) throws(FileError) {
        if facts.uid == geteuid() && mode & ~facts.mode != 0 && fchmod(file.rawValue, facts.mode | mode) < 0 {
            throw directory.error(errno, "set the mode of", name)
        }
    }

    /// Whether the open file is the one that its name stands for now.
    static func isNamed(_ file: borrowing Descriptor, _ name: String, in directory: Directory) -> Bool {
        do throws(FileError) {
            return try file.attributes().isSameFile(as: directory.attributes(ofLeaf: name))
        } catch {
            return false
        }
    }
}
