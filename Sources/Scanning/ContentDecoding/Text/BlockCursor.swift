internal import Synchronization

/// Reads a source in blocks of bounded size, skips holes, and reuses one buffer.
struct BlockCursor: ~Copyable {
    /// A block whose bytes are valid until the next one is read.
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

    /// Returns the block at the cursor, or `nil` at the end. A block is the last one if the source ends in it or only a
    /// hole follows.
    mutating func next() throws(CarrierFault) -> Block? {
        guard let start = source.nextData(from: position) else { return nil }
        position = start
        let filled = try source.read(at: position, into: buffer)
        guard filled > 0 else { return nil }
        let isLast = filled < buffer.count || position + Int64(filled) >= source.count
        return Block(bytes: UnsafeRawBufferPointer(rebasing: buffer[..<filled]), position: position, isLast: isLast)
    }

    /// Advances the cursor. The next block begins there, or after a hole at that position.
    mutating func advance(by count: Int) { position += Int64(max(count, 1)) }
}

/// Reusable buffers of a block's size.
///
/// The allocator keeps freed large blocks, each at an address of its own: with a buffer per file, an audit of a few
/// hundred files used six times the memory.
enum BlockPool {
    /// The least pooled size. Smaller buffers are allocated individually.
    private static let smallest = 64 << 10
    /// The limit on pooled buffers. Further buffers are deallocated.
    private static let most = 64
    // The addresses of free buffers, each of `TextReader.blockSize` bytes.
    private static let free = Mutex<[UInt]>([])

    /// Returns a buffer of at least `size` bytes and at most a block's size. The caller returns it with `give`.
    static func take(_ size: Int) -> UnsafeMutableRawBufferPointer {
        guard isPooled(size) else { return .allocate(byteCount: size, alignment: 64) }
        let address = free.withLock { $0.popLast() }
        guard let address, let start = UnsafeMutableRawPointer(bitPattern: address) else {
            return .allocate(byteCount: TextReader.blockSize, alignment: 64)
        }
        return UnsafeMutableRawBufferPointer(start: start, count: TextReader.blockSize)
    }

    /// Takes back a buffer from `take`.
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
