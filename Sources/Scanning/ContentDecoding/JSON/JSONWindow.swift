/// What is held of a JSON text while it is read: at least the token at hand.
struct JSONWindow: ~Copyable {
    /// A token of more than this is too long to be one value.
    static let longestToken = 8 << 20
    private static let usualSize = 256 << 10

    private let source: any ByteSource
    private var storage: UnsafeMutableRawBufferPointer
    /// What is held; it moves when more is asked for.
    private(set) var bytes: UnsafeRawBufferPointer
    /// Where in the source it begins.
    private(set) var start: Int64 = 0
    /// The byte that is looked at.
    var position = 0

    init(_ source: any ByteSource) throws(CarrierFault) {
        self.source = source
        storage = UnsafeMutableRawBufferPointer(start: nil, count: 0)
        if let borrowed = source as? BorrowedSource {
            bytes = borrowed.bytes
        } else {
            bytes = UnsafeRawBufferPointer(storage)
            _ = try more(keeping: 0)
        }
    }

    deinit { storage.deallocate() }

    /// Where in the source a byte of the window lies.
    func place(_ position: Int) -> Int64 { start + Int64(position) }

    /// Reads on. What lies before `kept` goes; positions move down by as much.
    ///
    /// - Returns: Whether there is more.
    mutating func more(keeping kept: Int) throws(CarrierFault) -> Bool {
        let next = start + Int64(bytes.count)
        guard next < source.count, bytes.count - kept < Self.longestToken else { return false }
        let rest = UnsafeRawBufferPointer(rebasing: bytes[kept...])
        let size = min(max(Self.usualSize, 2 * rest.count), Self.longestToken)
        if size > storage.count {
            let larger = UnsafeMutableRawBufferPointer.allocate(
                byteCount: Int(min(Int64(size), Int64(rest.count) + source.count - next)), alignment: 64)
            larger.copyMemory(from: rest)
            storage.deallocate()
            storage = larger
        } else {
            UnsafeMutableRawBufferPointer(rebasing: storage[..<rest.count]).copyMemory(from: rest)
        }
        start += Int64(kept)
        position -= kept
        let filled = try source.read(at: next, into: UnsafeMutableRawBufferPointer(rebasing: storage[rest.count...]))
        bytes = UnsafeRawBufferPointer(rebasing: storage[..<(rest.count + filled)])
        return filled > 0
    }

    /// Whether the source ends with what is held.
    var isLast: Bool { start + Int64(bytes.count) >= source.count }
}
