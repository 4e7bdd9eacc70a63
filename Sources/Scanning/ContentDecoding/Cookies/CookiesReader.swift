internal import PropertyLists

/// Reads `Cookies.binarycookies` as Apple's networking library writes it.
///
/// Each cookie has the trail `cookie of example.com: name` and yields values in this order: the flags `secure` and
/// `httpOnly`, the number `expires` (seconds since 1970; omitted for a session cookie), the texts `domain` and `path`,
/// and last its value, named after the cookie. Apple never published the format; this layout is the one that its
/// readers agree on.
package enum CookiesReader: CarrierReader {
    private static let mostPages = 1 << 16
    /// Pages are some hundred kilobytes at most.
    private static let largestPage = 8 << 20

    package static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: 8)
        guard head.count == 8, head.starts(with: "cook".utf8) else { throw .malformed("its header is missing") }
        let count = head[4...].reduce(0) { $0 << 8 | Int($1) }
        guard count <= mostPages else { throw .malformed("it has too many pages") }
        let sizes = try input.source.bytes(at: 8, count: 4 * count)
        guard sizes.count == 4 * count else { throw .malformed("its table of pages is truncated") }
        var position = Int64(8 + 4 * count)
        for page in 0..<count {
            let size = sizes[(4 * page)..<(4 * page + 4)].reduce(0) { $0 << 8 | Int($1) }
            try readPage(input.source, position, size, walk)
            position += Int64(size)
        }
        try readTail(input.source, position, walk)
    }

    private static func readPage(
        _ source: any ByteSource, _ position: Int64, _ size: Int, _ walk: ValueWalk
    ) throws(CarrierFault) {
        guard size <= largestPage else { throw .malformed("a page is too large") }
        let bytes = try source.bytes(at: position, count: size)
        if bytes.count < size { walk.note(.malformed("a page is truncated")) }
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try walk.part(at: position) { () throws(CarrierFault) in try CookiePage(bytes, walk).read() }
        }
    }

    /// Reads the property list with the policy, which follows a checksum and a mark of 8 bytes.
    private static func readTail(_ source: any ByteSource, _ position: Int64, _ walk: ValueWalk) throws(CarrierFault) {
        let rest = PartSource(source, min(position + 8, source.count)..<source.count)
        let head = try rest.bytes(at: 0, count: 16)
        guard let start = head.firstIndex(of: UInt8(ascii: "b")), head[start...].starts(with: "bplist".utf8) else {
            return
        }
        let from = position + 8 + Int64(start)
        try walk.nested("plist", at: from) { () throws(CarrierFault) in
            try BinaryPropertyListValues.read(CarrierInput(PartSource(source, from..<source.count)), walk)
        }
    }
}

/// A page of a cookie file. Its numbers are little-endian.
struct CookiePage {
    private static let mark: [UInt8] = [0, 0, 1, 0]
    private static let mostCookies = 1 << 16

    private let bytes: UnsafeRawBufferPointer
    private let walk: ValueWalk

    init(_ bytes: UnsafeRawBufferPointer, _ walk: ValueWalk) {
        self.bytes = bytes
        self.walk = walk
    }

    func read() throws(CarrierFault) {
        guard bytes.starts(with: Self.mark), let count = number(at: 4), count <= Self.mostCookies else {
            return walk.note(.malformed("a page has an unknown beginning"))
        }
        for index in 0..<count {
            let depth = walk.trail.depth
            do throws(CarrierFault) {
                guard let start = number(at: 8 + 4 * index), start > 0 else {
                    throw .malformed("a cookie is outside the page")
                }
                try readCookie(at: start)
            } catch {
                guard case .malformed = error else { throw error }
                walk.note(error)
                walk.trail.leave(to: depth)
            }
        }
    }

    /// Reads one cookie. The offsets of its texts are at 16, 20, 24 and 28, its flags at 8, its times at 40 and 48.
    private func readCookie(at start: Int) throws(CarrierFault) {
        guard let size = number(at: start), size >= 56, start + size <= bytes.count, let flags = number(at: start + 8)
        else { throw .malformed("a cookie is outside the page") }
        let domain = try text(16, start, size)
        let name = try text(20, start, size)
        walk.trail.enter(.words("cookie of \(string(domain))"))
        try walk.visitName(
            UnsafeRawBufferPointer(rebasing: bytes[name]), range: Int64(name.lowerBound)..<Int64(name.upperBound),
            form: .cookies)
        walk.trail.enter(.key(string(name)))
        try visit("secure", .flag(flags & 1 != 0))
        try visit("httpOnly", .flag(flags & 4 != 0))
        let expiry = Double(bitPattern: number64(at: start + 40))
        if expiry > 0, expiry.isFinite {
            try visit("expires", .number(expiry + Double(PropertyListDate.secondsTo2001)))
        }
        try visit("domain", .text(UnsafeRawBufferPointer(rebasing: bytes[domain])))
        try visit("path", .text(UnsafeRawBufferPointer(rebasing: bytes[try text(24, start, size)])))
        let value = try text(28, start, size)
        try walk.text(
            UnsafeRawBufferPointer(rebasing: bytes[value]), name: UnsafeRawBufferPointer(rebasing: bytes[name]),
            range: Int64(value.lowerBound)..<Int64(value.upperBound), form: .cookies)
        walk.trail.leave()
        walk.trail.leave()
    }

    private func visit(_ name: StaticString, _ value: DecodedValue.Value) throws(CarrierFault) {
        let name = UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount)
        try walk.visit(name: name, value, range: nil, form: .cookies)
    }

    /// Returns the range of a text up to its zero byte, or an empty range if the cookie has no such text.
    private func text(_ field: Int, _ start: Int, _ size: Int) throws(CarrierFault) -> Range<Int> {
        guard let offset = number(at: start + field), offset < size else {
            throw .malformed("a cookie's text is outside the cookie")
        }
        if offset == 0 { return start..<start }
        let all = bytes[(start + offset)..<(start + size)]
        return all.startIndex..<(all.firstIndex(of: 0) ?? all.endIndex)
    }

    private func string(_ range: Range<Int>) -> String { String(decoding: bytes[range], as: UTF8.self) }

    private func number(at position: Int) -> Int? {
        guard position >= 0, position + 4 <= bytes.count else { return nil }
        return Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt32.self)))
    }

    private func number64(at position: Int) -> UInt64 {
        guard position + 8 <= bytes.count else { return 0 }
        return UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: position, as: UInt64.self))
    }
}
