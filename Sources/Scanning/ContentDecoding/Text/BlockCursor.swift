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
