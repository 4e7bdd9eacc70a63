internal import CryptoPrimitives
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
    /// The same two of the settled sequence, where it is below the mark's.
    var settledFile = RemovedFile()
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

    /// The state of the file at the settled sequence.
    private var removedFile: RemovedFile {
        guard settled == mark.sequence else { return settledFile }
        return RemovedFile(isPurged: isPurged, isRefilled: isRefilled)
    }

    /// The state after a restart: the settled sequence, with the blob of it that the disk has kept; `nil` if nothing
    /// remains.
    ///
    /// It has no epoch, because a crash may undo a reseal, and no anchor, because the time since the start begins
    /// again.
    var afterRestart: AcceptedState? {
        guard settled > 0 else { return nil }
        return AcceptedState(
            mark: Watermark(epoch: 0, sequence: settled, commitment: nil), isDurable: true, settled: settled,
            isPurged: removedFile.isPurged, isRefilled: removedFile.isRefilled)
    }

    /// Returns whether merging another state changes what an entry stores, which is all but the former anchor.
    func isMissing(_ other: AcceptedState) -> Bool {
        var merged = merged(with: other)
        merged.formerAnchor = formerAnchor
        return merged != self
    }

    func merged(with other: AcceptedState) -> AcceptedState {
        var result = self
        result.merge(other)
        return result
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
        result.settledFile = RemovedFile()
        if result.settled < result.mark.sequence {
            for state in [self, other] where state.settled == result.settled {
                result.settledFile.merge(state.removedFile)
            }
        }
        self = result
    }
}

/// Whether a record's file was removed on purpose, and whether a value of that sequence was accepted afterwards.
struct RemovedFile: Hashable, Sendable {
    var isPurged = false
    var isRefilled = false

