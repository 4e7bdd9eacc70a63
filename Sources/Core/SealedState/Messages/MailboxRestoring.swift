internal import CryptoPrimitives
internal import KeyVault
internal import Sealing
internal import SharedFiles

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
        let leftovers = try requireNoMail(mailbox, place)
        let mail = try CopiedMailbox(mailbox, at: place, from: copy, in: self)
        for lane in mail.lanes { _ = try reader.requireRight(to: lane.place, deleting: false) }
        let pass = try mail.forEachMessage { _, _, _ throws(StoreError) in }
        try requireCopied(leftovers, mail, after: numbers(of: mail, pass.highest), place)
        let replaced = try paths(of: leftovers, mailbox)
        try StoreError.onFiles("restore", place.name.text) { () throws(FileError) in
            try container.quotaGate.admit(mailbox.directory, size: pass.size) { [root = container.root] in
                replaced.reduce(0) { $0 + Int((try? root.attributes($1))?.size ?? 0) }
            }
        }
        let nothing = PlaceContents(hash: nil, isPurged: false)
        var restoration = Restoration(name: place.name, place: .empty, source: pass.hash, found: nothing)
        restoration.passedOver = pass.refused
        return restoration
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
        let pass = try mail.forEachMessage { _, _, _ throws(StoreError) in }
        guard pass.hash == restoration.source else { throw .changedCopy(of: place) }
        let before = try numbers(of: mail, pass.highest)
        var segments = NewSegments(try reader.keys.activeKey(for: .afterFirstUnlock), in: self)
        let state = try seal(mail, after: before, into: &segments, pass.hash, place)
        let lock = try writer.wholeLock("restore", request)
        let leftovers = try requireNoMail(mailbox, place)
        let key = try reader.keys.activeKey(for: .afterFirstUnlock)
        guard key.id == segments.key.id, try numbers(of: mail, pass.highest) == before else {
            throw .changedPlace(place)
        }
        try requireCopied(leftovers, mail, after: before, place)
        let record = LockedRecord(place, of: writer, lock: lock, seen: SeenHeader(), looking: false)
        try commit(segments, in: place, replacing: paths(of: leftovers, mailbox), state, record, request)
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
        var state = MailboxState()
        state.floor = mail.state.floor
        for (producer, number) in numbers { state.lanes[producer] = MailboxState.Lane(after: number) }
        let again = try mail.forEachMessage(after: numbers) { lane, blob, number throws(StoreError) in
            try segments.append(blob, as: number, to: lane)
            guard let own = mail.state.lane(lane.producer) else { return }
            state.lanes[lane.producer]?.take(over: blob.header.sequence, of: own, as: number)
        }
        guard again.hash == hash else { throw .changedCopy(of: place) }
        return state
    }

    /// Throws unless the container has neither a record nor a message of a mailbox: they decide what is handled.
    ///
    /// - Returns: The segments of each producer; an interrupted restoration has left them, or a sender has begun the
    ///   mailbox. Files without an authentic cover do not count.
    private func requireNoMail(_ mailbox: MailboxName, _ place: RecordPlace) throws(StoreError) -> [String: [UInt64]] {
        guard try reader.head(at: place, "restore") == nil else { throw Self.hasMail(place) }
        var found: [String: [UInt64]] = [:]
        for (producer, firsts) in try mailSegments(of: mailbox) {
            let lane = try MailLane(mailbox, producer, in: group)
            for first in firsts {
                let path = lane.path(first: first)
                guard let cover = try? container.root.readPrefix(path, count: MailSegment.coverSize),
                    try MailSegment.isCover(cover.bytes, of: lane, first: first, in: self)
                else { continue }
                found[producer, default: []].append(first)
            }
        }
        return found
    }

    /// Throws unless all messages of segments are the first of those that a restoration writes: those of an interrupted
    /// one. A sender's message differs from them.
    private func requireCopied(
        _ segments: [String: [UInt64]], _ mail: CopiedMailbox, after numbers: [String: UInt64], _ place: RecordPlace
    ) throws(StoreError) {
        guard !segments.isEmpty else { return }
        var found: [String: MailChain] = [:]
        for lane in mail.lanes { found[lane.producer] = try chain(lane, segments[lane.producer] ?? [], place) }
        var copied: [String: MailChain] = [:]
        _ = try mail.forEachMessage(after: numbers) { lane, blob, number throws(StoreError) in
            let count = copied[lane.producer]?.count ?? 0
            guard let wanted = found[lane.producer], count < wanted.count else { return }
            copied[lane.producer, default: MailChain()].append(blob, as: number)
        }
        guard Set(segments.keys).isSubset(of: mail.lanes.map(\.producer)), copied == found else {
            throw Self.hasMail(place)
        }
    }

    /// Throws for a segment with anything but messages that readers accept: a restoration names whole segments, so that
    /// is another program's, which may be able to read it.
    ///
    /// - Returns: nil without a message.
    private func chain(_ lane: MailLane, _ firsts: [UInt64], _ place: RecordPlace) throws(StoreError) -> MailChain? {
        var (chain, last, count) = (MailChain(), UInt64(0), 0)
        var reading = LaneReading(lane, from: 0, firsts)
        while let (segment, range) = try reading.next(in: self) {
            guard segment.end == segment.bytes.count else { throw Self.hasMail(place) }
            count += 1
            for frame in segment.frames.sorted(by: { $0.number < $1.number }) {
                guard frame.number > last, range.contains(frame.number), segment.hasKey(frame, segment.keyID),
                    let blob = try message(segment.blob(frame), lane, "restore")
                else { throw Self.hasMail(place) }
                last = frame.number
                chain.append(blob, as: last)
            }
        }
        guard count == firsts.count else { throw Self.hasMail(place) }
        return chain.count == 0 ? nil : chain
    }

    /// Returns the paths of segments, each producer's last one first: removed in this order, those that remain have the
    /// first messages.
    private func paths(
        of segments: [String: [UInt64]], _ mailbox: MailboxName
    ) throws(StoreError) -> [String] {
        var paths: [String] = []
        for (producer, firsts) in segments {
            let lane = try MailLane(mailbox, producer, in: group)
            paths += firsts.reversed().map { lane.path(first: $0) }
        }
        return paths
    }

    private static func hasMail(_ place: RecordPlace) -> StoreError {
        StoreError(
            .conflict, "restore", place.name.text,
            "The container has this mailbox, and decides by it which messages are handled.",
            advice: "A mailbox is restored only into a container that has none of that name.")
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
    ///
    /// - Parameter leftovers: The paths of the segments of an interrupted restoration, which have the same messages.
    private func commit(
        _ segments: NewSegments, in place: RecordPlace, replacing leftovers: [String], _ state: MailboxState,
        _ record: borrowing LockedRecord, _ request: WriteRequest
    ) throws(StoreError) {
        var named: [String] = []
        var mayBeWritten = false
        do throws(StoreError) {
            try clear(segments, leftovers, place)
            for segment in segments.all {
                try StoreError.onFiles("restore", place.name.text) { () throws(FileError) in
                    try container.quotaGate.admit(segment.path, size: segment.size) { 0 }
                    do throws(FileError) { try segment.blob.commit(durability: request.durability) } catch {
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
            // In a container that was moved away meanwhile the record may be written as well.
            if !mayBeWritten || isInPlace && !SealedFileWriter.mayBeWritten(error) {
                for path in named.reversed() { try? container.root.remove(path, durability: .unsynced) }
            }
            throw error
        }
        for segment in segments.all { if let last = segment.last { reader.acknowledge(last) } }
    }

    /// Removes the segments of an interrupted restoration. Each step leaves the first messages of those, which a further
    /// restoration replaces.
    ///
    /// - Throws: `StoreError` `.conflict`, before anything is removed, if another file is in the place of a new segment:
    ///   one without an authentic cover may have messages that another program can read.
    private func clear(
        _ segments: NewSegments, _ leftovers: [String], _ place: RecordPlace
    ) throws(StoreError) {
        let known = Set(leftovers)
        let isFree = try StoreError.onFiles("restore", place.name.text) { () throws(FileError) in
            for segment in segments.all where !known.contains(segment.path) {
                if try container.root.exists(segment.path) { return false }
            }
            return true
        }
        guard isFree else { throw Self.hasMail(place) }
        try StoreError.onFiles("restore", place.name.text) { () throws(FileError) in
            for path in leftovers { try container.root.remove(path, durability: .unsynced) }
        }
    }
}

extension MailboxState.Lane {
    /// Takes over what another lane has about a message, under the message's new number.
    fileprivate mutating func take(over old: UInt64, of lane: MailboxState.Lane, as number: UInt64) {
        if let dead = lane.dead.first(where: { $0.number == old }) {
            return bury(number, because: dead.reason, at: dead.at)
        }
        if old <= lane.delivered { delivered = max(delivered, number) }
        guard let failure = lane.failure(of: old) else { return }
        failures.append(
            MailboxState.Failure(
                number: number, attempts: failure.attempts, notBefore: failure.notBefore, isTaken: failure.isTaken))
    }
}
