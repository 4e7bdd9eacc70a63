/// Reads what a gzip or zlib file holds: all members of it, one behind the other.
///
/// It is decompressed twice: once to learn how much it is, with nothing kept; then into exactly that much memory.
package enum GzipReader: CarrierReader {
    /// More than this is not held in memory at once; what lies behind is left unread.
    private static let largest = 32 << 20
    private static let pieceSize = 64 << 10

    package static func read(_ input: CarrierInput, _ walk: LeafWalk) throws(CarrierFault) {
        let most = min(largest, walk.budget.remainingInflated)
        let size = try expand(input.source, walk, most: most) { _ in }
        try walk.budget.spendInflated(size.made)
        if size.isCut { walk.note(.exhausted(.inflated)) }
        if size.isDamaged { walk.note(.malformed("its compressed data ends early or is wrong")) }
        if size.made > 0 { try readExpanded(size.made, input, walk) }
        if size.end > 0, !size.isCut { try readAppended(input.source, from: size.end, walk) }
    }

    private static func readExpanded(
        _ count: Int, _ input: CarrierInput, _ walk: LeafWalk
    ) throws(CarrierFault) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count)
        _ = try expand(input.source, walk, most: count) { piece in bytes.append(contentsOf: piece) }
        try bytes.span.withUnsafeBytes { bytes throws(CarrierFault) in
            let inner = CarrierInput(BorrowedSource(bytes), name: innerName(input.name))
            let form =
                NestedForm.of(bytes) ?? Carriers.form(of: [UInt8](bytes.prefix(Carriers.headSize)), name: inner.name)
            try walk.nested(NestedForm.label(form)) { () throws(CarrierFault) in
                if form == .zlib { try GzipReader.read(inner, walk) } else { try Carriers.read(inner, as: form, walk) }
            }
        }
    }

    /// What follows the last member, and is no member that broke off. Zeros fill up blocks.
    private static func readAppended(
        _ source: any ByteSource, from start: Int64, _ walk: LeafWalk
    ) throws(CarrierFault) {
        let head = try source.bytes(at: start, count: pieceSize)
        guard !head.starts(with: [0x1F, 0x8B, 0x08]) else { return }
        guard start + Int64(head.count) < source.count || head.contains(where: { $0 != 0 }) else { return }
        try walk.nested("after the compressed data", at: start) { () throws(CarrierFault) in
            try Carriers.read(CarrierInput(PartSource(source, start..<source.count)), walk)
        }
    }

    private static func expand(
        _ source: any ByteSource, _ walk: LeafWalk, most: Int, _ take: (UnsafeRawBufferPointer) -> Void
    ) throws(CarrierFault) -> Expansion {
        var expansion = Expansion(most: most)
        let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: pieceSize, alignment: 64)
        defer { piece.deallocate() }
        var position: Int64 = 0
        while position < source.count, !expansion.isDone {
            try walk.budget.checkTime()
            let filled = try source.read(at: position, into: piece)
            if filled == 0 { break }
            expansion.feed(UnsafeRawBufferPointer(rebasing: piece[..<filled]), take)
            position += Int64(filled)
        }
        return expansion
    }

    /// `a.json.gz` holds `a.json`.
    private static func innerName(_ name: String) -> String {
        name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
    }
}
