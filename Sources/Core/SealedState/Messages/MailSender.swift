internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// Appends the messages of one producer, and reseals its segments in a rotation.
///
/// All steps hold the lane's lock, one of the locks of records: a rotation, a sweep or a move that waits for all
/// records waits for senders too. A kill leaves a whole message or the beginning of one, which the next sender cuts.
final class MailSender: Sendable {
    private let mailbox: MailboxName
    private let producer: String
    private let limits: MailLimits
    /// The segment that got the last message, still open.
    private let last = Mutex<OpenSegment?>(nil)

    init(_ mailbox: MailboxName, _ producer: String, _ limits: MailLimits) throws(StoreError) {
        self.mailbox = mailbox
        self.producer = producer
        self.limits = limits
        // Throws for a producer that no lane can have.
        _ = try mailbox.lane(of: producer)
    }

    /// Appends a message.
    ///
    /// - Returns: Its number.
    func send(
        _ payload: RecordPayload, in store: SealedStore, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        let lane = try MailLane(mailbox, producer, in: store.group)
        try requireMessage(payload)
        store.writer.refreshKeyring()
        let grant = try store.reader.requireRight(to: lane.place, deleting: false)
        let lock = try StoreError.onFiles("send to", mailbox.name) { () throws(FileError) in
            try store.reader.locks.lock(lane.place.lock, timeout: request.timeout, isCancelled: request.isCancelled)
        }
        var segment = last.withLock { $0.take() }
        if segment?.isUsable(in: store) != true { segment = try find(lane, in: store, request) }
        // Read under the lock: a rotation that has completed waited for it.
        let key = try store.reader.keys.activeKey(for: .afterFirstUnlock)
        if segment?.isFull(for: key) == true { segment = segment.map { OpenSegment(after: $0) } }
        guard var segment else { throw store.reader.moved("send to", mailbox.name) }
        if segment.next > segment.room { segment.room = try room(for: segment.next, in: store) }
        let description = BlobDescription(
            record: lane.place.context, flags: request.durability == .unsynced ? .unsynced : [],
            schemaVersion: payload.schemaVersion, sequence: segment.next,
            sealedAt: store.reader.options.now().headerMilliseconds ?? 1, notAfter: payload.notAfter,
            codec: payload.codec)
        let blob = payload.withUnsafeBytes {
            grant.seal($0, as: description, key: key, at: lane.place, in: store.group)
        }
        do throws(FileError) {
            let frame = MailSegment.frame(blob.bytes)
            try store.container.quotaGate.admit(segment.path ?? lane.directory, size: frame.count) { 0 }
            guard lock.isStillNamed() else {
                throw FileError(.lockFileReplaced, operation: "send to", path: mailbox.name)
            }
            if segment.path == nil {
                try segment.create(lane, in: store, key, frame, request.durability)
            } else {
                try segment.append(frame, request.durability)
            }
        } catch { throw failure(error) }
        guard store.isInPlace else { throw store.reader.moved("send to", mailbox.name) }
        let number = segment.next
        segment.next += 1
        store.reader.acknowledge(blob.header)
        last.withLock { [segment] in $0 = segment }
        return number
    }

    /// A failed sync is no refusal: the message may be there after a power loss.
    private func failure(_ error: FileError) -> StoreError { StoreError(writing: error, mailbox.name) }

    private func requireMessage(_ payload: RecordPayload) throws(StoreError) {
        guard payload.count <= MailSegment.largestMessage else {
            throw StoreError(
                .tooLarge, "send to", mailbox.name,
                "The message has \(payload.count) bytes; \(MailSegment.largestMessage) are allowed.",
                advice: "Write a sealed file, and send its name.")
        }
    }

    /// Returns the number of the last message for which there is room.
    ///
    /// - Throws: `StoreError` `.quotaExceeded` if too many messages wait: the producer is refused, and loses nothing.
    private func room(for number: UInt64, in store: SealedStore) throws(StoreError) -> UInt64 {
        let handled = try MailboxState.read(mailbox, in: store).lanes[producer]?.handled ?? 0
        let floor = max(handled, store.reader.floorOfWrite(isNew: true).sequence)
        guard number <= floor + UInt64(limits.maximumWaiting) else {
            throw StoreError(
                .quotaExceeded, "send to", mailbox.name,
                "\(number - floor - 1) messages of \(producer) wait; \(limits.maximumWaiting) are allowed.",
                advice: "Send again when its reader has handled some; sealctl mailbox list shows the mailboxes.")
        }
        return floor + UInt64(limits.maximumWaiting)
    }

    // MARK: The last segment

