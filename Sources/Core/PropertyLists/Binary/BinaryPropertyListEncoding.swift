/// The bytes of single objects of a binary property list, as Apple's `CFBinaryPList.c` lays them out.
enum BinaryPropertyListEncoding {
    /// A value that is no container.
    static func scalar(_ value: PropertyListValue) -> [UInt8] {
        switch value {
        case .bool(let value): return [value ? 0x09 : 0x08]
        case .integer(let value): return integer(value)
        case .unsigned(let value):
            guard let small = Int64(exactly: value) else { return [0x14] + bigEndian(0, 8) + bigEndian(value, 8) }
            return integer(small)
        case .real(let value): return [0x23] + bigEndian(value.bitPattern, 8)
        case .date(let value): return [0x33] + bigEndian(value.secondsSince2001.bitPattern, 8)
        case .data(let value): return head(0x40, count: value.count) + value
        case .string(let value): return text(value)
        case .array, .dictionary: return []
        }
    }

    static func text(_ text: String) -> [UInt8] {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return head(0x50, count: text.utf8.count) + text.utf8 }
        let units = text.utf16
        var bytes = head(0x60, count: units.count)
        bytes.reserveCapacity(bytes.count + 2 * units.count)
        for unit in units { bytes.appendBigEndian(Int(unit), size: 2) }
        return bytes
    }

    /// What an object begins with: its kind, and its count there or, from 15 on, as a number behind.
    static func head(_ kind: UInt8, count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 0x0F] + integer(Int64(count))
    }

    /// The fewest bytes of 1, 2, 4 and 8 for a number; other sizes are legal, and some readers don't know them.
    static func size(of number: Int) -> Int {
        number < 1 << 8 ? 1 : number < 1 << 16 ? 2 : number < 1 << 32 ? 4 : 8
    }

    /// Shorter than 8 bytes a number has no sign.
    private static func integer(_ value: Int64) -> [UInt8] {
        let size = value < 0 ? 8 : size(of: Int(value))
        return [0x10 | UInt8(size.trailingZeroBitCount)] + bigEndian(UInt64(bitPattern: value), size)
    }

    private static func bigEndian(_ number: UInt64, _ size: Int) -> [UInt8] {
        (0..<size).reversed().map { UInt8(truncatingIfNeeded: number >> (8 * UInt64($0))) }
    }
}

extension [UInt8] {
    /// The lower bytes of a number, the highest first.
    mutating func appendBigEndian(_ number: Int, size: Int) {
        for byte in (0..<size).reversed() { append(UInt8(truncatingIfNeeded: number >> (8 * byte))) }
    }
}
