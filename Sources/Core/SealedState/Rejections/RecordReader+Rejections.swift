internal import Sealing
internal import SharedFiles

/// What follows a refused read besides the error: the hook, the copy in quarantine, the last good value.
extension RecordReader {
    /// What a read that failed answers, by the store's policy.
    func answer<Record: SealedRecord>(
        to error: StoreError, _ type: Record.Type, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        guard error.isRejection else {
            // What is gone has no last good value; a vault that is locked or a disk that fails says nothing about it.
            if error.code == .absent || error.code == .containerMissing { lastGood.forget(place.context.nameTag) }
            throw error
        }
        notice(error, at: place)
        guard options.rejectionPolicy.keepsLastGood else { throw error }
        return try lastGoodSnapshot(of: type, insteadOf: error, at: place)
    }

    /// Tells the hook, and keeps a copy of the blob where the policy asks for it; neither changes any answer.
    ///
    /// Called for every rejection of a read, an update or a watch. Other errors may be handed in; they are passed over.
    func notice(_ error: StoreError, at place: RecordPlace) {
        guard error.isRejection else { return }
        options.onRejection?(error)
        guard options.rejectionPolicy.quarantines, error.code.isEvidence else { return }
        keepInQuarantine(error, at: place)
    }

    /// Keeps a copy of what lies there, and tells the hook where there is none; that ends no read and no write.
    func keepInQuarantine(_ error: StoreError, at place: RecordPlace) {
        if let failure = copyToQuarantine(error, place) { options.onRejection?(failure) }
    }

    /// Keeps a copy of what lies there; returns why there is none.
    private func copyToQuarantine(_ error: StoreError, _ place: RecordPlace) -> StoreError? {
        do throws(FileError) {
            let name = try backend.quarantine(place.address, reason: Self.note(of: error), copyLimit: maximumBlobSize)
            if name != nil { return nil }
        } catch {
            // Replaced or removed since it was read: there is nothing to keep any more.
            return error.code == .notFound ? nil : Self.notKept(error, place)
        }
        return StoreError(
            .file, "keep in quarantine", place.name.text, "As many of its blobs are kept there as may be.",
            advice: "Look at them, and remove what is not needed.")
    }

    /// Whatever is in the way of the copy: that is no rejection of the record.
    private static func notKept(_ error: FileError, _ place: RecordPlace) -> StoreError {
        let failure = StoreError(error, "keep in quarantine", place.name.text)
        guard failure.isRejection else { return failure }
        return StoreError(
            .file, failure.operation, failure.subject, failure.reason, advice: failure.advice, errno: failure.errno,
            cause: error)
    }

    /// What is written beside the copy, in clear: what a record's own rules say stays out, they might name a value.
    private static func note(of error: StoreError) -> String {
        "\(error.code.rawValue): \(error.code == .invalid ? error.code.explanation : error.reason)"
    }
}
