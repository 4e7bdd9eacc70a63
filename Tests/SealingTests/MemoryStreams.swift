import Synchronization

/// A stream source that reads from memory, in pieces of odd sizes.
final class MemorySource: Sendable {
    private let bytes: [UInt8]
    private let position = Mutex(0)

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    @Sendable func read(_ buffer: UnsafeMutableRawBufferPointer) -> Int {
        position.withLock { position in
            let count = min(buffer.count, bytes.count - position, 70_001)
            buffer.copyBytes(from: bytes[position..<position + count])
            position += count
            return count
        }
    }
}

/// A stream sink that keeps all bytes.
final class MemorySink: Sendable {
    private let storage = Mutex<[UInt8]>([])

    var bytes: [UInt8] { storage.withLock { $0 } }

    @Sendable func write(_ buffer: UnsafeRawBufferPointer) { storage.withLock { $0.append(contentsOf: buffer) } }
}
