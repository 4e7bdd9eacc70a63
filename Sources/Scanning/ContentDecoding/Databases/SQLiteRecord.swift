/// The header of a record: the types of its values.
struct SQLiteRecord {
    let types: [SerialType]
    let headerSize: Int
    /// The number of bytes of the values.
    let bodySize: Int

    /// Parses the header, or returns `nil` if it is inconsistent.
    ///
    /// - Parameter end: The end of the bytes that may belong to the header.
    init?(_ bytes: CarrierBytes, at start: Int, end: Int) {
        guard let (size, first) = bytes.varint(at: start, end: end), size >= 1, size <= UInt64(max(0, end - start))
        else { return nil }
        guard let types = Self.types(bytes, from: first, to: start + Int(size)) else { return nil }
        self.init(types: types, headerSize: Int(size))
    }

    init(types: [SerialType], headerSize: Int) {
        self.types = types
        self.headerSize = headerSize
        bodySize = types.reduce(0) { $0 + $1.size }
    }

    /// Returns the number of values in a header and the record's size without creating types, for bytes that are most
    /// likely not a record.
    static func shape(_ bytes: CarrierBytes, at start: Int, end: Int) -> (count: Int, size: Int)? {
        guard let (size, first) = bytes.varint(at: start, end: end), size >= 2, size <= UInt64(max(0, end - start))
        else { return nil }
        var (count, body, index) = (0, 0, first)
        while index < start + Int(size) {
            guard let (code, next) = bytes.varint(at: index, end: start + Int(size)), let type = SerialType(code)
            else { return nil }
            (count, body, index) = (count + 1, body + type.size, next)
        }
        return (count, Int(size) + body)
    }

    /// Returns the types that fill a range exactly.
    static func types(_ bytes: CarrierBytes, from start: Int, to end: Int) -> [SerialType]? {
        var types: [SerialType] = []
        var index = start
        while index < end {
            guard let (code, next) = bytes.varint(at: index, end: end), let type = SerialType(code) else { return nil }
            types.append(type)
            index = next
        }
        return types
    }
}

/// The kind of a value in a record and the number of its bytes (SQLite, "Database File Format", section 2.1).
struct SerialType {
    enum Kind { case null, integer, real, zero, one, text, blob }

    let kind: Kind
    let size: Int

    /// Creates a type, or `nil` for a reserved code or one that is longer than any value.
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

    /// Returns the number in the bytes, or `nil` if the value is not a number.
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
