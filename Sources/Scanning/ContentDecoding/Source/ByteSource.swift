package import SharedFiles

/// Bytes at rest that a carrier is read from. Nothing is ever written to them, and nothing is ever mapped: another program
/// may cut the file while it is read.
package protocol ByteSource: AnyObject {
    /// How many bytes there were when it was opened.
    var count: Int64 { get }
    /// Reads from a position until the buffer is full or the bytes end.
    ///
    /// - Returns: How many bytes were read; fewer than the buffer holds only at the end.
    /// - Throws: `CarrierFault.unreadable` when the system refuses.
    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int
    /// Where bytes begin again, at this position or after it, that are not the zeros of a hole; nil where none follow.
    func nextData(from position: Int64) -> Int64?
    /// Whether less was read, at some time, than `count` said: somebody cut the file after it was opened.
    var isCut: Bool { get }
}

extension ByteSource {
    package func nextData(from position: Int64) -> Int64? { position < count ? position : nil }
    package var isCut: Bool { false }

    /// The bytes of a range, cut where the source ends.
    package func bytes(at position: Int64, count wanted: Int) throws(CarrierFault) -> [UInt8] {
        guard position >= 0, wanted > 0, position < count else { return [] }
        let size = Int(min(Int64(wanted), count - position))
        // The buffer's initialiser takes no typed throws.
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

    /// Takes over a descriptor that is open for reading.
    ///
    /// - Throws: `FileError` when the system does not tell its size.
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
        // A hole up to the end, or the end itself, which was moved.
        if let size = try? descriptor.attributes().size, size < count { isCut = true }
        return nil
    }
}

/// Bytes that somebody else holds, as a source. It must not outlive them.
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

/// A part of a source, as a source: what lies in a file in one piece and is too large to be held in memory.
final class PartSource: ByteSource {
    private let source: any ByteSource
    private let start: Int64
    let count: Int64

    /// - Parameter range: Is cut where the source ends.
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
