/// Random access to a source in bounded memory: small ones are held whole, of large ones the pages that were used last.
final class SourceBytes {
    private struct Page {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: SourceBytes.pageSize, alignment: 64)
        /// Which page of the source it is; -1 for none.
        var number = -1
        var filled = 0
        var used = 0
    }

    /// Up to this size the whole source is held.
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
    /// What lies in more than one page is put together here.
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

    /// Bytes of a range, fewer where the source ends; valid until bytes are asked for again.
    ///
    /// - Throws: `CarrierFault.malformed` where the source was cut after it was opened.
    func bytes(at position: Int, count wanted: Int) throws(CarrierFault) -> UnsafeRawBufferPointer {
        guard position >= 0, position < count, wanted > 0 else { return UnsafeRawBufferPointer(start: nil, count: 0) }
        let size = min(wanted, count - position)
        if let whole {
            guard position + size <= whole.count else { throw .malformed("it was cut while it was read") }
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
        // Else what is asked for would reach beyond: the source's size said that it is there.
        guard page.filled == min(Self.pageSize, count - number * Self.pageSize) else {
            throw .malformed("it was cut while it was read")
        }
        return UnsafeRawBufferPointer(page.buffer)
    }

    /// Reads a page in the place of the one that was used longest ago.
    private func load(_ number: Int) throws(CarrierFault) -> Int {
        if pages.count < Self.mostPages { pages.append(Page()) }
        let place = pages.indices.min { pages[$0].used < pages[$1].used } ?? 0
        pages[place].number = -1
        pages[place].filled = try source.read(at: Int64(number * Self.pageSize), into: pages[place].buffer)
        pages[place].number = number
        return place
    }
}

/// A buffer that is filled again and again.
final class ScratchBytes {
    private var storage: UnsafeMutableRawBufferPointer
    private(set) var count = 0

    init(capacity: Int = 256) { storage = .allocate(byteCount: capacity, alignment: 16) }

    deinit { storage.deallocate() }

    /// What it holds; valid until it is changed.
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

    /// A character as UTF-8; half a one becomes U+FFFD.
    func append(scalar: UInt32) {
        let scalar = Unicode.Scalar(scalar) ?? "\u{FFFD}"
        for byte in UTF8.encode(scalar).unsafelyUnwrapped { append(byte) }
    }

    /// Holds a text and nothing else.
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
