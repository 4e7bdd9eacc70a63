import ContentDecoding

/// A byte source in memory.
final class MemorySource: ByteSource {
    private let bytes: [UInt8]

    /// Creates a source of these bytes.
    init(_ bytes: [UInt8]) { self.bytes = bytes }

    var count: Int64 { Int64(bytes.count) }

    func read(at position: Int64, into buffer: UnsafeMutableRawBufferPointer) -> Int {
        guard position >= 0, position < count else { return 0 }
        return bytes.withUnsafeBytes { all in
            let part = all[Int(position)...].prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.count
        }
    }
}
