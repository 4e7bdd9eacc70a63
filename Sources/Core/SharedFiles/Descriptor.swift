internal import CLinux
package import Glibc

/// A file descriptor that is closed exactly once.
///
/// Reads and writes continue after signals and short transfers, and wait if an inherited descriptor is non-blocking.
package struct Descriptor: ~Copyable, Sendable {
    /// The number for system calls; valid while this value lives.
    package private(set) var rawValue: Int32
    /// The file's name in messages.
    package let path: String
    private let isOwned: Bool

    /// Takes over an open descriptor, which is closed when this value ends.
    package init(owning rawValue: Int32, path: String) {
        self.init(rawValue, path, isOwned: true)
    }

    /// Uses an open descriptor of the caller, which stays open.
    package init(borrowing rawValue: Int32, path: String) {
        self.init(rawValue, path, isOwned: false)
    }

    private init(_ rawValue: Int32, _ path: String, isOwned: Bool) {
        self.rawValue = rawValue
        self.path = path
        self.isOwned = isOwned
    }

    /// The process's standard input; never closed.
    package static var standardInput: Descriptor { Descriptor(0, "standard input", isOwned: false) }
    /// The process's standard output; never closed.
    package static var standardOutput: Descriptor { Descriptor(1, "standard output", isOwned: false) }

    deinit {
        if isOwned && rawValue >= 0 { _ = Glibc.close(rawValue) }
    }

    /// Closes the descriptor and reports a deferred error, such as a late write error of a network file system.
    package consuming func close() throws(FileError) {
        guard isOwned else { return }
        let number = rawValue
        // The descriptor is closed even if close fails; a second close could hit another thread's new file.
        rawValue = -1
        if Glibc.close(number) < 0 && errno != EINTR { throw FileError(errno: errno, operation: "close", path: path) }
    }
}

extension Descriptor {
    /// Returns kind, size, owner and other attributes of the open file.
    package func attributes() throws(FileError) -> FileAttributes {
        var status = stat()
        if fstat(rawValue, &status) < 0 { throw FileError(errno: errno, operation: "examine", path: path) }
        return FileAttributes(status)
    }

    /// The current position; negative for a pipe or a socket.
    package var position: Int64 { Int64(lseek(rawValue, 0, SEEK_CUR)) }

    /// Reads once at the current position; returns the number of bytes, 0 at the end.
    package func readSome(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        while true {
            let count = uninterruptedCount { Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
            if count >= 0 { return count }
            try retryWhenReady(count, POLLIN, "read")
        }
    }

    /// Reads at the current position until the buffer is full or the file ends; returns the number of bytes read.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        var filled = 0
        while filled < buffer.count {
            let count = try readSome(into: UnsafeMutableRawBufferPointer(rebasing: buffer[filled...]))
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Reads at an offset until the buffer is full or the file ends; returns the number of bytes read.
    package func pread(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(FileError) -> Int {
        let count = preadFully(rawValue, buffer, offset)
        if count < 0 { throw FileError(errno: Int32(-count), operation: "read", path: path) }
        return count
    }

    /// Writes all bytes at the current position.
    package func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let part = UnsafeRawBufferPointer(rebasing: rest)
            let count = uninterruptedCount { Glibc.write(rawValue, part.baseAddress, part.count) }
            if count < 0 {
                try retryWhenReady(count, POLLOUT, "write")
            } else {
                rest = rest.dropFirst(count)
            }
        }
    }

    private func retryWhenReady(_ result: Int, _ events: Int32, _ operation: String) throws(FileError) {
        guard result == -Int(EAGAIN) else {
            throw FileError(errno: Int32(-result), operation: operation, path: path)
        }
        awaitReadiness(rawValue, Int16(events))
    }
}

/// Reads at an offset until the buffer is full or the file ends; returns the byte count or -errno.
///
/// - Parameter end: the known distance from the offset to the file's end. A read that stops exactly there needs no
///   second call to detect the end.
func preadFully(
    _ descriptor: Int32, _ buffer: UnsafeMutableRawBufferPointer, _ offset: Int64, end: Int = 0
) -> Int {
    var filled = 0
    while filled < buffer.count {
        let start = buffer.baseAddress?.advanced(by: filled)
        let count = uninterruptedCount { Glibc.pread(descriptor, start, buffer.count - filled, Int(offset) + filled) }
        if count < 0 { return count }
        filled += count
        if count == 0 || filled == end { break }
    }
    return filled
}

extension Descriptor {
    /// `SEEK_DATA` of <unistd.h>, which Swift sees only with GNU extensions.
    private static let seekData: Int32 = 3

