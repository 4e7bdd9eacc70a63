internal import KeyVault
internal import Sealing
internal import Synchronization

/// The blobs that this process last accepted and validated, sealed as they were read: what is in memory is no plaintext.
///
/// Bounded by count and size; what was accepted longest ago goes first.
final class LastGoodValues: Sendable {
    /// The most records that are remembered.
    static let maximumCount = 256
    /// The most bytes that they take together; a single blob beyond it is not remembered.
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
        // What is too large still ends what was remembered: that is not the last good value any more.
        guard sealed.count <= maximumSize else { return forget(name) }
        state.withLock { state in
            state.turn += 1
            // A slower read of an older value must not take the place of a newer one.
            if let known = state.entries[name], known.covered > sequence { return }
            let entry = Entry(sealed: sealed, covered: sequence, turn: state.turn)
            let former = state.entries.updateValue(entry, forKey: name)
            state.size += sealed.count - (former?.sealed.count ?? 0)
            if state.size > maximumSize || state.entries.count > maximumCount { shrink(&state) }
        }
    }

    /// The blob of a name, if there is one.
    func entry(for name: NameTag) -> Entry? { state.withLock { $0.entries[name] } }

    /// Notes that the record's state up to a sequence is no deletion, although it is refused.
    func cover(_ sequence: UInt64, for name: NameTag) {
        state.withLock { state in
            guard let known = state.entries[name], known.covered < sequence else { return }
            state.entries[name]?.covered = sequence
        }
    }

    /// Forgets a record that is gone.
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

/// The last value that this process accepted, in place of one that is refused.
extension RecordReader {
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
