internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// The file or standard input that a command reads.
final class InputFile: Sendable {
    let descriptor: Descriptor
    /// The file's attributes. Pipes and terminals are valid inputs as well.
    let attributes: FileAttributes
    /// Bytes that were read ahead.
    private let ahead = Mutex<[UInt8]>([])

    /// - Parameter argument: A path; `nil` or `-` is standard input.
    init(_ argument: String?) throws(Failure) {
        descriptor = try Failure.onFiles { () throws(FileError) in
            guard let argument, argument != "-" else { return Descriptor.standardInput }
            let file = try Descriptor.openForReading(path: argument)
            try file.awaitWriter()
            return file
        }
        attributes = try Self.attributes(of: descriptor)
        guard attributes.kind != .directory else {
            throw Failure(
                .noInput, "notRegularFile", "cannot read \(descriptor.path): it is a directory",
                hint: "Try the path of a file.")
        }
    }

    /// Takes over an open file.
    init(owning descriptor: consuming Descriptor) throws(FileError) {
        self.descriptor = descriptor
        attributes = try self.descriptor.attributes()
    }

    /// A file of this process with these bytes, which are sealed.
    init(holding bytes: [UInt8], named name: String) throws(Failure) {
        let parent = getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        var template = Array("\(parent)/sealctl-XXXXXX".utf8CString)
        let opened = mkstemp(&template)
        guard opened >= 0 else {
            throw Failure(FileError(errno: errno, operation: "create a file in", path: parent))
        }
        unlink(template)
        let file = Descriptor(owning: opened, path: name)
        do throws(FileError) {
            try bytes.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
            lseek(opened, 0, SEEK_SET)
            attributes = try file.attributes()
        } catch { throw Failure(error) }
        descriptor = file
    }

    private static func attributes(of descriptor: borrowing Descriptor) throws(Failure) -> FileAttributes {
        do throws(FileError) { return try descriptor.attributes() } catch { throw Failure(error) }
    }

    /// The name in messages.
    var name: String { descriptor.path }

    /// The start and the length of the rest, for regular files only, because only these can be read again.
    var extent: (start: Int64, count: Int64)? {
        guard attributes.kind == .regular else { return nil }
        let start = Int64(lseek(descriptor.rawValue, 0, SEEK_CUR))
        return start < 0 ? nil : (start, max(0, attributes.size - start))
    }

    /// Reads the available bytes and returns their number, 0 at the end.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(FileError) -> Int {
        let kept = ahead.withLock { ahead in
            let part = ahead.prefix(buffer.count)
            buffer.copyBytes(from: part)
            ahead.removeFirst(part.count)
            return part.count
        }
        return kept > 0 || buffer.isEmpty ? kept : try descriptor.readSome(into: buffer)
    }

    /// Returns the first bytes, at most `count`. A later `read` returns them again.
    func peek(_ count: Int) throws(Failure) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        do throws(FileError) {
            var rest = bytes.mutableSpan
            filled = try rest.withUnsafeMutableBytes { buffer throws(FileError) in try descriptor.read(into: buffer) }
        } catch { throw Failure(error) }
        bytes.removeLast(count - filled)
        ahead.withLock { $0 = bytes }
        return bytes
    }

    /// Passes everything up to the end of the input to the body, or `limit` bytes and one more. The buffer is wiped
    /// afterwards.
    func withContents<Result: ~Copyable>(
        limit: Int, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var bytes = PlaintextBuffer(count: limit + 1)
        var count = 0
        do throws(FileError) {
            try bytes.withUnsafeMutableBytes { buffer throws(FileError) in
                while count < buffer.count {
                    let more = try read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[count...]))
                    if more == 0 { break }
                    count += more
                }
            }
        } catch { throw Failure(error) }
        return try bytes.withUnsafeBytes { bytes throws(Failure) in
            try body(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }
}

extension InputFile {
    /// Returns a source that reads up to the end and counts the bytes.
    func source(_ progress: Progress) -> StreamSource<FileError> {
        { (buffer: UnsafeMutableRawBufferPointer) throws(FileError) in
            let count = try self.read(into: buffer)
            progress.advance(count)
            return count
        }
    }

    /// Returns the same for regular files, without moving the position.
    func rereadableSource(from start: Int64, _ progress: Progress) -> StreamSource<FileError> {
        let position = Position(start)
        return { (buffer: UnsafeMutableRawBufferPointer) throws(FileError) in
            let count = try self.descriptor.pread(into: buffer, at: position.value)
            position.advance(count)
            progress.advance(count)
            return count
        }
    }
}

/// The position of a source. The pipeline reads on one thread at a time, but not always on the same one.
final class Position: Sendable {
    private let offset: Atomic<Int64>

    init(_ start: Int64) { offset = Atomic(start) }

    var value: Int64 { offset.load(ordering: .relaxed) }

    func advance(_ count: Int) { offset.add(Int64(count), ordering: .relaxed) }
}
