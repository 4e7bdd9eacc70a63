internal import CLinux
package import Glibc

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
        guard kind == .regular || kind == .fifo || path.hasPrefix("/dev/") else {
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
                advice: "It belongs to the user \(facts.uid); use a file of this user's own.")
        }
        guard facts.mode & rights == 0 else {
            throw FileError(
                .unsafeMode, operation: operation, path: path,
                advice: "As its owner, take the others' rights away: chmod 600 \(path.shellQuoted)")
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
        do throws(FileError) {
            _ = try attributes(relative)
            return true
        } catch {
            guard error.code == .notFound else { throw error }
            return false
        }
    }
}
