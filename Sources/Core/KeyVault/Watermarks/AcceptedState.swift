package import Sealing

/// The remembered state of one record: the highest accepted state, and the part that remains valid after a restart.
struct AcceptedState: Hashable, Sendable {
    var mark: Watermark
    /// `true` if the blob of the mark was written durably, by its own header. Its writer may not have finished.
    var isDurable: Bool
    /// The highest sequence that a crash can no longer undo.
    var settled: UInt64
    /// `true` if the record's file was deliberately removed after its deletion.
    var isPurged = false
    /// `true` if a value of the same sequence was accepted afterwards, so the file exists again.
    var isRefilled = false
    /// The clock anchor at which the blob of the mark was accepted, or found stale.
    var anchor = ClockAnchor.unknown
    /// The latest anchor of the record's earlier states, which may be shown as last good values.
    var formerAnchor = ClockAnchor.unknown

    init(
        mark: Watermark, isDurable: Bool, settled: UInt64, isPurged: Bool = false, isRefilled: Bool = false,
        anchor: ClockAnchor = .unknown
    ) {
        self.mark = mark
        self.isDurable = isDurable
        self.settled = min(settled, mark.sequence)
        self.isPurged = isPurged
        self.isRefilled = isRefilled
        self.anchor = anchor
    }

    /// `true` if the record's file was deliberately removed.
    var isGone: Bool { isPurged && !isRefilled }

    /// The state after a restart: the settled sequence, with the blob of it that the disk has kept; `nil` if nothing
    /// remains.
    ///
    /// It has no epoch, because a crash may undo a reseal, and no anchor, because the time since the start begins
    /// again.
    var afterRestart: AcceptedState? {
        guard settled > 0 else { return nil }
        let isSame = settled == mark.sequence
        return AcceptedState(
            mark: Watermark(epoch: 0, sequence: settled, commitment: nil), isDurable: true, settled: settled,
            isPurged: isPurged && isSame, isRefilled: isRefilled && isSame)
    }

    /// Merges the state remembered by another process. The order of merges does not matter.
    mutating func merge(_ other: AcceptedState) {
        var result = mark.sequence < other.mark.sequence ? other : self
        let lower = mark.sequence < other.mark.sequence ? self : other
        if lower.mark.sequence == result.mark.sequence {
            if result.mark.isOutdone(by: lower.mark) { (result.mark, result.isDurable) = (lower.mark, lower.isDurable) }
            result.anchor = max(anchor, other.anchor)
            result.isPurged = isPurged || other.isPurged
            result.isRefilled = isRefilled || other.isRefilled
        } else {
            result.formerAnchor = max(result.formerAnchor, lower.anchor)
        }
        result.formerAnchor = max(result.formerAnchor, lower.formerAnchor)
        result.settled = max(settled, other.settled)
        self = result
    }
}

/// The facts about an accepted blob that decide its state after a restart.
struct AcceptedBlobFacts {
    let name: NameTag
    let mark: Watermark
    /// `true` if it was written with a sync, according to its header.
    let isDurable: Bool
    let isTombstone: Bool
    /// Milliseconds since 1970.
    let sealedAt: UInt64
    /// `true` if its writer got the confirmation of the write.
    let isAcknowledged: Bool
    /// The clock's anchor.
    let anchor: ClockAnchor
    /// Seconds since 1970.
    let now: Double

    init(header: BlobHeader, isAcknowledged: Bool, anchor: ClockAnchor, now: Double) {
        name = header.nameTag
        mark = Watermark(header)
        isDurable = !header.flags.contains(.unsynced)
        isTombstone = header.flags.contains(.tombstone)
        sealedAt = header.sealedAt
        self.isAcknowledged = isAcknowledged
        self.anchor = anchor
        self.now = now
    }

    /// Creates the facts of a write of a vault's compartment.
    init(name: NameTag, mark: Watermark, isAcknowledged: Bool, now: Double) {
        self.name = name
        self.mark = mark
        isDurable = true
        isTombstone = false
        sealedAt = UInt64(max(0, now * 1000))
        self.isAcknowledged = isAcknowledged
        anchor = .unknown
        self.now = now
    }

    /// The time after which a durable write is on the disk or was never finished: its writer has a few seconds at most,
    /// and the kernel writes everything back after half a minute.
    private static let settlingTime = 60.0

    /// Returns the state that this blob leads to.
    func state(after known: AcceptedState?) -> AcceptedState {
        var state = AcceptedState(
            mark: mark, isDurable: isDurable, settled: isDurable && isSettled ? mark.sequence : 0, anchor: anchor)
        guard let known else { return state }
        // A record's writers take turns: the writer of this blob found its predecessor completed.
        if known.isDurable, known.mark.sequence < mark.sequence {
            state.settled = max(state.settled, known.mark.sequence)
        }
        state.merge(known)
        // A writer that never saw the deletion may reach its sequence with its own value.
        if known.isPurged, known.mark.sequence == mark.sequence, !isTombstone { state.isRefilled = true }
        // A reseal keeps the value's times, and so its age.
        if known.mark.sequence == mark.sequence, known.anchor.isKnown { state.anchor = known.anchor }
        return state
    }

    private var isSettled: Bool { isAcknowledged || now - Double(sealedAt) / 1000 >= Self.settlingTime }
}

/// The highest accepted state of one record: its order and its blob.
package struct Watermark: Hashable, Sendable {
    package var epoch: UInt32
    package var sequence: UInt64
    /// The commitment of the accepted blob; `nil` if only the floor is known (after a restart), so that a fork cannot
    /// be detected.
    package var commitment: Commitment?

    package init(epoch: UInt32, sequence: UInt64, commitment: Commitment?) {
        self.epoch = epoch
        self.sequence = sequence
        self.commitment = commitment
    }

    init(_ header: BlobHeader) {
        self.init(epoch: header.epoch, sequence: header.sequence, commitment: header.commitment)
    }

    /// Compares the sequence, then the epoch, never the clock: a reseal raises the epoch and keeps the sequence, and no
    /// honest program lowers a sequence (`docs/decisions/0011-order-is-the-sequence.md`).
    package func isBehind(_ other: Watermark) -> Bool { (sequence, epoch) < (other.sequence, other.epoch) }

    /// Returns whether another watermark contains more: it is later, or has the commitment of the blob at the same
    /// state.
    func isOutdone(by other: Watermark) -> Bool {
        isBehind(other) || (commitment == nil && !other.isBehind(self))
    }

    /// The relation of a blob to this watermark.
    package enum Verdict: Sendable, Hashable {
        case advances, same, replayed, forked, jumps
    }

    /// The largest plausible number of versions between two reads of one reader.
    package static let maximumJump: UInt64 = 1 << 32

    /// The highest sequence that is believed without an earlier accepted state. A writer without better information
    /// continues from no more than that either: 2^48 writes are nine thousand years at a thousand a second.
    package static let maximumFirstSequence: UInt64 = 1 << 48

    /// Returns the verdict on a blob after `known` was accepted. With `nil`, the first contact trusts what it finds,
    /// within limits.
    package static func verdict(on candidate: Watermark, after known: Watermark?) -> Verdict {
        if let known { return known.verdict(on: candidate) }
        return candidate.sequence > maximumFirstSequence ? .jumps : .advances
    }

    package func verdict(on candidate: Watermark) -> Verdict {
        if candidate.isBehind(self) { return .replayed }
        if isBehind(candidate) {
            return candidate.sequence - sequence > Self.maximumJump ? .jumps : .advances
        }
        guard let commitment, let other = candidate.commitment else { return .same }
        return commitment == other ? .same : .forked
    }
}
