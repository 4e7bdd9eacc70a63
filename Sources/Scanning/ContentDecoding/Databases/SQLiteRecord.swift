/// The head of a record: which values follow it.
struct SQLiteRecord {
    let types: [SerialType]
    let headerSize: Int
    /// How many bytes the values take.
    let bodySize: Int

    /// Reads the head; nil where it does not add up.
    ///
    /// - Parameter end: Where the bytes end that may belong to it.
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

    /// How many values a head tells of and how long they are, without making them: for bytes that are most likely none.
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

    /// The types that fill a range exactly.
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
