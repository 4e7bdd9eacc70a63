public import FoundationEssentials
internal import Sealing

/// What a sealed blob's header says; believed only where the file's verdict is `verified`.
public struct SealedFacts: Sendable, Hashable {
    /// The record's name, which is the file's place: the header holds only a tag of it. Nil outside the records.
    public let name: String?
    /// +1 for each write of the record; 0 for a stream.
    public let sequence: UInt64
    /// The epoch of the key it was sealed under.
    public let epoch: UInt32
    /// The record's schema version; 0 for a stream.
    public let schemaVersion: Int
    /// When it was sealed, by the writer's clock.
    public let sealedAt: Date
    /// When it stops being valid; nil for never.
    public let notAfter: Date?
    /// The key's id, 32 hexadecimal digits; it tells nothing about the key.
    public let keyID: String
    /// Whether it is a deletion that is kept so that it cannot be undone unseen.
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
