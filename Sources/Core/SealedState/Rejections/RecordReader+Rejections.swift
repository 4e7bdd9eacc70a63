internal import Sealing
internal import SharedFiles

/// The reactions to a refused read besides the error: the hook, the copy in quarantine, the last good value.
extension RecordReader {
    /// Returns the answer to a failed read by the store's policy.
    func answer<Record: SealedRecord>(
        to error: StoreError, _ type: Record.Type, at place: RecordPlace
    ) throws(StoreError) -> RecordSnapshot<Record> {
        guard error.isRejection else {
            // An absent record has no last good value; a locked vault or a failing disk says nothing about it.
            if error.code == .absent || error.code == .containerMissing { lastGood.forget(place.context.nameTag) }
            throw error
        }
        notice(error, at: place)
        guard options.rejectionPolicy.keepsLastGood else { throw error }
        return try lastGoodSnapshot(of: type, insteadOf: error, at: place)
    }

    /// Calls the hook, and keeps a copy of the blob if the policy requires it; neither changes any answer.
    ///
    /// Called for every rejection of a read, an update or a watch. Other errors are ignored.
    func notice(_ error: StoreError, at place: RecordPlace) {
        guard error.isRejection else { return }
        options.onRejection?(error)
        guard options.rejectionPolicy.quarantines, error.code.isEvidence else { return }
        keepInQuarantine(error, at: place)
    }

    /// Keeps a copy of the stored blob, and calls the hook if that fails; the read or write continues.
    func keepInQuarantine(_ error: StoreError, at place: RecordPlace) {
        if let failure = copyToQuarantine(error, place) { options.onRejection?(failure) }
    }

    /// Keeps a copy of the stored blob; returns the error if that fails.
    private func copyToQuarantine(_ error: StoreError, _ place: RecordPlace) -> StoreError? {
        do throws(FileError) {
            let name = try backend.quarantine(place.address, reason: Self.note(of: error), copyLimit: maximumBlobSize)
            if name != nil { return nil }
        } catch {
            // Replaced or removed since it was read: there is no file left to copy.
            return error.code == .notFound ? nil : Self.notKept(error, place)
        }
        return StoreError(
            .file, "keep in quarantine", place.name.text, "The quarantine has the maximum number of its blobs.",
            advice: "Examine them, and remove those that are not needed.")
    }

    /// Returns the error that prevented the copy: it is no rejection of the record.
    private static func notKept(_ error: FileError, _ place: RecordPlace) -> StoreError {
        let failure = StoreError(error, "keep in quarantine", place.name.text)
        guard failure.isRejection else { return failure }
        return StoreError(
            .file, failure.operation, failure.subject, failure.reason, advice: failure.advice, errno: failure.errno,
            cause: error)
    }

    /// Returns the note beside the copy, in clear: messages of a record's own rules are omitted, since they might name
    /// a value.
    private static func note(of error: StoreError) -> String {
        "\(error.code.rawValue): \(error.code == .invalid ? error.code.explanation : error.reason)"
    }
}