    /// Returns the offset of the next written bytes. The bytes before it are a hole and read as zeros (lseek(2),
    /// `SEEK_DATA`).
    ///
    /// Moves the descriptor's position, which reads at an offset do not use.
    /// - Returns: the position itself if the file system has no holes; nil if only a hole follows.
    package func nextData(from position: Int64) -> Int64? {
        let found = lseek(rawValue, off_t(position), Self.seekData)
        if found >= 0 { return Int64(found) }
        return errno == ENXIO ? nil : position
    }
}

extension Descriptor {
    /// The time for which a pipe may stay silent: a named one before its first byte, one with a secret until its end.
    package static let inputLimit: Duration = .seconds(10)

    /// Opens a file that the user of the program named: any path, links followed, pipes accepted.
    ///
    /// Opening never blocks. A caller that reads pipes calls ``awaitWriter()`` before its first read. For names below a
    /// container use `Directory.openForReading(_:)`.
    /// - Throws: `notRegularFile` for a directory or a device outside `/dev`.
    package static func openForReading(path: String) throws(FileError) -> Descriptor {
        let file = try openNonBlocking(path, "open", 0)
        let kind = try file.attributes().kind
        guard kind == .regular || kind == .fifo || (kind != .directory && path.hasPrefix("/dev/")) else {
            throw FileError(
                .notRegularFile, operation: "open", path: path, advice: "Name a file; this is a \(kind.rawValue).")
        }
        return file
    }

    /// Waits for the first byte of a named pipe: without a writer a non-blocking read looks like the end of the input.
    /// An inherited pipe (`/dev/fd/N`) has its writers already and may be silent for any time.
    ///
    /// - Throws: `inputTimeout` after ``inputLimit``.
    package func awaitWriter() throws(FileError) {
        guard try attributes().kind == .fifo, clinux_file_system_type(rawValue) != pipeFileSystem else { return }
        if awaitInput(rawValue, until: ContinuousClock.now + Self.inputLimit) { return }
        throw FileError(.inputTimeout, operation: "read", path: path)
    }

    fileprivate static func openNonBlocking(
        _ path: String, _ operation: String, _ flags: Int32
    ) throws(FileError) -> Descriptor {
        let opened = uninterrupted { open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | flags) }
        if opened < 0 { throw FileError(errno: -opened, operation: operation, path: path) }
        return Descriptor(owning: opened, path: path)
    }
}

extension Descriptor {
    /// Opens an existing pipe or device for writing. A named pipe's reader has ``inputLimit`` to open it.
    ///
    /// - Throws: `inputTimeout` for a pipe without a reader, or a system error.
    package static func openForWriting(device path: String) throws(FileError) -> Descriptor {
        let deadline = ContinuousClock.now + inputLimit
        while true {
            let opened = uninterrupted { open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY) }
            if opened >= 0 { return Descriptor(owning: opened, path: path) }
            var status = stat()
            // ENXIO is the error of a pipe without a reader (fifo(7)), and of a socket.
            guard opened == -ENXIO, stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFIFO else {
                throw FileError(errno: -opened, operation: "open", path: path)
            }
            if ContinuousClock.now >= deadline {
                throw FileError(.inputTimeout, operation: "write to", path: path)
            }
            pause(.milliseconds(10))
        }
    }
}

/// PIPEFS_MAGIC of linux/magic.h: the file system of pipes without a name.
private let pipeFileSystem: Int64 = 0x5049_5045

/// The origin of a secret file's path, which determines how far the path is trusted.
package enum SecretPlace: Sendable {
    /// A path that the library has chosen: a regular file of this user or root, never a symbolic link.
    case usual
    /// A path that a person stated: links are followed (Kubernetes mounts secrets as links), and an inherited pipe is
    /// read (`/dev/fd/N`).
    case stated
}

