/// An object of a binary property list as stored in the file: its kind, and its value or the place of its contents.
///
/// The layout and the kinds are those of Apple's `CFBinaryPList.c`, with the kinds that only archives have and those that
/// Apple reserved. A reader of values refuses these (`PropertyListObject`); a search for leaves reads them.
package enum EncodedObject {
    /// Null, a fill byte or another marker without contents.
    case empty(marker: UInt8)
    case flag(Bool)
    case integer(EncodedInteger)
    case real(Double)
    /// Seconds since 2001.
    case date(Double)
    /// 16 bytes.
    case identifier(Range<Int>)
    case data(Range<Int>)
    case text(Range<Int>, Letters)
    /// The number of another object, which only archives have.
    case reference(UInt64)
    /// References to objects begin at a position.
    case array(count: Int, references: Int)
    case set(count: Int, references: Int, isOrdered: Bool)
    /// The references to the keys, then those to the values.
    case dictionary(count: Int, references: Int)

    package enum Letters: Sendable {
        case ascii, utf8
        /// The high byte first.
        case utf16
    }

    /// The most bytes that the marker and the numbers after it have.
    package static let headSize = 17

    /// Reads the object at a position, which has to end before `end`.
    ///
    /// - Parameter head: Its first `headSize` bytes, or as many as there are before `end`.
    /// - Throws: `StructureFault` `.malformed`.
    @inline(__always)
    package init(
        _ head: UnsafeRawBufferPointer, at position: Int, end: Int, referenceSize: Int
    ) throws(StructureFault) {
        guard let marker = head.first else { throw .malformed("an object is outside the file") }
        let place = Place(head: head, position: position, end: end)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09: self = .flag(marker == 0x09)
        case 0x0 where marker == 0x0E: self = .identifier(try place.range(from: 1, size: 16))
        case 0x0: self = .empty(marker: marker)
        case 0x1: self = .integer(try place.integer())
        case 0x2: self = .real(try place.real())
        case 0x3 where marker == 0x33: self = .date(Double(bitPattern: try place.number(at: 1, size: 8)))
        case 0x3: throw .malformed("a date is of an unknown size")
        case 0x4: self = .data(try place.contents(unit: 1))
        case 0x5: self = .text(try place.contents(unit: 1), .ascii)
        case 0x6: self = .text(try place.contents(unit: 2), .utf16)
        case 0x7: self = .text(try place.contents(unit: 1), .utf8)
        case 0x8: self = .reference(try place.number(at: 1, size: Int(marker & 0x0F) + 1))
        case 0xA...0xC:
            let range = try place.contents(unit: referenceSize)
            let (count, references) = (range.count / referenceSize, range.lowerBound)
            self =
                marker >> 4 == 0xA
                ? .array(count: count, references: references)
                : .set(count: count, references: references, isOrdered: marker >> 4 == 0xB)
        case 0xD:
            let range = try place.contents(unit: 2 * referenceSize)
            self = .dictionary(count: range.count / (2 * referenceSize), references: range.lowerBound)
        default: throw .malformed("an object is of an unknown kind")
        }
    }

    private struct Place {
        let head: UnsafeRawBufferPointer
        let position: Int
        let end: Int

        private var low: Int { Int(head[0] & 0x0F) }

        /// Of a number of more than 8 bytes the lower half.
        func number(at index: Int, size: Int) throws(StructureFault) -> UInt64 {
            guard size <= head.count - index else { throw .malformed("an object extends beyond its end") }
            let skipped = max(0, size - 8)
            return head.bigEndian(index + skipped..<index + size)
        }

        func range(from index: Int, size: Int) throws(StructureFault) -> Range<Int> {
            let start = position + index
            guard size <= end - start else { throw .malformed("an object extends beyond its end") }
            return start..<start + size
        }

        func integer() throws(StructureFault) -> EncodedInteger {
            guard low <= 4 else { throw .malformed("a number is too long") }
            let size = 1 << low
            return EncodedInteger(
                size: size, bits: try number(at: 1, size: size), upper: size == 16 ? try number(at: 1, size: 8) : 0)
        }

        func real() throws(StructureFault) -> Double {
            guard 2...3 ~= low else { throw .malformed("a number is of an unknown size") }
            let bits = try number(at: 1, size: 1 << low)
            return low == 2 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
        }

        /// The range of so many units; 15 means that their number follows as an object of its own.
        func contents(unit: Int) throws(StructureFault) -> Range<Int> {
            var (index, count) = (1, low)
            if count == 0x0F {
                guard head.count > 1 else { throw .malformed("an object extends beyond its end") }
                guard 0x10...0x13 ~= head[1] else { throw .malformed("a length is not a number") }
                let size = 1 << Int(head[1] & 0x0F)
                count = Int(clamping: try number(at: 2, size: size))
                index = 2 + size
            }
            let (size, isTooLarge) = count.multipliedReportingOverflow(by: unit)
            guard !isTooLarge else { throw .malformed("an object extends beyond its end") }
            return try range(from: index, size: size)
        }
    }
}

/// A whole number of 1 to 16 bytes, of which only one of 8 has a sign.
package struct EncodedInteger: Sendable {
    package let size: Int
    /// The lower 8 bytes.
    package let bits: UInt64
    /// The upper 8 bytes of one of 16, else 0.
    package let upper: UInt64
}

