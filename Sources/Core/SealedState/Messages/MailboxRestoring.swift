internal import CryptoPrimitives
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// A mailbox in a copy of a container: its record, and the messages in its segments.
private struct CopiedMailbox {
    let state: MailboxState
    /// The header of the record in the copy.
    let header: BlobHeader
    /// The lanes of its producers, by name.
    let lanes: [MailLane]

    /// Each new segment is an open file until all of them are complete.
    private static let maximumSegments = 200

    private let store: SealedStore
    private let root: Directory
    private let segments: [String: [UInt64]]
    /// The hash of the record's bytes.
    private let recordHash: [UInt8]

    /// - Throws: `StoreError`: `.absent` without a record, since handled messages would come again; a rejection.
    init(
        _ mailbox: MailboxName, at place: RecordPlace, from copy: CopiedContainer, in store: SealedStore
    ) throws(StoreError) {
        let bytes = try store.copied(place.name, from: copy)
        let blob = try store.reader.opened(bytes, at: place)
        guard !blob.header.flags.contains(.tombstone) else {
            throw StoreError(.absent, "restore", place.name.text, "The copy has its deletion.")
        }
        try store.writer.requireRestorable(blob, at: place)
        (header, recordHash) = (blob.header, BLAKE2b.hash(bytes, count: 32))
        state = try store.reader.decodedSnapshot(of: MailboxState.self, from: blob, at: place).value
        segments = try store.mailSegments(of: mailbox, in: copy.root)
        let count = segments.values.reduce(0) { $0 + $1.count }
        guard count <= Self.maximumSegments else {
            throw StoreError(
                .tooLarge, "restore", place.name.text,
                "It has \(count) segments of messages; \(Self.maximumSegments) are allowed.")
        }
        lanes = try Set(segments.keys).union(state.lanes.keys).sorted().map { producer throws(StoreError) in
            try MailLane(mailbox, producer, in: store.group)
        }
        (self.store, root) = (store, copy.root)
    }

    /// Verifies all messages, and passes them on: lane by lane, in the order of their numbers.
    ///
    /// - Returns: A hash of all bytes in the copy.
    /// - Throws: `StoreError` for a segment or message that a reader would not deliver: part of a mailbox is worse than
    ///   none.
    func forEachMessage(
        _ body: (MailLane, borrowing AcceptedBlob) throws(StoreError) -> Void
    ) throws(StoreError) -> [UInt8] {
        var hash = recordHash
        for lane in lanes {
            var last: UInt64 = 0
            for first in segments[lane.producer] ?? [] {
                guard let segment = try store.mailSegment(lane, first: first, in: root), first > last,
                    segment.bytes.count < MailSegment.largestSize,
                    segment.end == segment.bytes.count || segment.isTorn,
                    try segment.hasCover(of: lane, first: first, in: store)
                else { throw damaged(lane.path(first: first)) }
                hash = BLAKE2b.hash(hash + BLAKE2b.hash(segment.bytes, count: 32), count: 32)
                for frame in segment.frames {
                    let blob = try opened(frame, of: segment, lane)
                    guard blob.header.sequence > last, blob.header.sequence >= first else {
                        throw damaged(segment.path)
                    }
                    last = blob.header.sequence
                    try body(lane, blob)
                }
            }
        }
        return hash
    }

    private func opened(
        _ frame: MailSegment.Frame, of segment: MailSegment, _ lane: MailLane
    ) throws(StoreError) -> AcceptedBlob {
        let opened = try store.reader.openWhole(
            segment.blob(frame), "restore", lane.place, limit: MailSegment.largestSize)
        let writer = try store.reader.requireAuthority(of: opened, at: lane.place)
        let header = opened.header.header
        guard segment.hasKey(frame, segment.keyID), header.sequence <= MailSegmentName.largest,
            store.reader.verdict(on: opened.header) != .jumps
        else { throw damaged(segment.path) }
        return AcceptedBlob(opened: opened, sealed: [], writer: writer)
    }

    private func damaged(_ path: String) -> StoreError {
        StoreError(.malformed, "restore", path, "No reader would deliver all that it has.")
    }
}

