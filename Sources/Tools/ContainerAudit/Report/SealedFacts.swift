public import FoundationEssentials
internal import PropertyLists
internal import Sealing

/// The facts in a sealed blob's header, trustworthy only if the file's verdict is `verified`.
public struct SealedFacts: Sendable, Hashable {
    /// The record's name from the file's place, because the header contains only a tag of it; `nil` outside the
    /// records.
    public let name: String?
    /// The counter that each write of the record increments; 0 for a stream.
    public let sequence: UInt64
    /// The epoch of the sealing key.
    public let epoch: UInt32
    /// The record's schema version; 0 for a stream.
    public let schemaVersion: Int
    /// The time of sealing, by the writer's clock.
    public let sealedAt: Date
    /// The expiry, or `nil` for none.
    public let notAfter: Date?
    /// The key's id of 32 hexadecimal digits, which reveals nothing about the key.
    public let keyID: String
    /// True for a deletion, which is kept so that it cannot be undone unnoticed.
    public let isDeleted: Bool

    init(_ header: BlobHeader, name: String?) {
        self.name = name
        sequence = header.sequence
        epoch = header.epoch
        schemaVersion = Int(header.schemaVersion)
        sealedAt = MillisecondTime.date(header.sealedAt)
        notAfter = header.notAfter == 0 ? nil : MillisecondTime.date(header.notAfter)
        keyID = header.keyID.description
        isDeleted = header.flags.contains(.tombstone)
    }
}

extension SealedFacts: Codable {
    private enum Key: String, CodingKey {
        case name, sequence, epoch, schemaVersion, sealedAt, notAfter, keyID, isDeleted
    }

    /// Decodes the output of `encode(to:)`.
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

    /// Encodes every field, times as RFC 3339 text with at most milliseconds, unknown values as null.
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

/// Times in reports: whole milliseconds as in headers, and RFC 3339 text in UTC.
enum MillisecondTime {
    /// The last second of the year 9999, where RFC 3339 ends. An unverified header may claim any number.
    private static let latest: UInt64 = 253_402_300_799_000

    /// Returns the time of a header's field. Times after the year 9999 are clamped to its end.
    static func date(_ milliseconds: UInt64) -> Date {
        Date(timeIntervalSince1970: Double(min(milliseconds, latest)) / 1000)
    }

    /// Returns RFC 3339 text such as `2026-11-21T03:30:00.5Z`, with up to three fractional digits, or none if they are
    /// zero.
    static func text(_ date: Date) -> String {
        let milliseconds = whole(date)
        return CivilTime(secondsSince1970: Int(milliseconds / 1000))
            .text(nanoseconds: Int(milliseconds % 1000) * 1_000_000)
    }

    /// Parses the output of `text(_:)` to the same value.
    static func date(_ text: String) -> Date? {
        let style = Date.ISO8601FormatStyle(includingFractionalSeconds: text.contains("."))
        return (try? Date(text, strategy: style)).map { date(whole($0)) }
    }

    /// Returns the time as a report represents it.
    static func rounded(_ date: Date) -> Date { self.date(whole(date)) }

    private static func whole(_ date: Date) -> UInt64 {
        UInt64(min(max(0, date.timeIntervalSince1970 * 1000), Double(latest)).rounded())
    }
}
