internal import PropertyLists

/// The objects of a binary property list, read one at a time from wherever they lie.
final class BinaryObjectTable {
    private static let trailerSize = 32
    private static let firstOffset = 8
    /// More than any file of a sensible size has; a bit is kept for each.
    private static let mostObjects = 64 << 20

    let bytes: SourceBytes
    let objectCount: Int
    let top: Int
    private let offsetSize: Int
    private let referenceSize: Int
    /// Where the table of offsets begins; all objects lie before it.
    private let end: Int

    /// - Throws: `CarrierFault.malformed` where the trailer does not fit the file.
    init(_ source: any ByteSource) throws(CarrierFault) {
        bytes = try SourceBytes(source)
        let start = bytes.count - Self.trailerSize
        let trailer = try bytes.bytes(at: start, count: Self.trailerSize)
        guard trailer.count == Self.trailerSize, start > Self.firstOffset else {
            throw .malformed("its trailer is missing")
        }
        offsetSize = Int(trailer[6])
        referenceSize = Int(trailer[7])
        let numbers = [8, 16, 24].compactMap { Int(exactly: BigEndian.number(trailer[$0..<$0 + 8])) }
        guard numbers.count == 3, 1...8 ~= offsetSize, 1...8 ~= referenceSize else {
            throw .malformed("its trailer has sizes out of range")
        }
        (objectCount, top, end) = (numbers[0], numbers[1], numbers[2])
        let (size, isTooLarge) = objectCount.multipliedReportingOverflow(by: offsetSize)
        guard !isTooLarge, end > Self.firstOffset, end < start, size <= start - end, top < objectCount else {
            throw .malformed("its trailer does not fit its size")
        }
        if objectCount > Self.mostObjects { throw .exhausted(.values) }
    }

    /// The object of a number.
    func object(_ number: Int) throws(CarrierFault) -> BinaryObject {
        guard 0..<objectCount ~= number else { throw .malformed("a reference leads nowhere") }
        let entry = try bytes.bytes(at: end + number * offsetSize, count: offsetSize)
        guard entry.count == offsetSize, let offset = Int(exactly: BigEndian.number(entry[...])),
            Self.firstOffset..<end ~= offset
        else { throw .malformed("an object lies outside") }
        return try object(at: offset)
    }

    /// The number of the object that a list refers to.
    func element(_ index: Int, of list: BinaryObjectList) throws(CarrierFault) -> Int {
        let place = list.position + index * referenceSize
        let entry = try bytes.bytes(at: place, count: referenceSize)
        guard entry.count == referenceSize, let number = Int(exactly: BigEndian.number(entry[...])),
            number < objectCount
        else { throw .malformed("a reference leads nowhere") }
        return number
    }

    /// The contents of an object; valid until another object is looked at.
    func contents(_ range: Range<Int>) throws(CarrierFault) -> UnsafeRawBufferPointer {
        try bytes.bytes(at: range.lowerBound, count: range.count)
    }

    // MARK: One object

