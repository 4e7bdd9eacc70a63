internal import CryptoPrimitives
internal import KeyVault
package import Sealing
internal import SharedFiles

/// One record as a list shows it; its contents were not opened.
public struct RecordListing: Sendable {
    /// The record's name.
    public let name: String
    /// Its provenance; nil when its header is refused.
    public let provenance: Provenance?
    /// Whether it is a deletion that is kept so that it cannot be undone unseen.
    public let isDeleted: Bool
    /// Why its header is refused; nil when it is not.
    public let rejection: StoreError?
    /// Its verified header; nil when it is refused.
    package let header: BlobHeader?
}

extension SealedStore {
    /// Every record of the group, by name, with what its verified header says. Deleted ones are included, and marked.
    ///
    /// - Throws: `StoreError` when the container cannot be read; a single refused record is listed with its rejection.
    public func list() throws(StoreError) -> [RecordListing] { try list(includingReserved: false) }

    /// The same, with the library's own records on demand.
    package func list(includingReserved: Bool) throws(StoreError) -> [RecordListing] {
        let names = try StoreError.onFiles("list", group.identifier) { () throws(FileError) in try backend.names() }
        let listed = includingReserved ? names : names.filter { (try? RecordName(stored: $0))?.isReserved != true }
        return listed.sorted().compactMap(listing)
    }

    /// One record as the list shows it; nil where there is no file.
    package func listing(_ name: String) -> RecordListing? {
        do throws(StoreError) {
            let place = try places.place(stored: name)
            guard let (header, verdict) = try judgedHeader(place) else { return nil }
            try judge(verdict, header.header, place)
            return RecordListing(
                name: name, provenance: Provenance(header.header),
                isDeleted: header.header.flags.contains(.tombstone), rejection: nil, header: header.header)
        } catch {
            return RecordListing(name: name, provenance: nil, isDeleted: false, rejection: error, header: nil)
        }
    }

    /// As on a read: a header that another thread overtook is no replay, and the file has changed since.
    private func judgedHeader(_ place: RecordPlace) throws(StoreError) -> (VerifiedHeader, Watermark.Verdict)? {
        var previous: VerifiedHeader?
        var attempts = 0
        while let header = try listedHeader(place) {
            let verdict = watermarks.verdict(on: header)
            let isSettled = verdict != .replayed || header == previous || attempts >= Self.maximumRereads
            if isSettled { return (header, verdict) }
            previous = header
            attempts += 1
        }
        return nil
    }

    func listedHeader(_ place: RecordPlace) throws(StoreError) -> VerifiedHeader? {
        let prefix = try StoreError.onFiles("list", place.name.text) { () throws(FileError) in
            try backend.readPrefix(place.address, count: BlobLayout.headerSize)
        }
        guard let prefix else { return nil }
        return try verifyHeader(prefix, "list", place)
    }
}
