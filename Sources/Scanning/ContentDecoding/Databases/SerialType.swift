/// What a value in a record is and how many bytes it takes (SQLite, "Database File Format", section 2.1).
struct SerialType {
    enum Kind { case null, integer, real, zero, one, text, blob }

    let kind: Kind
    let size: Int

    /// Nil for what is reserved or longer than any value.
    init?(_ code: UInt64) {
        switch code {
        case 0: (kind, size) = (.null, 0)
        case 1...4: (kind, size) = (.integer, Int(code))
        case 5: (kind, size) = (.integer, 6)
        case 6: (kind, size) = (.integer, 8)
        case 7: (kind, size) = (.real, 8)
        case 8: (kind, size) = (.zero, 0)
        case 9: (kind, size) = (.one, 0)
        case 12..<1 << 32: (kind, size) = (code % 2 == 0 ? .blob : .text, Int(code - 12) / 2)
        default: return nil
        }
    }

    /// The number in the bytes; nil where it is none.
    func number(_ bytes: UnsafeRawBufferPointer) -> Double? {
        switch kind {
        case .zero: return 0
        case .one: return 1
        case .integer where bytes.count == size:
            let start: Int64 = bytes.first.map { $0 >= 0x80 ? -1 : 0 } ?? 0
            return Double(bytes.reduce(start) { $0 << 8 | Int64($1) })
        case .real where bytes.count == size: return Double(bitPattern: bytes.reduce(0) { $0 << 8 | UInt64($1) })
        default: return nil
        }
    }
}
