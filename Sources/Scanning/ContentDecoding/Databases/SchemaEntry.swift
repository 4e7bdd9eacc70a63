/// Reads rows of the schema's table for what they tell, apart from handing them out.
enum SchemaEntry {
    /// The entry that lies on a page; nil where the record is none, or does not lie there as a whole.
    static func read(
        _ record: SQLiteRecord, body: Int, _ bytes: CarrierBytes, _ encoding: SQLiteHeader.Encoding
    ) -> SQLiteSchema.Entry? {
        guard record.types.count == 5, body >= 0, body + record.bodySize <= bytes.count else { return nil }
        var start = body
        var parts: [ArraySlice<UInt8>] = []
        for type in record.types {
            parts.append(bytes.all[start..<start + type.size])
            start += type.size
        }
        guard record.types[0].kind == .text, record.types[1].kind == .text else { return nil }
        let text = { (part: ArraySlice<UInt8>) in
            encoding == .utf8 ? Array(part) : part.withUnsafeBytes { WideText.utf8($0, encoding) }
        }
        let root = parts[3].withUnsafeBytes { record.types[3].number($0) } ?? 0
        return SQLiteSchema.Entry(
            type: String(decoding: text(parts[0]), as: UTF8.self),
            name: String(decoding: text(parts[1]), as: UTF8.self),
            table: String(decoding: text(parts[2]), as: UTF8.self), root: UInt32(exactly: root) ?? 0,
            sql: text(parts[4]))
    }
}