/// The segments of a restored mailbox, written and not named yet.
private struct NewSegments {
    struct Segment {
        let path: String
        let blob: NewBlob
        var size: Int
        /// The header of its last message.
        var last: VerifiedHeader?
    }

    let store: SealedStore
    let key: SealingKey
    private(set) var all: [Segment] = []
    private var producer: String?

    init(_ key: SealingKey, in store: SealedStore) { (self.key, self.store) = (key, store) }

    /// Seals a message of a copy under another number.
    mutating func append(
        _ blob: borrowing AcceptedBlob, as number: UInt64, to lane: MailLane
    ) throws(StoreError) {
        let (header, group) = (blob.header, store.group)
        let grant = try store.reader.requireRight(to: lane.place, deleting: false)
        let description = BlobDescription(
            record: lane.place.context, flags: [], schemaVersion: header.schemaVersion, sequence: number,
            sealedAt: header.sealedAt, notAfter: header.notAfter, codec: header.codec)
        let sealed = blob.opened.plaintext.withUnsafeBytes {
            grant.seal($0, as: description, key: key, at: lane.place, in: group)
        }
        do throws(FileError) {
            if producer != lane.producer || all.last.map({ $0.size >= MailSegment.fullSize }) ?? true {
                try begin(lane, at: number)
            }
            let frame = MailSegment.frame(sealed.bytes)
            try frame.withRawBytes { bytes throws(FileError) in try all[all.count - 1].blob.append(bytes) }
            all[all.count - 1].size += frame.count
            all[all.count - 1].last = sealed.header
        } catch { throw StoreError(writing: error, lane.place.name.text) }
    }

    private mutating func begin(_ lane: MailLane, at number: UInt64) throws(FileError) {
        let (root, sharing, path) = (store.container.root, store.container.sharing, lane.path(first: number))
        _ = try root.makeDirectory(lane.directory, sharing: sharing)
        let blob = try NewBlob(path, in: root, size: 0, mode: sharing.fileMode, group: sharing.groupID)
        let cover = MailSegment.cover(of: lane, first: number, key, in: store)
        try cover.withRawBytes { bytes throws(FileError) in try blob.append(bytes) }
        all.append(Segment(path: path, blob: blob, size: cover.count))
        producer = lane.producer
    }
}

/// Restoring mailboxes from a copy of a container: whole, and only where the container has neither a record nor a
/// message of that mailbox. The messages that were not handled get new numbers; dead letters stay dead.
extension SealedStore {
    func restoration(ofMailbox mailbox: MailboxName, from copy: CopiedContainer) throws(StoreError) -> Restoration {
        let place = try places.place(reserved: mailbox.recordName.text)
        try requireNoMail(mailbox, place)
        let mail = try CopiedMailbox(mailbox, at: place, from: copy, in: self)
        for lane in mail.lanes { _ = try reader.requireRight(to: lane.place, deleting: false) }
        let hash = try mail.forEachMessage { _, _ throws(StoreError) in }
        let nothing = PlaceContents(hash: nil, isPurged: false)
        return Restoration(name: place.name, place: .empty, source: hash, found: nothing)
    }

    func restore(
        _ restoration: Restoration, mailbox: MailboxName, from copy: CopiedContainer
    ) throws(StoreError) {
        let place = try places.place(reserved: mailbox.recordName.text)
        let mail = try CopiedMailbox(mailbox, at: place, from: copy, in: self)
        writer.refreshKeyring()
        var request = writer.request()
        request.lowestSequence = min(mail.header.sequence, .max - 1) + 1
        // Before the lock of all records, which this takes as well.
        writer.certifyIfNew(request)
        var highest: [String: UInt64] = [:]
        let hash = try mail.forEachMessage { lane, blob throws(StoreError) in
            highest[lane.producer] = blob.header.sequence
        }
        guard hash == restoration.source else { throw .changedCopy(of: place) }
        let before = try numbers(of: mail, highest)
        var segments = NewSegments(try reader.keys.activeKey(for: .afterFirstUnlock), in: self)
        let state = try seal(mail, after: before, into: &segments, hash, place)
        let lock = try writer.wholeLock("restore", request)
        try requireNoMail(mailbox, place)
        let key = try reader.keys.activeKey(for: .afterFirstUnlock)
        guard key.id == segments.key.id, try numbers(of: mail, highest) == before else { throw .changedPlace(place) }
        let record = LockedRecord(place, of: writer, lock: lock, seen: SeenHeader(), looking: false)
        try commit(segments, state, record, at: place, request)
    }

