package import Sealing

/// What is remembered of one record: the highest state that was accepted, and what a restart leaves of it.
struct AcceptedState: Hashable, Sendable {
    var mark: Watermark
    /// Whether the blob of the mark was written durably, by its own header. Its writer may still be at it.
    var isDurable: Bool
    /// The highest sequence that no crash takes back any more.
    var settled: UInt64
    /// Whether the record's file was removed on purpose after its deletion.
    var isPurged = false
    /// Whether a value of the same sequence was accepted after that: the file is there again.
    var isRefilled = false
    /// Where the clock stood when the blob of the mark was accepted, or found stale.
    var anchor = ClockAnchor.unknown
    /// The latest anchor of the record's states before the mark's, which may be shown as last good values.
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

    /// Whether the record's file is gone on purpose.
    var isGone: Bool { isPurged && !isRefilled }

    /// What a restart leaves: the settled sequence, as whichever blob of it the disk has kept; nil where nothing is left.
    ///
    /// No epoch, since a crash may take back a reseal; no anchor, since the time since the start begins anew.
    var afterRestart: AcceptedState? {
        guard settled > 0 else { return nil }
        let isSame = settled == mark.sequence
        return AcceptedState(
            mark: Watermark(epoch: 0, sequence: settled, commitment: nil), isDurable: true, settled: settled,
            isPurged: isPurged && isSame, isRefilled: isRefilled && isSame)
    }

    /// Takes over what somebody else remembers. In which order this is done does not matter.
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

/// How a blob came to be accepted, for what a restart leaves of it.
struct AcceptedBlobFacts {
    let name: NameTag
    let mark: Watermark
    /// Whether it was written with a sync, by its own word.
    let isDurable: Bool
    let isTombstone: Bool
    /// Milliseconds since 1970.
    let sealedAt: UInt64
    /// Whether its writer was told that it is written.
    let isAcknowledged: Bool
    /// Where the clock stands.
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

    /// A write of a vault's compartment.
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

    /// After so many seconds a durable write is on the disk or was never finished: its writer has a few seconds at most,
    /// and the kernel writes everything back after half a minute.
    private static let settlingTime = 60.0

    /// The state that this blob leads to.
    func state(after known: AcceptedState?) -> AcceptedState {
        var state = AcceptedState(
            mark: mark, isDurable: isDurable, settled: isDurable && isSettled ? mark.sequence : 0, anchor: anchor)
        guard let known else { return state }
        // A record's writers take turns: whoever wrote this one found the one before completed.
        if known.isDurable, known.mark.sequence < mark.sequence {
            state.settled = max(state.settled, known.mark.sequence)
        }
        state.merge(known)
        // A writer who never saw the deletion may reach its sequence with a value of its own.
        if known.isPurged, known.mark.sequence == mark.sequence, !isTombstone { state.isRefilled = true }
        // A reseal keeps the value's times, and so its age.
        if known.mark.sequence == mark.sequence, known.anchor.isKnown { state.anchor = known.anchor }
        return state
    }

    private var isSettled: Bool { isAcknowledged || now - Double(sealedAt) / 1000 >= Self.settlingTime }
}

/// The highest state of one record that was accepted: its order and which blob it was.
package struct Watermark: Hashable, Sendable {
    package var epoch: UInt32
    package var sequence: UInt64
    /// Which blob stood there; nil where only the floor is known (after a restart), so that a fork cannot be told.
    package var commitment: Commitment?

    package init(epoch: UInt32, sequence: UInt64, commitment: Commitment?) {
        self.epoch = epoch
        self.sequence = sequence
        self.commitment = commitment
    }

    init(_ header: BlobHeader) {
        self.init(epoch: header.epoch, sequence: header.sequence, commitment: header.commitment)
    }

    /// Order is the sequence, then the epoch, never the clock: a reseal raises the epoch and keeps the sequence, and
    /// nothing honest ever lowers a sequence (`docs/decisions/0011-order-is-the-sequence.md`).
    package func isBehind(_ other: Watermark) -> Bool { (sequence, epoch) < (other.sequence, other.epoch) }

    /// Whether another one says more: it is further on, or it knows which blob stands at the same place.
    func isOutdone(by other: Watermark) -> Bool {
        isBehind(other) || (commitment == nil && !other.isBehind(self))
    }

    /// What a blob is, seen from this watermark.
    package enum Verdict: Sendable, Hashable {
        case advances, same, replayed, forked, jumps
    }

    /// No program writes that many versions between two reads of one reader.
    package static let maximumJump: UInt64 = 1 << 32

    /// The highest sequence that is believed where nothing was accepted before. A writer that has nothing better to go by
    /// goes on from no more than that either: 2^48 writes are nine thousand years of a thousand a second.
    package static let maximumFirstSequence: UInt64 = 1 << 48

    /// What a blob is where `known` was accepted before, nil for nothing: first contact trusts what it finds, within
    /// reason.
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
