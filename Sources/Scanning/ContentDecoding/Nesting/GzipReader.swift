internal import Czlib

/// Reads the content of a gzip or zlib file: all of its members in sequence.
///
/// The file is decompressed twice: once to determine the size, without storing anything, then into exactly that much
/// memory.
package enum GzipReader: CarrierReader {
    /// The limit on decompressed bytes in memory. The rest is left unread.
    private static let largest = 32 << 20
    private static let pieceSize = 64 << 10

    package static func read(_ input: CarrierInput, _ walk: ValueWalk) throws(CarrierFault) {
        let most = min(largest, walk.budget.remainingInflated)
        let size = try expand(input.source, walk, most: most) { _ in }
        try walk.budget.spendInflated(size.made)
        if size.isCut { walk.note(.exhausted(.inflated)) }
        if size.isDamaged { walk.note(.malformed("its compressed data ends early or is wrong")) }
        if size.made > 0 { try readExpanded(size.made, input, walk) }
        if size.end > 0, !size.isCut { try readAppended(input.source, from: size.end, walk) }
    }

    private static func readExpanded(
        _ count: Int, _ input: CarrierInput, _ walk: ValueWalk
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

    /// Reads the bytes after the last member, unless they are a truncated member or zeros, which are padding.
    private static func readAppended(
        _ source: any ByteSource, from start: Int64, _ walk: ValueWalk
    ) throws(CarrierFault) {
        let head = try source.bytes(at: start, count: pieceSize)
        guard !head.starts(with: [0x1F, 0x8B, 0x08]) else { return }
        guard start + Int64(head.count) < source.count || head.contains(where: { $0 != 0 }) else { return }
        try walk.nested("after the compressed data", at: start) { () throws(CarrierFault) in
            try Carriers.read(CarrierInput(PartSource(source, start..<source.count)), walk)
        }
    }

    private static func expand(
        _ source: any ByteSource, _ walk: ValueWalk, most: Int, _ take: (UnsafeRawBufferPointer) -> Void
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

    /// Returns the name of the content: `a.json.gz` contains `a.json`.
    private static func innerName(_ name: String) -> String {
        name.hasSuffix(".gz") ? String(name.dropLast(3)) : name
    }
}

/// The decompressed members of a file, up to a limit.
struct Expansion: ~Copyable {
    private(set) var made = 0
    /// True if the limit cut off further output.
    private(set) var isCut = false
    private(set) var isDone = false
    /// The offset in the file of the end of the last whole member; 0 before the first has ended.
    private(set) var end: Int64 = 0
    private var taken: Int64 = 0
    /// True inside a member, where the end of data means truncation.
    private var isOpen = true
    private let most: Int
    private let inflater = Inflater()
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: 64 << 10, alignment: 64)

    init(most: Int) { self.most = most }

    deinit { output.deallocate() }

    /// True if the data ended inside a member or was invalid.
    var isDamaged: Bool { isOpen && !isCut }

    /// Decompresses the next piece of the file.
    mutating func feed(_ piece: UnsafeRawBufferPointer, _ take: (UnsafeRawBufferPointer) -> Void) {
        var rest = piece
        while !isDone {
            let result = inflater.inflate(rest, into: output)
            rest = UnsafeRawBufferPointer(rebasing: rest[result.taken...])
            taken += Int64(result.taken)
            keep(result.made, take)
            switch result.step {
            // Any bytes may follow the last member. In that case no member is open.
            case .damaged: isDone = true
            case .memberEnded:
                isOpen = false
                end = taken
                inflater.restart()
                if rest.isEmpty { return }
            case .more:
                if result.taken == 0, result.made == 0 { return }
                isOpen = true
                if rest.isEmpty, result.made < output.count { return }
            }
        }
    }

    private mutating func keep(_ count: Int, _ take: (UnsafeRawBufferPointer) -> Void) {
        let kept = min(count, most - made)
        if kept > 0 { take(UnsafeRawBufferPointer(rebasing: output[..<kept])) }
        made += kept
        if kept < count { (isCut, isDone) = (true, true) }
    }
}

/// Decompresses gzip (RFC 1952) and zlib (RFC 1950) in pieces.
final class Inflater {
    /// The result of decompressing a piece.
    enum Step { case more, memberEnded, damaged }

    private let stream: UnsafeMutablePointer<z_stream>
    private let isReady: Bool

    init() {
        stream = .allocate(capacity: 1)
        stream.initialize(to: z_stream())
        // A window of 15 bits, plus 32: detect gzip or zlib by the header.
        isReady = inflateInit2_(stream, 15 + 32, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK
    }

    deinit {
        inflateEnd(stream)
        stream.deallocate()
    }

    /// Begins another member of the same file.
    func restart() { inflateReset(stream) }

    /// Decompresses from one buffer into another until one of them is used up.
    ///
    /// - Returns: The numbers of bytes consumed and produced.
    func inflate(
        _ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) -> (taken: Int, made: Int, step: Step) {
        guard isReady else { return (0, 0, .damaged) }
        stream.pointee.next_in = UnsafeMutablePointer(mutating: input.bindMemory(to: UInt8.self).baseAddress)
        stream.pointee.avail_in = UInt32(clamping: input.count)
        stream.pointee.next_out = output.bindMemory(to: UInt8.self).baseAddress
        stream.pointee.avail_out = UInt32(clamping: output.count)
        let status = Czlib.inflate(stream, Z_NO_FLUSH)
        let taken = Int(UInt32(clamping: input.count) - stream.pointee.avail_in)
        let made = Int(UInt32(clamping: output.count) - stream.pointee.avail_out)
        switch status {
        case Z_STREAM_END: return (taken, made, .memberEnded)
        // `Z_BUF_ERROR` is not a fault: more input or more room resolves it.
        case Z_OK, Z_BUF_ERROR: return (taken, made, .more)
        default: return (taken, made, .damaged)
        }
    }

    /// Returns whether bytes begin with a zlib header and the first bytes decompress. The two header bytes alone are
    /// weak evidence.
    static func begins(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count >= 8, bytes[0] & 0x0F == 8, bytes[0] >> 4 <= 7, bytes[1] & 0x20 == 0,
            (Int(bytes[0]) << 8 | Int(bytes[1])).isMultiple(of: 31)
        else { return false }
        return withUnsafeTemporaryAllocation(byteCount: 512, alignment: 8) { output in
            let result = Inflater().inflate(UnsafeRawBufferPointer(rebasing: bytes.prefix(4096)), into: output)
            return result.step != .damaged && result.made >= 8
        }
    }
}
