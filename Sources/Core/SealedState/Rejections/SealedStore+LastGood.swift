internal import KeyVault
internal import Sealing

/// The last value that this process accepted, in place of one that is refused.
extension SealedStore {
    /// Remembers a blob whose value passed every check; a no-op unless the policy asks for it.
    func keepAsLastGood(_ blob: borrowing AcceptedBlob, at place: RecordPlace) {
        guard options.rejectionPolicy.keepsLastGood else { return }
        lastGood.keep(blob.sealed, sequence: blob.header.sequence, for: place.context.nameTag)
    }

    /// Notes that a refused blob is the record's accepted state, so that no deletion lies between it and the last good one.
    func noteRefused(_ blob: borrowing AcceptedBlob, at place: RecordPlace) {
        guard options.rejectionPolicy.keepsLastGood else { return }
        lastGood.cover(blob.header.sequence, for: place.context.nameTag)
    }

    /// The last good value, with every check that can be made of it now.
    ///
    /// - Throws: `.locked` where only its key is missing; `rejection` where there is no such value or it does not hold any
    ///   more.
    func lastGoodSnapshot<Record: SealedRecord>(
        of type: Record.Type, insteadOf rejection: StoreError, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        guard let sealed = lastGoodBlob(at: place) else { throw rejection }
        do throws(StoreError) {
            let blob = try opened(sealed, at: place)
            var snapshot = try decodedSnapshot(of: type, from: blob, at: place)
            try checkFreshness(of: snapshot, from: blob, at: place)
            try validate(snapshot.value, named: place.name.text)
            snapshot.rejection = rejection
            return snapshot
        } catch {
            throw error.code == .locked ? error : rejection
        }
    }

    private func lastGoodBlob(at place: RecordPlace) -> [UInt8]? {
        let name = place.context.nameTag
        guard let entry = lastGood.entry(for: name) else { return nil }
        // A newer state that was accepted, by whomever, and is not what was refused here: it may have been a deletion,
        // and what was deleted must not come back because somebody damaged the tombstone.
        watermarks.refresh()
        guard let mark = watermarks.mark(of: name), mark.sequence > entry.covered else { return entry.sealed }
        return nil
    }
}