extension Descriptor {
    /// Opens a file that holds a secret, without blocking on other kinds of files.
    ///
    /// - Parameters:
    ///   - rights: The permissions that only the owner may have; `0` for any.
    /// - Throws: `notRegularFile`, `unsafePath` for a link and `wrongOwner` at the usual place; `unsafeMode`; a system
    ///   error.
    package static func openSecret(
        path: String, at place: SecretPlace, refusing rights: mode_t, _ operation: String
    ) throws(FileError) -> Descriptor {
        let file = try openNonBlocking(path, operation, place == .usual ? O_NOFOLLOW : 0)
        let facts = try file.attributes()
        let isPipe = place == .stated && (facts.kind == .fifo || path.hasPrefix("/dev/"))
        guard facts.kind == .regular || isPipe else {
            throw FileError(
                .notRegularFile, operation: operation, path: path,
                advice: "Put a regular file there; this is a \(facts.kind.rawValue).")
        }
        guard place == .stated || facts.uid == 0 || facts.uid == geteuid() else {
            throw FileError(
                .wrongOwner, operation: operation, path: path,
                advice: "It belongs to the user \(facts.uid); use a file that belongs to this user.")
        }
        guard facts.mode & rights == 0 else {
            throw FileError(
                .unsafeMode, operation: operation, path: path,
                advice: "As its owner, remove the rights of other users: chmod 600 \(path.shellQuoted)")
        }
        return file
    }

    /// Reads at the current position until the buffer is full or the input ends, for at most `limit`. A terminal has no
    /// limit.
    ///
    /// - Returns: The number of bytes read.
    /// - Throws: `inputTimeout`, or a system error.
    package func read(
        into buffer: UnsafeMutableRawBufferPointer, within limit: Duration
    ) throws(FileError) -> Int {
        let deadline = ContinuousClock.now + limit
        var filled = 0
        while filled < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[filled...])
            let count = try readSome(into: rest, until: deadline)
            if count == 0 { break }
            filled += count
        }
        return filled
    }

    /// Reads once at the current position, until the deadline at most; returns the number of bytes, 0 at the end. A
    /// terminal has no deadline.
    package func readSome(
        into buffer: UnsafeMutableRawBufferPointer, until deadline: ContinuousClock.Instant
    ) throws(FileError) -> Int {
        while true {
            guard isatty(rawValue) == 1 || awaitInput(rawValue, until: deadline) else {
                throw FileError(.inputTimeout, operation: "read", path: path)
            }
            let count = uninterruptedCount { Glibc.read(rawValue, buffer.baseAddress, buffer.count) }
            if count >= 0 { return count }
            guard count == -Int(EAGAIN) else { throw FileError(errno: Int32(-count), operation: "read", path: path) }
            // A terminal that was opened non-blocking waits here, other files above.
            if isatty(rawValue) == 1 { awaitReadiness(rawValue, Int16(POLLIN)) }
        }
    }
}

extension Directory {
    /// Returns whether a file of any kind has that name; throws if that can't be determined.
    package func exists(_ relative: String) throws(FileError) -> Bool {
        try presentAttributes(relative) != nil
    }
}

/// Repeats a system call while signals interrupt it; returns its result or -errno.
///
/// Not for `close`, `fsync` and `fdatasync`: an interrupted close has closed, and a sync that failed once may report
/// success the second time although the data is lost.
@inline(__always)
package func uninterrupted(_ call: () -> Int32) -> Int32 {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { return -number }
    }
}

/// Does the same for calls that return a byte count.
@inline(__always)
package func uninterruptedCount(_ call: () -> Int) -> Int {
    while true {
        let result = call()
        if result >= 0 { return result }
        let number = errno
        if number != EINTR { return -Int(number) }
    }
}

/// Waits until a non-blocking descriptor is ready; standard streams inherit that flag from the parent process.
func awaitReadiness(_ descriptor: Int32, _ events: Int16) {
    var request = pollfd(fd: descriptor, events: events, revents: 0)
    _ = poll(&request, 1, -1)
}

/// Waits until a descriptor has input or reached its end.
///
/// - Returns: `false` if the deadline came first.
func awaitInput(_ descriptor: Int32, until deadline: ContinuousClock.Instant) -> Bool {
    while true {
        let (seconds, attoseconds) = (deadline - ContinuousClock.now).components
        let milliseconds = max(0, seconds * 1000 + attoseconds / 1_000_000_000_000_000)
        var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        let result = poll(&request, 1, Int32(min(milliseconds + 1, 60_000)))
        // For a descriptor that cannot be polled, the following read reports the error.
        if result > 0 || (result < 0 && errno != EINTR) { return true }
        if ContinuousClock.now >= deadline { return false }
    }
}

/// Sleeps for a duration, for example between lock attempts.
package func pause(_ duration: Duration) {
    let (seconds, attoseconds) = duration.components
    var request = timespec(tv_sec: Int(seconds), tv_nsec: Int(attoseconds / 1_000_000_000))
    nanosleep(&request, nil)
}

/// The pause before files are read again that another program may be replacing one after the other.
package enum RacePause {
    /// Waits 5 ms, several times as long as replacing two files takes.
    package static func wait() { pause(.milliseconds(5)) }
}
