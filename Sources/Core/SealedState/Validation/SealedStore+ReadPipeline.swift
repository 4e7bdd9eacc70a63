internal import KeyVault
internal import Sealing

/// The checks of a read, in the order of `ReadCheck`: what costs least and trusts least comes first.
extension SealedStore {
    /// The value at a place after every check.
    func checkedSnapshot<Record: SealedRecord>(
        of type: Record.Type, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let blob = try acceptedBlob(at: place)
        do throws(StoreError) {
            let snapshot = try decodedSnapshot(of: type, from: blob, at: place)
            try checkFreshness(of: snapshot, from: blob, at: place)
            try validate(snapshot.value, named: place.name.text)
            keepAsLastGood(blob, at: place)
            return snapshot
        } catch {
            noteRefused(blob, at: place)
            throw error
        }
    }

    /// The value of an accepted blob, of a readable version; whether it is of the present was not asked.
    func decodedSnapshot<Record: SealedRecord>(
        of type: Record.Type, from blob: borrowing AcceptedBlob, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        let header = blob.header
        try checkVersion(header, against: type, named: place.name.text)
        let value = try blob.opened.plaintext.withUnsafeBytes { bytes throws(StoreError) in
            try decode(type, from: bytes, header, named: place.name.text)
        }
        return RecordSnapshot(value: value, provenance: Provenance(header, writer: blob.writer))
    }
}
