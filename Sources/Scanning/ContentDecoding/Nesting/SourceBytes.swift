/// Random access to a source in bounded memory: small sources are held whole, large ones by their most recently used
/// pages.
final class SourceBytes {
    private struct Page {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: SourceBytes.pageSize, alignment: 64)
        /// The page's number in the source; -1 for no page.
        var number = -1
        var filled = 0
        var used = 0
    }

    /// The size up to which the whole source is held.
    private static let largestWhole = 4 << 20
    private static let pageSize = 64 << 10
    private static let mostPages = 24

    let count: Int
    private let source: any ByteSource
    private var whole: UnsafeRawBufferPointer?
    private var ownWhole = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    private var pages: [Page] = []
    private var recent = 0
    private var clock = 0
    /// The buffer for ranges that cross a page boundary.
    private let joined = ScratchBytes()

    init(_ source: any ByteSource) throws(CarrierFault) {
        self.source = source
        count = Int(source.count)
        if let borrowed = source as? BorrowedSource {
            whole = borrowed.bytes
        } else if count <= Self.largestWhole {
            ownWhole = .allocate(byteCount: count, alignment: 64)
            let filled = try source.read(at: 0, into: ownWhole)
            whole = UnsafeRawBufferPointer(rebasing: ownWhole[..<filled])
        }
    }

    deinit {
        ownWhole.deallocate()
        for page in pages { page.buffer.deallocate() }
    }

    /// Returns the bytes of a range, or fewer at the source's end. They are valid until the next call.
    ///
    /// - Throws: `CarrierFault.malformed` if the source was truncated after it was opened.
    func bytes(at position: Int, count wanted: Int) throws(CarrierFault) -> UnsafeRawBufferPointer {
        guard position >= 0, position < count, wanted > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let size = min(wanted, count - position)
        if let whole {
            guard position + size <= whole.count else { throw .malformed("it was truncated while it was read") }
            return UnsafeRawBufferPointer(rebasing: whole[position..<position + size])
        }
        let start = position % Self.pageSize
        guard start + size > Self.pageSize else {
            return UnsafeRawBufferPointer(rebasing: try page(position / Self.pageSize)[start..<start + size])
        }
        joined.removeAll()
        var next = position
        while next < position + size {
            let start = next % Self.pageSize
            let part = min(Self.pageSize - start, position + size - next)
            joined.append(UnsafeRawBufferPointer(rebasing: try page(next / Self.pageSize)[start..<start + part]))
            next += part
        }
        return joined.bytes
    }

    private func page(_ number: Int) throws(CarrierFault) -> UnsafeRawBufferPointer {
        clock += 1
        if recent >= pages.count || pages[recent].number != number {
            if let held = pages.firstIndex(where: { $0.number == number }) {
                recent = held
            } else {
                recent = try load(number)
            }
        }
        pages[recent].used = clock
        let page = pages[recent]
        // A shorter page means that the source was truncated after its size was read.
        guard page.filled == min(Self.pageSize, count - number * Self.pageSize) else {
            throw .malformed("it was truncated while it was read")
        }
        return UnsafeRawBufferPointer(page.buffer)
    }

    /// Reads a page into the least recently used slot.
    private func load(_ number: Int) throws(CarrierFault) -> Int {
        if pages.count < Self.mostPages { pages.append(Page()) }
        let place = pages.indices.min { pages[$0].used < pages[$1].used } ?? 0
        pages[place].number = -1
        pages[place].filled = try source.read(at: Int64(number * Self.pageSize), into: pages[place].buffer)
        pages[place].number = number
        return place
    }
}

/// A reusable buffer.
final class ScratchBytes {
    private var storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int = 256) { storage = .allocate(byteCount: capacity, alignment: 16) }

    deinit { storage.deallocate() }

    /// The contents, valid until the next change.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: storage[..<count]) }

    func removeAll() { count = 0 }

    func append(_ byte: UInt8) {
        reserve(1)
        storage[count] = byte
        count += 1
    }

    func append(_ bytes: UnsafeRawBufferPointer) {
        guard !bytes.isEmpty else { return }
        reserve(bytes.count)
        UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: bytes)
        count += bytes.count
    }

    /// Appends a character as UTF-8. Half a surrogate pair becomes U+FFFD.
    func append(scalar: UInt32) {
        let scalar = Unicode.Scalar(scalar) ?? "\u{FFFD}"
        for byte in UTF8.encode(scalar).unsafelyUnwrapped { append(byte) }
    }

    /// Replaces the contents with a text.
    func assign(_ text: String) -> UnsafeRawBufferPointer {
        count = 0
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
        return bytes
    }

    private func reserve(_ more: Int) {
        guard count + more > storage.count else { return }
        let larger = UnsafeMutableRawBufferPointer.allocate(
            byteCount: max(2 * storage.count, count + more), alignment: 16)
        larger.copyMemory(from: bytes)
        storage.deallocate()
        storage = larger
    }
}
