extension AuditedFile: Codable {
    private enum Key: String, CodingKey { case path, kind, size, storedSize, isPlaintext, mode, record, verdict }

    /// Reads what `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        let mode = try container.decode(String?.self, forKey: .mode).map { text in
            guard let mode = UInt32(text, radix: 8) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .mode, in: container, debugDescription: "Not a mode such as 0600.")
            }
            return mode
        }
        self.init(
            path: try container.decode(String.self, forKey: .path),
            kind: try container.decode(FileClass.self, forKey: .kind),
            size: try container.decode(Int64.self, forKey: .size),
            storedSize: try container.decode(Int64.self, forKey: .storedSize),
            isPlaintext: try container.decode(Bool.self, forKey: .isPlaintext), mode: mode,
            record: try container.decode(SealedFacts?.self, forKey: .record),
            verdict: try container.decode(Verdict?.self, forKey: .verdict))
    }

    /// Writes every field, the mode as `0600`; what is not known is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(path, forKey: .path)
        try container.encode(kind, forKey: .kind)
        try container.encode(size, forKey: .size)
        try container.encode(storedSize, forKey: .storedSize)
        try container.encode(isPlaintext, forKey: .isPlaintext)
        try container.encode(mode.map(Self.octal), forKey: .mode)
        try container.encode(record, forKey: .record)
        try container.encode(verdict, forKey: .verdict)
    }

    /// At least four octal digits.
    private static func octal(_ mode: UInt32) -> String {
        let digits = String(mode, radix: 8)
        return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
    }
}