/// The last 32 bytes of a binary property list: where its objects are.
///
/// All numbers are big-endian: header `bplist00`, objects, a table of their offsets, the trailer.
package struct PropertyListTrailer: Sendable {
    package static let size = 32
    private static let header = Array("bplist00".utf8)

    /// The bytes of an entry in the table of offsets.
    package let offsetSize: Int
    /// The bytes of a reference from a container to an object.
    package let referenceSize: Int
    package let objectCount: Int
    /// The object that is the whole.
    package let top: Int
    /// The start of the table; all objects are before it.
    package let table: Int

    /// The lowest offset of an object: after the header.
    package static let firstOffset = 8

    /// Header, trailer and table have to fill the file together with the objects, to the byte.
    init(parsing bytes: UnsafeRawBufferPointer) throws(StructureFault) {
        guard bytes.count >= Self.header.count + Self.size, bytes.starts(with: Self.header) else {
            throw .malformed("its header is missing")
        }
        let trailer = UnsafeRawBufferPointer(rebasing: bytes[(bytes.count - Self.size)...])
        try self.init(trailer, fileSize: bytes.count)
    }

    /// - Parameters:
    ///   - trailer: The last bytes of the file.
    ///   - hasGaps: Whether there may be bytes between the table and the trailer.
    package init(
        _ trailer: UnsafeRawBufferPointer, fileSize: Int, hasGaps: Bool = false
    ) throws(StructureFault) {
        let start = fileSize - Self.size
        guard trailer.count == Self.size, start >= Self.firstOffset else { throw .malformed("its trailer is missing") }
        offsetSize = Int(trailer[6])
        referenceSize = Int(trailer[7])
        guard 1...8 ~= offsetSize, 1...8 ~= referenceSize,
            let count = trailer.bigEndian(at: 8, size: 8).flatMap(Int.init(exactly:)),
            let top = trailer.bigEndian(at: 16, size: 8).flatMap(Int.init(exactly:)),
            let table = trailer.bigEndian(at: 24, size: 8).flatMap(Int.init(exactly:))
        else { throw .malformed("its trailer has sizes out of range") }
        let (tableSize, isTooLarge) = count.multipliedReportingOverflow(by: offsetSize)
        guard !isTooLarge, table > Self.firstOffset, table < start, top < count,
            hasGaps ? tableSize <= start - table : tableSize == start - table
        else { throw .malformed("its trailer does not match its size") }
        objectCount = count
        self.top = top
        self.table = table
    }

    /// The offset of an object, from its entry in the table.
    package func offset(_ entry: UnsafeRawBufferPointer) throws(StructureFault) -> Int {
        try offset(entry.bigEndian(at: 0, size: offsetSize))
    }

    @inline(__always)
    fileprivate func offset(_ number: UInt64?) throws(StructureFault) -> Int {
        guard let number, number >= UInt64(Self.firstOffset), number < UInt64(table) else {
            throw .malformed("an object is outside the file")
        }
        return Int(number)
    }

    /// The number of an object, from a reference to it.
    package func number(_ reference: UnsafeRawBufferPointer) throws(StructureFault) -> Int {
        try number(reference.bigEndian(at: 0, size: referenceSize))
    }

    @inline(__always)
    fileprivate func number(_ number: UInt64?) throws(StructureFault) -> Int {
        guard let number, number < UInt64(objectCount) else { throw .malformed("a reference has no target") }
        return Int(number)
    }
}

/// The table of objects of a property list that is held whole.
struct PropertyListTable {
    let bytes: UnsafeRawBufferPointer
    let trailer: PropertyListTrailer

    init(_ bytes: UnsafeRawBufferPointer) throws(StructureFault) {
        self.bytes = bytes
        trailer = try PropertyListTrailer(parsing: bytes)
    }

    func offset(of object: Int) throws(StructureFault) -> Int {
        try trailer.offset(bytes.bigEndian(at: trailer.table + object * trailer.offsetSize, size: trailer.offsetSize))
    }

    func reference(_ index: Int, from start: Int) throws(StructureFault) -> Int {
        try trailer.number(bytes.bigEndian(at: start + index * trailer.referenceSize, size: trailer.referenceSize))
    }

    func object(_ number: Int) throws(StructureFault) -> PropertyListObject {
        let offset = try offset(of: number)
        let head = UnsafeRawBufferPointer(
            rebasing: bytes[offset..<min(offset + EncodedObject.headSize, trailer.table)])
        return try PropertyListObject(
            EncodedObject(head, at: offset, end: trailer.table, referenceSize: trailer.referenceSize))
    }
}

extension UnsafeRawBufferPointer {
    /// Returns an unsigned number of 1 to 8 bytes; nil if it is not inside the bytes.
    fileprivate func bigEndian(at position: Int, size: Int) -> UInt64? {
        guard position >= 0, 1...8 ~= size, position <= count - size else { return nil }
        return bigEndian(position..<position + size)
    }

    /// An unsigned number of up to 8 bytes, which have to be there.
    @inline(__always)
    fileprivate func bigEndian(_ range: Range<Int>) -> UInt64 {
        var number: UInt64 = 0
        for index in range { number = number << 8 | UInt64(self[index]) }
        return number
    }
}
