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
            // A locked vault, a failing disk or a container that is away says nothing about the record.
            if error.code == .absent { forgetIfDeleted(place) }
            throw error
        }
        notice(error, at: place)
        guard options.rejectionPolicy.remembersLastGood else { throw error }
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
        /// The latest state that is known not to be a deletion that ends this value: its own, or a refused one.
        var covered: Watermark
        fileprivate var turn: UInt64
        /// Its copy in this user's state could not be written.
        fileprivate var isUnstored = false

        /// The header's bytes, which distinguish blobs.
        fileprivate var header: ArraySlice<UInt8> { sealed.prefix(BlobLayout.headerSize) }
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
    ///
    /// - Parameter state: The record's state that the blob has, or that is known to be no deletion after it.
    /// - Returns: `true` unless this very blob was remembered, and its copy could be stored.
    @discardableResult
    func keep(_ sealed: [UInt8], _ state: Watermark, for name: NameTag) -> Bool {
        // A blob that is too large still removes the remembered one, which is no longer the last good value.
        guard sealed.count <= maximumSize else {
            forget(name)
            return true
        }
        return self.state.withLock { memory in
            memory.turn += 1
            let known = memory.entries[name]
            // A slower read of an older value must not replace a newer one.
            if let known, known.covered.sequence > state.sequence { return false }
            var entry = Entry(sealed: sealed, covered: state, turn: memory.turn)
            entry.isUnstored = known?.isUnstored ?? false
            memory.entries[name] = entry
            memory.size += sealed.count - (known?.sealed.count ?? 0)
            if memory.size > maximumSize || memory.entries.count > maximumCount { shrink(&memory) }
            return entry.isUnstored || known?.covered != state
                || known?.header.elementsEqual(entry.header) != true
        }
    }

    /// Returns the remembered blob of a name, if any.
    func entry(for name: NameTag) -> Entry? { state.withLock { $0.entries[name] } }

    /// Notes that a record's state is no deletion, although it is refused. Any but the next state ends the value:
    /// between the two there may be a deletion.
    ///
    /// - Returns: The entry, if it is to be stored; `nil` without a change.
    func cover(_ covered: Watermark, for name: NameTag) -> Entry? {
        state.withLock { state in
            guard let known = state.entries[name] else { return nil }
            guard known.covered.sequence < covered.sequence else { return known.isUnstored ? known : nil }
            guard known.covered.sequence + 1 == covered.sequence else {
                Self.remove(name, from: &state)
                return nil
            }
            state.entries[name]?.covered = covered
            return state.entries[name]
        }
    }

    /// Notes whether the copy of a value could be stored; otherwise the next read tries again.
    ///
    /// - Returns: `true` unless that was noted before.
    @discardableResult
    func noteStored(_ isStored: Bool, for name: NameTag) -> Bool {
        state.withLock { state in
            guard state.entries[name]?.isUnstored != !isStored else { return false }
            state.entries[name]?.isUnstored = !isStored
            return true
        }
    }

    /// Forgets a record's value.
    func forget(_ name: NameTag) { state.withLock { Self.remove(name, from: &$0) } }

    private static func remove(_ name: NameTag, from state: inout State) {
        guard let former = state.entries.removeValue(forKey: name) else { return }
        state.size -= former.sealed.count
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

/// Access to the last good value, in place of a refused one.
extension RecordReader {
    /// The last good values in this user's own state.
    var storedLastGood: LastGoodFiles { LastGoodFiles(vault: keys.vault) }

    /// Remembers a blob whose value passed every check, if the policy requires it. A blob that is remembered already
    /// costs no look at the disk.
    func keepAsLastGood(_ sealed: [UInt8], _ header: BlobHeader, at place: RecordPlace) {
        guard options.rejectionPolicy.remembersLastGood else { return }
        let state = Watermark(header)
        guard lastGood.keep(sealed, state, for: place.context.nameTag) else { return }
        storeLastGood(KeptBlob(covered: state, sealed: sealed), at: place)
    }

    /// Remembers a blob that this process wrote; forgets the value that it deleted. A deletion also removes a copy of
    /// this user's programs with another policy.
    func noteWritten(_ sealed: [UInt8], _ header: BlobHeader, at place: RecordPlace) {
        if header.flags.contains(.tombstone) {
            forgetLastGood(place)
        } else if !place.name.isReserved {
            keepAsLastGood(sealed, header, at: place)
        }
    }

    /// Notes that a refused blob is the record's accepted state: no deletion is between it and the last good one.
    func noteRefused(_ blob: borrowing AcceptedBlob, at place: RecordPlace) {
        guard options.rejectionPolicy.remembersLastGood else { return }
        let state = Watermark(blob.header)
        // Between a stored value and a state that no program with this policy has seen there may be a deletion, unless
        // the state is the next one.
        recallLastGood(place, from: state.sequence - min(state.sequence, 1)) { kept in
            if kept.covered.commitment == state.commitment { return state }
            return kept.covered.sequence &+ 1 == state.sequence ? kept.covered : nil
        }
        guard let entry = lastGood.cover(state, for: place.context.nameTag) else { return }
        storeLastGood(KeptBlob(covered: state, sealed: entry.sealed), at: place)
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
            // The container may have been replaced since.
            if isFormer(blob.header, accepting: true) {
                forgetLastGood(place)
                throw rejection
            }
            var snapshot = try decodedSnapshot(of: type, from: blob, at: place)
            try checkFreshness(of: snapshot, from: blob, at: place)
            try validate(snapshot.value, named: place.name.text)
            snapshot.rejection = rejection
            return snapshot
        } catch {
            // A clock that is set back later does not revive it.
            let isOver = error.code == .retiredEpoch || error.code == .stale
            if isOver || error.code == .unknownKey && keys.isKeyDestroyed(of: sealed) { forgetLastGood(place) }
            throw error.code == .locked ? error : rejection
        }
    }

    private func lastGoodBlob(at place: RecordPlace) -> [UInt8]? {
        let name = place.context.nameTag
        // Another program may have accepted a newer state than the one refused here, such as a deletion, and a deleted
        // value must not return because the tombstone was damaged.
        watermarks.refresh()
        let mark = watermarks.mark(of: name)
        recallCurrent(place, mark)
        guard let entry = lastGood.entry(for: name) else { return nil }
        guard let mark, mark.sequence > entry.covered.sequence else { return entry.sealed }
        return nil
    }

    /// Forgets the value of an absent record if a later state, such as its deletion, was accepted. A file that is only
    /// missing ends nothing.
    private func forgetIfDeleted(_ place: RecordPlace) {
        guard options.rejectionPolicy.remembersLastGood else { return }
        let name = place.context.nameTag
        let mark = watermarks.mark(of: name)
        if let mark, let entry = lastGood.entry(for: name), entry.covered.sequence < mark.sequence {
            lastGood.forget(name)
        }
        recallCurrent(place, mark)
    }

    private func recallCurrent(_ place: RecordPlace, _ mark: Watermark?) {
        recallLastGood(place, from: mark?.sequence ?? 0) { kept in
            guard let mark, kept.isCurrent(after: mark) else { return nil }
            return mark.commitment == nil ? kept.covered : mark
        }
    }

    /// Remembers the stored value of another process, unless this process has one.
    ///
    /// - Parameters:
    ///   - sequence: The lowest sequence that a value in memory covers if it is still good.
    ///   - state: Returns the state that the value covers; `nil` if a deletion may have ended it. A file that later
    ///     states have ended is removed.
    private func recallLastGood(
        _ place: RecordPlace, from sequence: UInt64, as state: (KeptBlob) -> Watermark?
    ) {
        let name = place.context.nameTag
        guard options.rejectionPolicy.storesLastGood, !place.name.isReserved else { return }
        if let entry = lastGood.entry(for: name), entry.covered.sequence >= sequence { return }
        guard let kept = storedLastGood.load(name, limit: maximumBlobSize + BlobOpener.signedAllowance) else { return }
        guard let covered = state(kept) else {
            let accepted = watermarks.mark(of: name)?.sequence ?? 0
            if kept.covered.sequence < accepted { storedLastGood.remove(name) }
            return
        }
        lastGood.keep(kept.sealed, covered, for: name)
    }

    private func storeLastGood(_ kept: KeptBlob, at place: RecordPlace) {
        guard options.rejectionPolicy.storesLastGood, !place.name.isReserved else { return }
        let name = place.context.nameTag
        do throws(FileError) {
            try storedLastGood.store(kept, for: name) { stored in
                stored.isCurrent(after: watermarks.mark(of: name)) && opens(stored.sealed, at: place)
            }
            lastGood.noteStored(true, for: name)
        } catch {
            guard lastGood.noteStored(false, for: name) else { return }
            options.onRejection?(
                StoreError(
                    .file, "store the last good value of", place.name.text, error.sentence, advice: error.advice,
                    errno: error.errno, cause: error))
        }
    }

    private func opens(_ sealed: [UInt8], at place: RecordPlace) -> Bool {
        do throws(StoreError) {
            _ = try opened(sealed, at: place)
            return true
        } catch {
            return false
        }
    }

    private func forgetLastGood(_ place: RecordPlace) {
        lastGood.forget(place.context.nameTag)
        storedLastGood.remove(place.context.nameTag)
    }
}