    mutating func merge(_ other: RemovedFile) {
        isPurged = isPurged || other.isPurged
        isRefilled = isRefilled || other.isRefilled
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
        if known.isDurable, (state.settled..<mark.sequence).contains(known.mark.sequence) {
            state.settled = known.mark.sequence
            state.settledFile = RemovedFile(isPurged: known.isPurged, isRefilled: known.isRefilled)
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

    package init(_ header: BlobHeader) {
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

extension Personalization {
    /// The code of one entry of a watermark file; `docs/spec/watermarks.md` lists it.
    static let watermarkEntry = Personalization("SealedState.wme1")
    /// Distinguishes the notes of two roots within a process; it is never written.
    static let watermarkIdentifier = Personalization("SealedState.wmi1")
}

/// An accepted state as it is stored on disk: 128 bytes, authenticated, in plaintext (`docs/spec/watermarks.md`).
///
/// Except for the clock, it contains only what the blob's own header shows.
struct WatermarkEntry: Hashable, Sendable {
    static let size = 128
    private static let codedSize = 96

    private static let durableFlag: UInt32 = 1
    private static let purgedFlag: UInt32 = 2
    private static let refilledFlag: UInt32 = 4
    private static let settledPurgedFlag: UInt32 = 8
    private static let settledRefilledFlag: UInt32 = 16
    private static let tableFlag: UInt32 = 32
    private static let takenOverFlag: UInt32 = 64
    private static let knownFlags: UInt32 = 127

    /// The subject of an entry.
    enum Kind: Hashable, Sendable {
        /// A record's state.
        case state
        /// A hash file beside the log, by its id: without it the log is incomplete.
        case table
        /// A hash file of the other directory, by its id, whose entries were stored here. The sequence is the number of
        /// its changes at that time, and one.
        case takenOver
    }

    var kind = Kind.state
    let name: NameTag
    private(set) var state: AcceptedState
    /// The boot in which it was accepted.
    let boot: BootID

    init(name: NameTag, state: AcceptedState, boot: BootID = .current) {
        self.name = name
        self.state = state
        self.boot = boot
    }

    /// Creates the note of a hash file.
    init(_ kind: Kind, _ id: Bytes16, changes: UInt64 = 0) {
        // An entry at an odd offset is recognised by a sequence above zero.
        let mark = Watermark(epoch: 0, sequence: changes &+ 1, commitment: nil)
        self.init(
            name: NameTag(bytes: id), state: AcceptedState(mark: mark, isDurable: false, settled: 0), boot: .unknown)
        self.kind = kind
    }

    /// The number of changes that a note states.
    var changes: UInt64 { state.mark.sequence &- 1 }

    func encoded(key: borrowing SecretBytes) -> [UInt8] {
        key.withUnsafeBytes { key in
            [UInt8](unsafeUninitializedCapacity: Self.size) { buffer, count in
                let entry = UnsafeMutableRawBufferPointer(buffer)
                encode(into: entry)
                let code = Self.code(UnsafeRawBufferPointer(rebasing: entry[0..<Self.codedSize]), key)
                entry.storeBytes(of: code, toByteOffset: Self.codedSize, as: Bytes32.self)
                count = Self.size
            }
        }
    }

    /// Writes everything before the code.
    private func encode(into entry: UnsafeMutableRawBufferPointer) {
        let flags =
            (state.isDurable ? Self.durableFlag : 0) | (state.isPurged ? Self.purgedFlag : 0)
            | (state.isRefilled ? Self.refilledFlag : 0) | (state.settledFile.isPurged ? Self.settledPurgedFlag : 0)
            | (state.settledFile.isRefilled ? Self.settledRefilledFlag : 0) | (kind == .table ? Self.tableFlag : 0)
            | (kind == .takenOver ? Self.takenOverFlag : 0)
        entry.initializeMemory(as: UInt8.self, repeating: 0)
        entry.storeBytes(of: name.bytes, toByteOffset: 0, as: Bytes16.self)
        entry.storeBytes(of: state.mark.epoch.littleEndian, toByteOffset: 16, as: UInt32.self)
        entry.storeBytes(of: flags.littleEndian, toByteOffset: 20, as: UInt32.self)
        entry.storeBytes(of: state.mark.sequence.littleEndian, toByteOffset: 24, as: UInt64.self)
        entry.storeBytes(of: state.mark.commitment?.bytes ?? .zero, toByteOffset: 32, as: Bytes32.self)
        entry.storeBytes(of: boot.bytes, toByteOffset: 64, as: Bytes16.self)
        entry.storeBytes(of: state.anchor.milliseconds.littleEndian, toByteOffset: 80, as: Int64.self)
        entry.storeBytes(of: state.settled.littleEndian, toByteOffset: 88, as: UInt64.self)
    }

    /// Parses an entry; returns `nil` if its code is wrong.
    init?(parsing entry: UnsafeRawBufferPointer, key: borrowing SecretBytes) {
        guard entry.count == Self.size else { return nil }
        let code = key.withUnsafeBytes {
            Self.code(UnsafeRawBufferPointer(rebasing: entry[0..<Self.codedSize]), $0)
        }
        let isAuthentic = code.withUnsafeBytes {
            ConstantTime.areEqual($0, UnsafeRawBufferPointer(rebasing: entry[Self.codedSize...]))
        }
        let flags = Self.flags(of: entry)
        guard isAuthentic, flags <= Self.knownFlags else { return nil }
        let commitment = Bytes32(UnsafeRawBufferPointer(rebasing: entry[32..<64]))
        let anchor = Int64(littleEndian: entry.loadUnaligned(fromByteOffset: 80, as: Int64.self))
        name = NameTag(bytes: Bytes16(entry))
        state = AcceptedState(
            mark: Watermark(
                epoch: UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 16, as: UInt32.self)),
                sequence: Self.sequence(of: entry),
                commitment: commitment == .zero ? nil : Commitment(bytes: commitment)),
            isDurable: flags & Self.durableFlag != 0,
            settled: UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 88, as: UInt64.self)),
            isPurged: flags & Self.purgedFlag != 0, isRefilled: flags & Self.refilledFlag != 0,
            anchor: ClockAnchor(milliseconds: anchor))
        state.settledFile = RemovedFile(
            isPurged: flags & Self.settledPurgedFlag != 0, isRefilled: flags & Self.settledRefilledFlag != 0)
        if flags & Self.tableFlag != 0 { kind = .table }
        if flags & Self.takenOverFlag != 0 { kind = .takenOver }
        boot = BootID(bytes: Bytes16(UnsafeRawBufferPointer(rebasing: entry[64..<80])))
    }

    /// Returns whether 128 bytes at an odd offset are worth computing a code: almost only entries pass.
    static func isPlausible(_ entry: UnsafeRawBufferPointer) -> Bool {
        flags(of: entry) <= knownFlags && sequence(of: entry) > 0
    }

    /// Returns the state that still holds in `now`'s boot: all of it within its own boot, the settled part after a
    /// restart.
    func floor(in now: BootID) -> AcceptedState? {
        guard kind == .state else { return nil }
        return boot.isSame(as: now) ? state : state.afterRestart
    }

    private static func flags(of entry: UnsafeRawBufferPointer) -> UInt32 {
        UInt32(littleEndian: entry.loadUnaligned(fromByteOffset: 20, as: UInt32.self))
    }

    private static func sequence(of entry: UnsafeRawBufferPointer) -> UInt64 {
        UInt64(littleEndian: entry.loadUnaligned(fromByteOffset: 24, as: UInt64.self))
    }

    private static func code(_ bytes: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer) -> Bytes32 {
        Bytes32(filling: { BLAKE2b.hash(bytes, key: key, personalization: .watermarkEntry, into: $0) })
    }
}
