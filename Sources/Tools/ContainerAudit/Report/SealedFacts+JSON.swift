internal import FoundationEssentials

extension SealedFacts: Codable {
    private enum Key: String, CodingKey {
        case name, sequence, epoch, schemaVersion, sealedAt, notAfter, keyID, isDeleted
    }

    /// Reads what `encode(to:)` writes.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        name = try container.decode(String?.self, forKey: .name)
        sequence = try container.decode(UInt64.self, forKey: .sequence)
        epoch = try container.decode(UInt32.self, forKey: .epoch)
        schemaVersion = try container.decode(Int.self, forKey: .schemaVersion)
        sealedAt = try Self.date(try container.decode(String.self, forKey: .sealedAt), .sealedAt, container)
        notAfter = try container.decode(String?.self, forKey: .notAfter).map { try Self.date($0, .notAfter, container) }
        keyID = try container.decode(String.self, forKey: .keyID)
        isDeleted = try container.decode(Bool.self, forKey: .isDeleted)
    }

    /// Writes every field, times as RFC 3339 text with milliseconds at most; what is not known is null.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(sequence, forKey: .sequence)
        try container.encode(epoch, forKey: .epoch)
        try container.encode(schemaVersion, forKey: .schemaVersion)
        try container.encode(MillisecondTime.text(sealedAt), forKey: .sealedAt)
        try container.encode(notAfter.map(MillisecondTime.text), forKey: .notAfter)
        try container.encode(keyID, forKey: .keyID)
        try container.encode(isDeleted, forKey: .isDeleted)
    }

    private static func date(_ text: String, _ key: Key, _ container: KeyedDecodingContainer<Key>) throws -> Date {
        guard let date = MillisecondTime.date(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: container, debugDescription: "Not a time such as 2026-11-21T03:30:00Z.")
        }
        return date
    }
}
