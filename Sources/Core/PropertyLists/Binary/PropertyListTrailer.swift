/// The last 32 bytes of a binary property list: where its objects lie.
///
/// The layout is that of Apple's `CFBinaryPList.c`: header `bplist00`, objects, a table of their offsets, the trailer;
/// all numbers big-endian.
struct PropertyListTrailer {
    private static let size = 32
    private static let header = Array("bplist00".utf8)

    /// The bytes of an entry in the table of offsets.
    let offsetSize: Int
    /// The bytes of a reference from a container to an object.
    let referenceSize: Int
    let objectCount: Int
    /// The object that is the whole.
    let top: Int
    /// Where the table begins; all objects lie before it.
    let table: Int

    /// Where the first object may lie.
    static var firstOffset: Int { header.count }

    /// Header, trailer and table have to fill the file together with the objects, to the byte.
    init(parsing bytes: UnsafeRawBufferPointer) throws(StructureFault) {
        guard bytes.count >= Self.header.count + Self.size, bytes.starts(with: Self.header) else {
            throw .malformed("its header is missing")
        }
        let start = bytes.count - Self.size
        offsetSize = Int(bytes[start + 6])
        referenceSize = Int(bytes[start + 7])
        guard 1...8 ~= offsetSize, 1...8 ~= referenceSize,
            let count = Self.number(in: bytes, at: start + 8), let top = Self.number(in: bytes, at: start + 16),
            let table = Self.number(in: bytes, at: start + 24)
        else { throw .malformed("its trailer has sizes out of range") }
        let (tableSize, isTooLarge) = count.multipliedReportingOverflow(by: offsetSize)
        guard !isTooLarge, table > Self.firstOffset, table < start, tableSize == start - table, top < count else {
            throw .malformed("its trailer does not fit its size")
        }
        objectCount = count
        self.top = top
        self.table = table
    }

    private static func number(in bytes: UnsafeRawBufferPointer, at position: Int) -> Int? {
        bytes.bigEndian(at: position, size: 8).flatMap(Int.init(exactly:))
    }
}

extension UnsafeRawBufferPointer {
    /// An unsigned number of 1 to 8 bytes; nil where it does not lie inside.
    func bigEndian(at position: Int, size: Int) -> UInt64? {
        guard position >= 0, 1...8 ~= size, position <= count - size else { return nil }
        return self[position..<position + size].reduce(0) { $0 << 8 | UInt64($1) }
    }
}
