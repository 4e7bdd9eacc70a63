internal import Synchronization

/// Buffers of a block's size that are used again.
///
/// The allocator keeps large blocks that are given back, each in a place of its own: with a buffer for every file an
/// audit of a few hundred files held six times the memory.
enum BlockPool {
    /// A smaller buffer is the allocator's.
    private static let smallest = 64 << 10
    /// More than that are given back.
    private static let most = 64
    // Only addresses of free buffers, each `TextReader.blockSize` bytes, go in and out.
    private static let free = Mutex<[UInt]>([])

    /// A buffer of at least so many bytes, at most a block's size; `give` takes it back.
    static func take(_ size: Int) -> UnsafeMutableRawBufferPointer {
        guard isPooled(size) else { return .allocate(byteCount: size, alignment: 64) }
        let address = free.withLock { $0.popLast() }
        guard let address, let start = UnsafeMutableRawPointer(bitPattern: address) else {
            return .allocate(byteCount: TextReader.blockSize, alignment: 64)
        }
        return UnsafeMutableRawBufferPointer(start: start, count: TextReader.blockSize)
    }

    /// Takes back what `take` gave for that size.
    static func give(_ buffer: UnsafeMutableRawBufferPointer) {
        guard buffer.count == TextReader.blockSize else { return buffer.deallocate() }
        let isKept = free.withLock { free in
            guard free.count < most else { return false }
            free.append(UInt(bitPattern: buffer.baseAddress))
            return true
        }
        if !isKept { buffer.deallocate() }
    }

    private static func isPooled(_ size: Int) -> Bool { size >= smallest && size <= TextReader.blockSize }
}
