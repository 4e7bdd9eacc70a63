internal import CryptoPrimitives
public import FoundationEssentials
internal import KeyVault
internal import SealedBackends
package import Sealing
internal import SharedFiles

/// The origin of a value.
public struct Provenance: Sendable, Hashable {
    /// The sequence: +1 for each write of the record, from 1 or from above the container's certificate.
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

extension RecordSnapshot {
    /// The value was written in an older schema version and migrated on read.
    public var isMigrated: Bool { provenance.schemaVersion < Record.schemaVersion }
}

/// A listed record, whose contents were not opened.
public struct RecordListing: Sendable {
    /// The record's name.
    public let name: String
    /// Its provenance; nil when its header is refused.
    public let provenance: Provenance?
    /// The record is a deletion, kept so that it cannot be undone unseen.
    public let isDeleted: Bool
    /// The reason why its header is refused; nil when it is not.
    public let rejection: StoreError?
    /// Its verified header; nil when it is refused.
    package let header: BlobHeader?
    /// The version of the roster under which its writer signed it; nil if no signature was verified.
    package var rosterVersion: UInt64?
}

extension RecordListing {
    /// Returns the same listing under the name that programs use for it.
    func renamed(_ name: String) -> RecordListing {
        RecordListing(
            name: name, provenance: provenance, isDeleted: isDeleted, rejection: rejection, header: header,
            rosterVersion: rosterVersion)
    }
}

extension RecordReader {
    /// Returns the list's entry for a record; `nil` if there is no file.
    package func listing(_ name: String) -> RecordListing? { listing(BlobHead(BackendKey(name), bytes: [])) }

    /// Returns the list's entry for a blob whose beginning was just read; `nil` if there is no file.
    func listing(_ head: BlobHead) -> RecordListing? {
        let name = head.key.name
        do throws(StoreError) {
            let place = try places.place(stored: name)
            guard let (listed, verdict) = try judgedHeader(place, head) else {
                let error = absent(place)
                guard error.code == .missing else { return nil }
                return RecordListing(name: name, provenance: nil, isDeleted: false, rejection: error, header: nil)
            }
            let header = listed.header
            try judge(verdict, header.header, place)
            return RecordListing(
                name: name, provenance: Provenance(header.header, writer: listed.writer),
                isDeleted: header.header.flags.contains(.tombstone), rejection: nil, header: header.header,
                rosterVersion: listed.rosterVersion)
        } catch {
            return RecordListing(name: name, provenance: nil, isDeleted: false, rejection: error, header: nil)
        }
    }

    /// Reads the header and judges it as a read does: if another thread overtook the header, the file has changed
    /// since, and it is no replay.
    private func judgedHeader(
        _ place: RecordPlace, _ head: BlobHead
    ) throws(StoreError) -> (ListedHeader, Watermark.Verdict)? {
        var known = head.bytes.count == BlobHead.size ? head.bytes : nil
        var previous: VerifiedHeader?
        var attempts = 0
        while let listed = try listedHeader(place, known) {
            known = nil
            let verdict = verdict(on: listed.header)
            let isSettled = verdict != .replayed || listed.header == previous || attempts >= Self.maximumRereads
            if isSettled { return (listed, verdict) }
            previous = listed.header
            attempts += 1
        }
        return nil
    }

    /// Returns the verified header of the blob stored in a place; `nil` if there is no file.
    ///
    /// - Parameter known: The header's bytes, if they were just read.
    func listedHeader(_ place: RecordPlace, _ known: [UInt8]? = nil) throws(StoreError) -> ListedHeader? {
        if let authority, authority.governs(place.name.text) { return try governedHeader(place) }
        let prefix = if let known { known } else { try head(at: place, "list") }
        guard let prefix else { return nil }
        return ListedHeader(header: try keys.verifyHeader(prefix, "list", place), writer: nil, rosterVersion: nil)
    }
}

/// A verified header, and the writer whose signature was verified with it.
struct ListedHeader {
    let header: VerifiedHeader
    let writer: WriterID?
    /// The version of the roster under which the writer signed.
    let rosterVersion: UInt64?
}
