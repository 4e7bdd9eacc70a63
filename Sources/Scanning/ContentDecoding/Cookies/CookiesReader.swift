/// Reads `Cookies.binarycookies` as Apple's networking library writes it.
///
/// Each cookie lies on the way `cookie of example.com: name`, and comes as leaves in this order: the flags `secure` and
/// `httpOnly`, the number `expires` (seconds since 1970; none for a cookie of the session), the texts `domain` and `path`, and
/// last its value, whose name is the cookie's own. Apple never published the format; this is what its readers agree on.
package enum CookiesReader: CarrierReader {
    private static let mostPages = 1 << 16
    /// Pages are some hundred kilobytes at most.
    private static let largestPage = 8 << 20

    package static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let head = try input.source.bytes(at: 0, count: 8)
        guard head.count == 8, head.starts(with: "cook".utf8) else { throw .malformed("its header is missing") }
        let count = head[4...].reduce(0) { $0 << 8 | Int($1) }
        guard count <= mostPages else { throw .malformed("it has too many pages") }
        let sizes = try input.source.bytes(at: 8, count: 4 * count)
        guard sizes.count == 4 * count else { throw .malformed("its table of pages is cut off") }
        var position = Int64(8 + 4 * count)
        for page in 0..<count {
            let size = sizes[(4 * page)..<(4 * page + 4)].reduce(0) { $0 << 8 | Int($1) }
            try readPage(input.source, position, size, walk)
            position += Int64(size)
        }
        try readTail(input.source, position, walk)
    }

    private static func readPage(
        _ source: any ByteSource, _ position: Int64, _ size: Int, _ walk: LeafWalk
    ) throws(CarrierFault) {
        guard size <= largestPage else { throw .malformed("a page is too large") }
        let bytes = try source.bytes(at: position, count: size)
        if bytes.count < size { walk.note(.malformed("a page is cut off")) }
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in
            try walk.part(at: position) { () throws(CarrierFault) in try CookiePage(bytes, walk).read() }
        }
    }

    /// Behind a checksum and a mark of 8 bytes lies a property list with the policy.
    private static func readTail(_ source: any ByteSource, _ position: Int64, _ walk: LeafWalk) throws(CarrierFault) {
        let rest = PartSource(source, min(position + 8, source.count)..<source.count)
        let head = try rest.bytes(at: 0, count: 16)
        guard let start = head.firstIndex(of: UInt8(ascii: "b")), head[start...].starts(with: "bplist".utf8) else {
            return
        }
        let from = position + 8 + Int64(start)
        try walk.nested("plist", at: from) { () throws(CarrierFault) in
            try BinaryPropertyListLeaves.read(CarrierInput(PartSource(source, from..<source.count)), walk)
        }
    }
}