    /// Seals the messages that were not handled, and the dead ones, under new numbers.
    ///
    /// - Parameters:
    ///   - numbers: The number of each producer after which they are counted.
    ///   - hash: The hash of the copy when it was read before.
    /// - Returns: The new record of the mailbox.
    private func seal(
        _ mail: CopiedMailbox, after numbers: [String: UInt64], into segments: inout NewSegments, _ hash: [UInt8],
        _ place: RecordPlace
    ) throws(StoreError) -> MailboxState {
        var (state, last) = (MailboxState(), numbers)
        state.floor = mail.state.floor
        for (producer, number) in numbers { state.lanes[producer] = MailboxState.Lane(after: number) }
        let again = try mail.forEachMessage { lane, blob throws(StoreError) in
            let (old, number) = (mail.state.lane(lane.producer), blob.header.sequence)
            let dead = old?.dead.first { $0.number == number }
            if dead == nil, old?.isHandled(number) == true { return }
            let new = (last[lane.producer] ?? 0) + 1
            try segments.append(blob, as: new, to: lane)
            last[lane.producer] = new
            if let dead { state.lanes[lane.producer]?.bury(new, because: dead.reason, at: dead.at) }
        }
        guard again == hash else { throw .changedCopy(of: place) }
        return state
    }

    /// Throws unless the container has neither a record nor a segment of a mailbox: they decide what is handled.
    private func requireNoMail(_ mailbox: MailboxName, _ place: RecordPlace) throws(StoreError) {
        guard try reader.head(at: place, "restore") == nil, try mailSegments(of: mailbox).isEmpty else {
            throw StoreError(
                .conflict, "restore", place.name.text,
                "The container has this mailbox, and decides by it which messages are handled.",
                advice: "A mailbox is restored only into a container that has none of that name.")
        }
    }

    /// Returns the number of each producer after which its restored messages are counted: above all that are known.
    private func numbers(
        of mail: CopiedMailbox, _ highest: [String: UInt64]
    ) throws(StoreError) -> [String: UInt64] {
        var numbers: [String: UInt64] = [:]
        for lane in mail.lanes {
            let known = max(knownMail(lane, mail.state.lane(lane.producer)), highest[lane.producer] ?? 0)
            numbers[lane.producer] = nextMail(after: min(known, MailSegmentName.largest)) - 1
        }
        return numbers
    }

    /// Names the segments and writes the record; the caller holds the lock of all records. After an error the segments
    /// have no name any more, unless the record may be written.
    private func commit(
        _ segments: NewSegments, _ state: MailboxState, _ record: borrowing LockedRecord, at place: RecordPlace,
        _ request: WriteRequest
    ) throws(StoreError) {
        var named: [String] = []
        var mayBeWritten = false
        do throws(StoreError) {
            for segment in segments.all {
                try StoreError.onFiles("restore", place.name.text) { () throws(FileError) in
                    try container.quotaGate.admit(segment.path, size: segment.size) { 0 }
                    do throws(FileError) {
                        try segment.blob.commit(replacing: false, durability: request.durability)
                    } catch {
                        if error.code == .durabilityUnknown { named.append(segment.path) }
                        throw error
                    }
                }
                named.append(segment.path)
            }
            let payload = try writer.encode(state, named: place.name.text)
            defer { payload.wipe() }
            mayBeWritten = true
            _ = try record.write(payload, request)
        } catch {
            if !mayBeWritten || ![.durabilityUnknown, .lockLost, .outcomeUnknown].contains(error.code) {
                for path in named { try? container.root.remove(path, durability: .unsynced) }
            }
            throw error
        }
        for segment in segments.all { if let last = segment.last { reader.acknowledge(last) } }
    }
}
