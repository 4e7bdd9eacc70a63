/// An object of a binary property list: its kind and the position of its contents.
enum PropertyListObject {
    /// A number, a truth value or a date, or `nil` for null.
    case scalar(PropertyListValue?)
    case data(Range<Int>)
    case text(Range<Int>, isWide: Bool)
    /// An array, with the position of its references.
    case array(count: Int, references: Int)
    /// A dictionary, with the position of the references to its keys, which precede those to its values.
    case dictionary(count: Int, references: Int)

    /// Reads the object at a position. The whole object must be before `end`.
    init(at position: Int, in bytes: UnsafeRawBufferPointer, end: Int, referenceSize: Int) throws(StructureFault) {
        var parser = Parser(bytes: bytes, position: position, end: end)
        let marker = try parser.byte()
        let low = Int(marker & 0x0F)
        switch marker >> 4 {
        case 0x0: self = try Self.constant(marker)
        case 0x1: self = try parser.integer(power: low)
        case 0x2: self = try parser.real(power: low)
        case 0x3: self = try parser.date(marker)
        case 0x4: self = .data(try parser.contents(low, unit: 1))
        case 0x5: self = .text(try parser.contents(low, unit: 1), isWide: false)
        case 0x6: self = .text(try parser.contents(low, unit: 2), isWide: true)
        case 0x8: throw .unsupported("a reference of an archive")
        case 0xA:
            let references = try parser.contents(low, unit: referenceSize)
            self = .array(count: references.count / referenceSize, references: references.lowerBound)
        case 0xC: throw .unsupported("a set")
        case 0xD:
            let references = try parser.contents(low, unit: 2 * referenceSize)
            self = .dictionary(count: references.count / (2 * referenceSize), references: references.lowerBound)
        default: throw .malformed("an object is of an unknown kind")
        }
    }

    /// Returns the object for null, false or true.
    private static func constant(_ marker: UInt8) throws(StructureFault) -> Self {
        switch marker {
        case 0x00: .scalar(nil)
        case 0x08: .scalar(.bool(false))
        case 0x09: .scalar(.bool(true))
        default: throw .malformed("an object is of an unknown kind")
        }
    }

    private struct Parser {
        let bytes: UnsafeRawBufferPointer
        var position: Int
        let end: Int

        mutating func byte() throws(StructureFault) -> UInt8 {
            UInt8(truncatingIfNeeded: try number(size: 1))
        }

        mutating func number(size: Int) throws(StructureFault) -> UInt64 {
            guard position <= end - size, let number = bytes.bigEndian(at: position, size: size) else {
                throw .malformed("an object reaches beyond its end")
            }
            position += size
            return number
        }

        /// Reads a number of 1 to 8 bytes, of which only 8 bytes are signed, or one of 16 bytes with an upper half of
        /// 0.
        mutating func integer(power: Int) throws(StructureFault) -> PropertyListObject {
            guard power <= 4 else { throw .malformed("a number is too long") }
            if power == 4, try number(size: 8) != 0 { throw .unsupported("a number of more than 64 bits") }
            let bits = try number(size: min(8, 1 << power))
            if power == 4, bits > Int64.max { return .scalar(.unsigned(bits)) }
            return .scalar(.integer(Int64(bitPattern: bits)))
        }

        mutating func real(power: Int) throws(StructureFault) -> PropertyListObject {
            guard 2...3 ~= power else { throw .malformed("a number is of an unknown size") }
            let bits = try number(size: 1 << power)
            let isSingle = power == 2
            return .scalar(
                .real(isSingle ? Double(Float(bitPattern: UInt32(bits))) : Double(bitPattern: bits)))
        }

        /// Reads a date within the years 0 to 9999, as in JSON. Other years make calendars and conversions fail in a
        /// reader's own code.
        mutating func date(_ marker: UInt8) throws(StructureFault) -> PropertyListObject {
            guard marker == 0x33 else { throw .malformed("a date is of an unknown size") }
            guard let date = PropertyListDate(secondsSince2001: Double(bitPattern: try number(size: 8))) else {
                throw .unsupported("a date outside the years 0 to 9999")
            }
            return .scalar(.date(date))
        }

        /// Reads the range of the object's units. A count of 15 means that the count follows as an object of its own.
        mutating func contents(_ low: Int, unit: Int) throws(StructureFault) -> Range<Int> {
            var count = low
            if low == 0x0F {
                let marker = try byte()
                guard 0x10...0x13 ~= marker else { throw .malformed("a length is no number") }
                count = Int(clamping: try number(size: 1 << Int(marker & 0x0F)))
            }
            let (size, isTooLarge) = count.multipliedReportingOverflow(by: unit)
            guard !isTooLarge, size <= end - position else { throw .malformed("an object reaches beyond its end") }
            return position..<position + size
        }
    }
}
