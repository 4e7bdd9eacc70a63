internal import KeyVault
internal import SealedBackends
internal import Sealing
internal import SharedFiles
internal import Synchronization

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
        do throws(BackendError) {
            let name = try backend.preserve(place.key, reason: Self.note(of: error), limit: maximumBlobSize)
            if name != nil { return nil }
        } catch {
            // Replaced or removed since it was read: there is no file left to copy.
            return error.code == .gone ? nil : Self.notKept(error, place)
        }
        return StoreError(
            .file, "keep in quarantine", place.name.text, "The quarantine has the maximum number of its blobs.",
            advice: "Examine them, and remove those that are not needed.")
    }

    /// Returns the error that prevented the copy: it is no rejection of the record.
    private static func notKept(_ error: BackendError, _ place: RecordPlace) -> StoreError {
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

/// The blobs that this process last accepted and validated, sealed as they were read: no plaintext is kept in memory.
///
/// Bounded by count and size; the blob that was accepted longest ago is removed first.
final class LastGoodValues: Sendable {
    /// The maximum number of records.
    static let maximumCount = 256
    /// The maximum of bytes in total; a single larger blob is not remembered.
    static let maximumSize = 16 << 20

    struct Entry: Sendable {
        let sealed: [UInt8]
        /// The highest sequence that is known not to be a deletion that ends this value.
        var covered: UInt64
        fileprivate var turn: UInt64
    }

    private struct State {
        var entries: [NameTag: Entry] = [:]
        var size = 0
        var turn: UInt64 = 0
    }

    private let state = Mutex(State())
    private let maximumCount: Int
    private let maximumSize: Int

    init(maximumCount: Int = maximumCount, maximumSize: Int = maximumSize) {
        self.maximumCount = maximumCount
        self.maximumSize = maximumSize
    }

    /// Remembers a blob that passed every check; the array is shared, not copied.
    func keep(_ sealed: [UInt8], sequence: UInt64, for name: NameTag) {
        // A blob that is too large still removes the remembered one, which is no longer the last good value.
        guard sealed.count <= maximumSize else { return forget(name) }
        state.withLock { state in
            state.turn += 1
            // A slower read of an older value must not replace a newer one.
            if let known = state.entries[name], known.covered > sequence { return }
            let entry = Entry(sealed: sealed, covered: sequence, turn: state.turn)
            let former = state.entries.updateValue(entry, forKey: name)
            state.size += sealed.count - (former?.sealed.count ?? 0)
            if state.size > maximumSize || state.entries.count > maximumCount { shrink(&state) }
        }
    }

    /// Returns the remembered blob of a name, if any.
    func entry(for name: NameTag) -> Entry? { state.withLock { $0.entries[name] } }

    /// Notes that the record's state up to a sequence is no deletion, although it is refused.
    func cover(_ sequence: UInt64, for name: NameTag) {
        state.withLock { state in
            guard let known = state.entries[name], known.covered < sequence else { return }
            state.entries[name]?.covered = sequence
        }
    }

    /// Forgets a record that is absent.
    func forget(_ name: NameTag) {
        state.withLock { state in
            guard let former = state.entries.removeValue(forKey: name) else { return }
            state.size -= former.sealed.count
        }
    }

    private func shrink(_ state: inout State) {
        while state.size > maximumSize || state.entries.count > maximumCount,
            let oldest = state.entries.min(by: { $0.value.turn < $1.value.turn })
        {
            state.entries.removeValue(forKey: oldest.key)
            state.size -= oldest.value.sealed.count
        }
    }
}

/// Access to the last value that this process accepted, in place of a refused one.
extension RecordReader {
    /// Remembers a blob whose value passed every check, if the policy requires it.
    func keepAsLastGood(_ blob: borrowing AcceptedBlob, at place: RecordPlace) {
        guard options.rejectionPolicy.keepsLastGood else { return }
        lastGood.keep(blob.sealed, sequence: blob.header.sequence, for: place.context.nameTag)
    }

    /// Notes that a refused blob is the record's accepted state: no deletion is between it and the last good one.
    func noteRefused(_ blob: borrowing AcceptedBlob, at place: RecordPlace) {
        guard options.rejectionPolicy.keepsLastGood else { return }
        lastGood.cover(blob.header.sequence, for: place.context.nameTag)
    }

    /// Returns the last good value after every check that can be made of it now.
    ///
    /// - Throws: `.locked` if only its key is missing; `rejection` if there is no such value or it is no longer valid.
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
        // Another program accepted a newer state than the one refused here: it may have been a deletion, and a deleted
        // value must not return because the tombstone was damaged.
        watermarks.refresh()
        guard let mark = watermarks.mark(of: name), mark.sequence > entry.covered else { return entry.sealed }
        return nil
    }
}
