internal import CryptoPrimitives
internal import KeyVault
package import Sealing
internal import SharedFiles

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

extension RecordReader {
    /// Returns the list's entry for a record; `nil` if there is no file.
    package func listing(_ name: String) -> RecordListing? {
        do throws(StoreError) {
            let place = try places.place(stored: name)
            guard let (listed, verdict) = try judgedHeader(place) else {
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
    private func judgedHeader(_ place: RecordPlace) throws(StoreError) -> (ListedHeader, Watermark.Verdict)? {
        var previous: VerifiedHeader?
        var attempts = 0
        while let listed = try listedHeader(place) {
            let verdict = watermarks.verdict(on: listed.header)
            let isSettled = verdict != .replayed || listed.header == previous || attempts >= Self.maximumRereads
            if isSettled { return (listed, verdict) }
            previous = listed.header
            attempts += 1
        }
        return nil
    }

    /// Returns the verified header of the blob stored in a place; `nil` if there is no file.
    func listedHeader(_ place: RecordPlace) throws(StoreError) -> ListedHeader? {
        if let authority, authority.governs(place.name.text) { return try governedHeader(place) }
        let prefix = try StoreError.onFiles("list", place.name.text) { () throws(FileError) in
            try backend.readPrefix(place.address, count: BlobLayout.headerSize)
        }
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
