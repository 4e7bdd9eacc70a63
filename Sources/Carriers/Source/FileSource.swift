package import SharedFiles

/// An open file.
package final class FileSource: ByteSource {
    private let descriptor: Descriptor
    package let count: Int64

    /// Takes over a descriptor that is open for reading.
    ///
    /// - Throws: `FileError` when the system does not tell its size.
    package init(_ descriptor: consuming Descriptor) throws(FileError) {
        count = try descriptor.attributes().size
        self.descriptor = descriptor
    }

    package func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) throws(CarrierFault) -> Int {
        do throws(FileError) { return try descriptor.pread(into: buffer, at: position) } catch {
            throw .unreadable(error.description)
        }
    }

    package func nextData(from position: Int64) -> Int64? {
        position < count ? descriptor.nextData(from: position) : nil
    }
}
