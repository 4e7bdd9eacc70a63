package import Sealing

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
