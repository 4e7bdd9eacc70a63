package import SharedFiles

/// The bytes that a carrier is read from. Sources are never written to and never mapped, because another program may
/// truncate the file during the read.
package protocol ByteSource: AnyObject {
    /// The number of bytes when the source was opened.
    var count: Int64 { get }
    /// Reads from a position until the buffer is full or the bytes end.
    ///
    /// - Returns: The number of bytes read, which is less than the buffer's size only at the end.
    /// - Throws: `CarrierFault.unreadable` if the system refuses the read.
    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int
    /// Returns the first position at or after this one that is not in a hole, or `nil` if only a hole follows.
    func nextData(from position: Int64) -> Int64?
    /// True if a read returned fewer bytes than `count` promised, because the file was truncated after it was opened.
    var isCut: Bool { get }
}

extension ByteSource {
    package func nextData(from position: Int64) -> Int64? { position < count ? position : nil }
    package var isCut: Bool { false }

    /// Returns the bytes of a range, clamped to the source's end.
    package func bytes(at position: Int64, count wanted: Int) throws(CarrierFault) -> [UInt8] {
        guard position >= 0, wanted > 0, position < count else { return [] }
        let size = Int(min(Int64(wanted), count - position))
        // The array's initialiser does not support typed throws.
        var fault: CarrierFault?
        let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            do throws(CarrierFault) {
                filled = try read(at: position, into: UnsafeMutableRawBufferPointer(buffer))
            } catch { fault = error }
        }
        if let fault { throw fault }
        return bytes
    }
}

/// An open file.
package final class FileSource: ByteSource {
    private let descriptor: Descriptor
    package let count: Int64
    package private(set) var isCut = false

    /// Takes ownership of a descriptor that is open for reading.
    ///
    /// - Throws: `FileError` if the file's size is unavailable.
    package init(_ descriptor: consuming Descriptor) throws(FileError) {
        count = try descriptor.attributes().size
        self.descriptor = descriptor
    }

    package func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int {
        do throws(FileError) {
            let filled = try descriptor.pread(into: buffer, at: position)
            if filled < buffer.count, position + Int64(filled) < count { isCut = true }
            return filled
        } catch {
            throw .unreadable(error.description)
        }
    }

    package func nextData(from position: Int64) -> Int64? {
        guard position < count else { return nil }
        if let next = descriptor.nextData(from: position) { return next }
        // Either a hole reaches to the end, or the file was truncated.
        if let size = try? descriptor.attributes().size, size < count { isCut = true }
        return nil
    }
}

/// A source of borrowed bytes. It must not outlive them.
final class BorrowedSource: ByteSource {
    let bytes: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

    var count: Int64 { Int64(bytes.count) }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard position >= 0, position < count else { return 0 }
        let part = UnsafeRawBufferPointer(rebasing: bytes[Int(position)...].prefix(buffer.count))
        buffer.copyMemory(from: part)
        return part.count
    }
}

/// A part of a source as a source of its own, for contiguous parts that are too large for memory.
final class PartSource: ByteSource {
    private let source: any ByteSource
    private let start: Int64
    let count: Int64

    /// - Parameter range: The part's range, which is clamped to the source's end.
    init(_ source: any ByteSource, _ range: Range<Int64>) {
        self.source = source
        let part = range.clamped(to: 0..<max(0, source.count))
        start = part.lowerBound
        count = Int64(part.count)
    }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int {
        guard position >= 0, position < count else { return 0 }
        let wanted = Int(min(Int64(buffer.count), count - position))
        return try source.read(at: start + position, into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted]))
    }

    func nextData(from position: Int64) -> Int64? {
        guard let next = source.nextData(from: start + position), next < start + count else { return nil }
        return next - start
    }
}
