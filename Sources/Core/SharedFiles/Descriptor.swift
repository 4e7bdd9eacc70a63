internal import Glibc

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
