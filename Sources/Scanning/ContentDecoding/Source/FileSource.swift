package import SharedFiles

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