    /// Finds the producer's last segment, cuts what a killed sender left, and determines the next number.
    private func find(
        _ lane: MailLane, in store: SealedStore, _ request: WriteRequest
    ) throws(StoreError) -> OpenSegment {
        let state = try MailboxState.read(mailbox, in: store)
        let mark = store.watermarks.mark(of: lane.place.context.nameTag)?.sequence ?? 0
        let handled = state.lanes[producer]?.handled ?? 0
        let highest = max(mark, handled, store.reader.floorOfWrite(isNew: true).sequenceOfWrite)
        let all = try store.mailSegments(of: mailbox)
        if all[producer] == nil, all.count >= limits.maximumProducers {
            throw StoreError(
                .quotaExceeded, "send to", mailbox.name,
                "It has messages of \(all.count) producers; \(limits.maximumProducers) are allowed.",
                advice: "Send under the name of one of them: a producer is a program, not a process.")
        }
        let (last, number) = try lastAuthentic(of: all[producer] ?? [], lane, in: store)
        let next = max(highest, number) + 1
        if number == 0, state.lanes[producer] == nil { try begin(after: highest, in: store, request) }
        // Damage further in is left for a person: the next message begins another segment.
        guard let segment = last, segment.end == segment.bytes.count || segment.isTorn else {
            return OpenSegment(next: next)
        }
        do throws(FileError) { return try OpenSegment(segment, next: next, in: store) } catch {
            if error.code == .notFound { return OpenSegment(next: next) }
            throw failure(error)
        }
    }

    /// Notes the number before a producer's first message: from it readers count what is lost. A producer that may not
    /// write the mailbox's record begins without.
    private func begin(after number: UInt64, in store: SealedStore, _ request: WriteRequest) throws(StoreError) {
        do throws(StoreError) {
            try MailboxState.update(mailbox, in: store, request) { state in
                state.lanes[producer] = state.lanes[producer] ?? MailboxState.Lane(after: number)
            }
        } catch {
            if error.code != .notAuthorized { throw error }
        }
    }

    /// Returns the last segment with an authentic cover, and the last authentic number of all segments, or 0. Names and
    /// numbers that are not authentic count for nothing: a forged one would end the lane.
    private func lastAuthentic(
        of numbers: [UInt64], _ lane: MailLane, in store: SealedStore
    ) throws(StoreError) -> (MailSegment?, UInt64) {
        var highest: UInt64 = 0
        for first in numbers.reversed() {
            guard let segment = try store.mailSegment(lane, first: first) else { continue }
            let last = segment.frames.last { frame in
                (try? store.reader.keys.verifyHeader(segment.blob(frame), "send to", lane.place)) != nil
            }
            highest = max(highest, last?.number ?? 0)
            if segment.hasCover(of: lane, first: first, in: store) { return (segment, max(highest, first - 1)) }
        }
        return (nil, highest)
    }
}

/// The segment that gets the next message of a producer; nothing in its file changes without the lane's lock.
private struct OpenSegment {
    /// The number of the next message.
    var next: UInt64
    /// The number of the last message for which there is room, as last seen; 0 before the first look.
    var room: UInt64 = 0
    /// The path below the container; nil for a segment that has no file yet.
    private(set) var path: String?
    private var file: SegmentFile?
    private var size = 0
    private var keyID: KeyID?

    /// A segment that begins with its next message.
    init(next: UInt64) { self.next = next }

    init(after full: OpenSegment) { self.init(next: full.next) }

    /// Opens an existing segment for the next message, and cuts the beginning of a frame behind its end.
    init(_ segment: MailSegment, next: UInt64, in store: SealedStore) throws(FileError) {
        self.init(next: next)
        let file = try SegmentFile(segment.path, in: store.container.root)
        if segment.end < segment.bytes.count { try file.cut(to: segment.end) }
        path = segment.path
        self.file = file
        size = segment.end
        keyID = segment.keyID
    }

    /// Returns `true` if no other program has changed the segment since this one did.
    func isUsable(in store: SealedStore) -> Bool {
        guard let path, let file, let facts = try? file.attributes(), facts.size == size else { return false }
        return (try? store.container.root.attributes(path))?.isSameFile(as: facts) == true
    }

    func isFull(for key: SealingKey) -> Bool { path != nil && (size >= MailSegment.fullSize || keyID != key.id) }

    mutating func create(
        _ lane: MailLane, in store: SealedStore, _ key: SealingKey, _ frame: [UInt8], _ durability: Durability
    ) throws(FileError) {
        let bytes = MailSegment.cover(of: lane, first: next, key, in: store) + frame
        let (root, sharing, path) = (store.container.root, store.container.sharing, lane.path(first: next))
        _ = try root.makeDirectory(lane.directory, sharing: sharing)
        let blob = try NewBlob(
            path, in: root, size: Int64(bytes.count), mode: sharing.fileMode, group: sharing.groupID)
        try bytes.withRawBytes { bytes throws(FileError) in try blob.append(bytes) }
        // A file of that name has no authentic message.
        try blob.commit(durability: durability)
        self.path = path
        file = try SegmentFile(path, in: root)
        size = bytes.count
        keyID = key.id
    }