    private func object(at offset: Int) throws(CarrierFault) -> BinaryObject {
        let head = try bytes.bytes(at: offset, count: min(17, end - offset))
        guard let marker = head.first else { throw .malformed("an object lies outside") }
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0 where marker == 0x08 || marker == 0x09: return .flag(marker == 0x09)
        case 0x0 where marker == 0x0E: return .data(try fixed(offset + 1, 16))
        case 0x0: return .null
        case 0x1: return .number(try integer(head.dropFirst(), power: low))
        case 0x2: return .number(try real(head.dropFirst(), power: low))
        case 0x3: return .number(try real(head.dropFirst(), power: 3) + Double(PropertyListDate.secondsTo2001))
        case 0x4: return .data(try contents(offset, head, unit: 1))
        case 0x5, 0x7: return .text(try contents(offset, head, unit: 1), isWide: false)
        case 0x6: return .text(try contents(offset, head, unit: 2), isWide: true)
        case 0x8:
            let number = try fixedNumber(head.dropFirst(), low + 1)
            return .reference(Int(clamping: number))
        case 0xA, 0xB, 0xC:
            return .array(list(try contents(offset, head, unit: referenceSize), referenceSize))
        case 0xD: return dictionary(try contents(offset, head, unit: 2 * referenceSize))
        default: throw .malformed("an object is of an unknown kind")
        }
    }

    private func list(_ range: Range<Int>, _ size: Int) -> BinaryObjectList {
        BinaryObjectList(position: range.lowerBound, count: range.count / size)
    }

    private func dictionary(_ range: Range<Int>) -> BinaryObject {
        let count = range.count / (2 * referenceSize)
        return .dictionary(
            keys: BinaryObjectList(position: range.lowerBound, count: count),
            values: BinaryObjectList(position: range.lowerBound + count * referenceSize, count: count))
    }

    /// The range of so many units; 15 means that their number follows as an object of its own.
    private func contents(_ offset: Int, _ head: UnsafeRawBufferPointer, unit: Int) throws(CarrierFault) -> Range<Int> {
        var (start, count) = (offset + 1, Int(head[0] & 0x0F))
        if count == 0x0F {
            guard head.count > 1, 0x10...0x13 ~= head[1] else { throw .malformed("a length is no number") }
            let size = 1 << Int(head[1] & 0x0F)
            count = Int(clamping: try fixedNumber(head.dropFirst(2), size))
            start += 1 + size
        }
        let (size, isTooLarge) = count.multipliedReportingOverflow(by: unit)
        guard !isTooLarge, size <= end - start else { throw .malformed("an object reaches beyond its end") }
        return start..<start + size
    }

    private func fixed(_ start: Int, _ size: Int) throws(CarrierFault) -> Range<Int> {
        guard size <= end - start else { throw .malformed("an object reaches beyond its end") }
        return start..<start + size
    }

    private func fixedNumber(_ head: Slice<UnsafeRawBufferPointer>, _ size: Int) throws(CarrierFault) -> UInt64 {
        guard size <= head.count else { throw .malformed("an object reaches beyond its end") }
        // A number of 16 bytes: its lower half.
        return BigEndian.number(head.prefix(size).suffix(8))
    }

    /// Of 8 bytes it has a sign, shorter ones have none.
    private func integer(_ head: Slice<UnsafeRawBufferPointer>, power: Int) throws(CarrierFault) -> Double {
        guard power <= 4 else { throw .malformed("a number is too long") }
        let number = try fixedNumber(head, 1 << power)
        return power == 3 ? Double(Int64(bitPattern: number)) : Double(number)
    }

    private func real(_ head: Slice<UnsafeRawBufferPointer>, power: Int) throws(CarrierFault) -> Double {
        guard 2...3 ~= power else { throw .malformed("a number is of an unknown size") }
        let bits = try fixedNumber(head, 1 << power)
        return power == 2 ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)
    }
}

/// Numbers with the high byte first.
enum BigEndian {
    static func number(_ bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
}

/// One object of a binary property list: what it is, and where in the file its contents lie.
///
/// Kinds as in Apple's `CFBinaryPList.c`; those that only archives have, and those that Apple reserved, too.
enum BinaryObject {
    case null
    case flag(Bool)
    case number(Double)
    case data(Range<Int>)
    /// ASCII, or UTF-16 with the high byte first.
    case text(Range<Int>, isWide: Bool)
    /// The number of an object of a keyed archive.
    case reference(Int)
    case array(BinaryObjectList)
    case dictionary(keys: BinaryObjectList, values: BinaryObjectList)
}

/// References to objects, one behind the other in the file.
struct BinaryObjectList {
    let position: Int
    let count: Int
}

/// Text of a binary property list that is not ASCII: UTF-16, the high byte first.
enum WidePropertyText {
    /// The same text as UTF-8; halves of characters become U+FFFD. Valid until the buffer is used again.
    static func utf8(_ bytes: UnsafeRawBufferPointer, in scratch: ScratchBytes) -> UnsafeRawBufferPointer {
        scratch.removeAll()
        var high: UInt32?
        for position in stride(from: 0, to: bytes.count - 1, by: 2) {
            let unit = UInt32(bytes[position]) << 8 | UInt32(bytes[position + 1])
            if let first = high {
                high = nil
                if 0xDC00..<0xE000 ~= unit {
                    scratch.append(scalar: 0x10000 + (first - 0xD800) << 10 + (unit - 0xDC00))
                    continue
                }
                scratch.append(scalar: first)
            }
            if 0xD800..<0xDC00 ~= unit { high = unit } else { scratch.append(scalar: unit) }
        }
        if let high { scratch.append(scalar: high) }
        return scratch.bytes
    }
}
