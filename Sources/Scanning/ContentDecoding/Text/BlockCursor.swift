internal import Synchronization

/// Goes through a source in blocks of bounded size, over holes, in one buffer.
struct BlockCursor: ~Copyable {
    /// One block; its bytes are valid until the next is asked for.
    struct Block {
        let bytes: UnsafeRawBufferPointer
        let position: Int64
        let isLast: Bool
    }

    private let source: any ByteSource
    private let buffer: UnsafeMutableRawBufferPointer
    private var position: Int64 = 0

    init(_ source: any ByteSource, blockSize: Int) {
        self.source = source
        let size = Int(min(Int64(blockSize), max(source.count, 1)))
        buffer = BlockPool.take(size)
    }

    deinit { BlockPool.give(buffer) }

    /// The block at the cursor; nil at the end. It is the last one where the source ends in it or only a hole follows.
    mutating func next() throws(CarrierFault) -> Block? {
        guard let start = source.nextData(from: position) else { return nil }
        position = start
        let filled = try source.read(at: position, into: buffer)
        guard filled > 0 else { return nil }
        let isLast = filled < buffer.count || position + Int64(filled) >= source.count
        return Block(bytes: UnsafeRawBufferPointer(rebasing: buffer[..<filled]), position: position, isLast: isLast)
    }

    /// Moves on; the next block begins there, or after the hole that is there.
    mutating func advance(by count: Int) { position += Int64(max(count, 1)) }
}

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