    /// Appends a frame; after an error no part of it remains.
    mutating func append(_ frame: [UInt8], _ durability: Durability) throws(FileError) {
        guard let file else { return }
        do throws(FileError) {
            try frame.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
            if durability == .durable { try file.sync() }
        } catch {
            try? file.cut(to: size)
            throw error
        }
        size += frame.count
    }
}

/// A segment's file, open for appending.
private final class SegmentFile: Sendable {
    private let descriptor: Descriptor

    init(_ path: String, in root: Directory) throws(FileError) {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let number = openBeneath(root.descriptor.rawValue, path, flags)
        guard number >= 0 else { throw root.error(errno, "append to", path) }
        descriptor = Descriptor(owning: number, path: root.display(path))
        guard try descriptor.attributes().kind == .regular else {
            throw FileError(.notRegularFile, operation: "append to", path: root.display(path))
        }
    }

    func attributes() throws(FileError) -> FileAttributes { try descriptor.attributes() }

    func write(_ bytes: UnsafeRawBufferPointer) throws(FileError) { try descriptor.write(bytes) }

    func sync() throws(FileError) {
        guard fdatasync(descriptor.rawValue) < 0 else { return }
        throw FileError(.durabilityUnknown, operation: "sync", path: descriptor.path, errno: errno)
    }

    func cut(to size: Int) throws(FileError) {
        guard ftruncate(descriptor.rawValue, size) < 0 else { return }
        throw FileError(errno: errno, operation: "remove an incomplete message from", path: descriptor.path)
    }
}

extension MailSegment {
    /// Returns the blob that begins a segment.
    static func cover(of lane: MailLane, first number: UInt64, _ key: SealingKey, in store: SealedStore) -> [UInt8] {
        let description = BlobDescription(
            record: lane.coverContext, schemaVersion: 1, sequence: number,
            sealedAt: store.reader.options.now().headerMilliseconds ?? 1, codec: .raw)
        return [UInt8]().withUnsafeBytes { BlobSealer.seal($0, as: description, key: key) }
    }

    /// Returns `true` if the segment begins with the authentic cover of that number.
    func hasCover(of lane: MailLane, first number: UInt64, in store: SealedStore) -> Bool {
        let cover = Array(bytes.prefix(Self.coverSize))
        let header = try? store.reader.keys.withKeys(for: cover, "read", lane.place) { keys throws(SealingError) in
            try cover.withRawBytes { cover throws(SealingError) in
                try BlobOpener.verifyHeader(cover, context: lane.coverContext, keys: keys)
            }
        }
        return header?.header.sequence == number
    }
}

// MARK: Rotation

extension SealedStore {
    /// Seals a segment's messages under the active key, in its place. The caller holds the lane's lock.
    ///
    /// Frames whose messages no key opens are left out: no reader gets them under any key.
    /// - Returns: The size of the new segment; nil if the segment was removed, or has the key already.
    func resealMailSegment(
        _ path: String, _ lane: MailLane, _ durability: Durability
    ) throws(StoreError) -> Int? {
        guard let name = MailSegmentName(leaf: String(path.split(separator: "/").last ?? "")),
            let segment = try mailSegment(lane, first: name.first)
        else { return nil }
        let key = try reader.keys.activeKey(for: .afterFirstUnlock)
        guard segment.keyID != key.id else { return nil }
        var bytes = MailSegment.cover(of: lane, first: name.first, key, in: self)
        for frame in segment.frames {
            let blob = segment.blob(frame)
            guard let opened = try? reader.openWhole(blob, "reseal", lane.place, limit: MailSegment.largestSize)
            else { continue }
            bytes += MailSegment.frame(resealed(opened, lane, key))
        }
        return try StoreError.onFiles("reseal", path) { [bytes] () throws(FileError) in
            let new = try NewBlob(
                path, in: container.root, size: Int64(bytes.count), mode: container.sharing.fileMode,
                group: container.sharing.groupID)
            try bytes.withRawBytes { bytes throws(FileError) in try new.append(bytes) }
            try new.commit(durability: durability)
            return bytes.count
        }
    }

    private func resealed(
        _ opened: borrowing BlobOpener.Opened, _ lane: MailLane, _ key: SealingKey
    ) -> [UInt8] {
        let header = opened.header.header
        let description = BlobDescription(resealing: header, as: lane.place.context)
        guard let trailer = opened.trailer else {
            return opened.plaintext.withUnsafeBytes { BlobSealer.seal($0, as: description, key: key) }
        }
        let signature = trailer.encoded
        var plaintext = PlaintextBuffer(count: opened.plaintext.count + signature.count)
        plaintext.withUnsafeMutableBytes { bytes in
            opened.plaintext.withUnsafeBytes {
                UnsafeMutableRawBufferPointer(rebasing: bytes[..<$0.count]).copyMemory(from: $0)
            }
            UnsafeMutableRawBufferPointer(rebasing: bytes[opened.plaintext.count...]).copyBytes(from: signature)
        }
        return plaintext.withUnsafeBytes { BlobSealer.seal($0, as: description, key: key) }
    }
}
