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
