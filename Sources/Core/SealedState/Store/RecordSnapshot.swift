public import FoundationEssentials
internal import Sealing

/// The origin of a value.
public struct Provenance: Sendable, Hashable {
    /// The sequence: +1 for each write of the record, from 1.
    public let sequence: UInt64
    /// The epoch of the key it was sealed under.
    public let epoch: UInt32
    /// The time of sealing, by the writer's clock.
    public let sealedAt: Date
    /// The time of expiry; nil for never.
    public let notAfter: Date?
    /// The schema version it was written in.
    public let schemaVersion: Int
    /// The id of the writer whose signature was verified, as 32 hexadecimal digits; nil for a name that no roster
    /// governs.
    public let writer: String?

    init(_ header: BlobHeader, writer: WriterID?) {
        sequence = header.sequence
        epoch = header.epoch
        sealedAt = Date(milliseconds: header.sealedAt)
        notAfter = header.notAfter == 0 ? nil : Date(milliseconds: header.notAfter)
        schemaVersion = Int(header.schemaVersion)
        self.writer = writer?.description
    }
}

/// A value together with its provenance.
public struct RecordSnapshot<Record: SealedRecord>: Sendable {
    /// The validated value.
    public let value: Record
    /// The value's origin.
    public let provenance: Provenance
    /// The reason why the blob now in the record's place is refused, if this is the last good value instead; nil for
    /// the current value.
    public var rejection: StoreError?
}

extension Date {
    init(milliseconds: UInt64) { self.init(timeIntervalSince1970: Double(milliseconds) / 1000) }

    /// The milliseconds since 1970, rounded down; 1 for everything before, nil for a time that no header can hold.
    package var headerMilliseconds: UInt64? {
        let milliseconds = (timeIntervalSince1970 * 1000).rounded(.down)
        guard milliseconds.isFinite, milliseconds < 9e15 else { return nil }
        return UInt64(max(1, milliseconds))
    }
}

extension RecordSnapshot {
    /// The value was written in an older schema version and migrated on read.
    public var isMigrated: Bool { provenance.schemaVersion < Record.schemaVersion }
}
