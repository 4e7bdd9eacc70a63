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
    private let lane: MailLane
    /// The segment that got the last message, still open.
    private let last = Mutex<OpenSegment?>(nil)

    /// - Throws: `StoreError` `.invalidName` for a producer that no lane can have.
    init(_ mailbox: MailboxName, _ producer: String, in group: AppGroup, _ limits: MailLimits) throws(StoreError) {
        self.mailbox = mailbox
        self.producer = producer
        self.limits = limits
        lane = try MailLane(mailbox, producer, in: group)
    }

    /// Appends a message.
    ///
    /// - Returns: Its number.
    func send(
        _ payload: RecordPayload, in store: SealedStore, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        try requireMessage(payload)
        let isFirst = last.withLock { $0?.container != store.reader.anchor.number }
        if isFirst { store.writer.refreshKeyring() }
        // A producer without the right must not begin, as its lane would be counted, and waits for no lock.
        _ = try store.reader.requireRight(to: lane.place, deleting: false)
        // Before the lane's lock: both take the locks of records.
        store.writer.certifyIfNew(request)
        if isFirst { try begin(in: store, request) }
        let lock = try StoreError.onFiles("send to", mailbox.name) { () throws(FileError) in
            try store.reader.locks.lock(lane.place.lock, timeout: request.timeout, isCancelled: request.isCancelled)
        }
        // Read under the lock: a rotation that has completed waited for it. The right is judged by the same look, unless
        // a newer roster makes the vault be read again.
        var key = try store.reader.keys.activeKey(for: .afterFirstUnlock)
        let grant = try store.reader.requireRight(to: lane.place, deleting: false)
        if store.reader.keys.vault.keyring.active?.id != key.id {
            key = try store.reader.keys.activeKey(for: .afterFirstUnlock)
        }
        let cached = last.withLock { $0.take() }
        var segment: OpenSegment
        if let cached, cached.isUsable(lane, for: key, in: store) {
            segment = cached
        } else {
            segment = try find(for: key, in: store)
        }
        if segment.next > segment.room {
            do throws(StoreError) { segment.room = try room(for: segment.next, in: store) } catch {
                last.withLock { [segment] in $0 = segment }
                throw error
            }
        }
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
                try segment.append(frame, in: store, request.durability)
            }
        } catch { throw failure(error) }
        guard store.isInPlace else { throw store.reader.moved("send to", mailbox.name) }
        let number = segment.next
        segment.next += 1
        segment.container = store.reader.anchor.number
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

    /// Returns the number of the last message for which there is room. Without a state of the producer the count begins
    /// with this message.
    ///
    /// - Throws: `StoreError` `.quotaExceeded` if too many messages wait: the producer is refused, and loses nothing.
    private func room(for number: UInt64, in store: SealedStore) throws(StoreError) -> UInt64 {
        let handled = try MailboxState.read(mailbox, in: store).lanes[producer]?.handled ?? number - 1
        guard number <= handled + UInt64(limits.maximumWaiting) else {
            throw StoreError(
                .quotaExceeded, "send to", mailbox.name,
                "\(number - handled - 1) messages of \(producer) wait; \(limits.maximumWaiting) are allowed.",
                advice: "Send again when its reader has handled some; sealctl mailbox list shows the mailboxes.")
        }
        return handled + UInt64(limits.maximumWaiting)
    }

    // MARK: The last segment

    /// Notes the number before a producer's first message: from it readers count what is lost. A producer that may not
    /// write the mailbox's record begins without.
    private func begin(in store: SealedStore, _ request: WriteRequest) throws(StoreError) {
        let state = try MailboxState.read(mailbox, in: store)
        let all = try store.mailSegments(of: mailbox)
        if state.lanes[producer] != nil || all[producer] != nil { return }
        let producers = Set(all.keys).union(state.lanes.keys).count
        guard producers < limits.maximumProducers else {
            throw StoreError(
                .quotaExceeded, "send to", mailbox.name,
                "It has \(producers) producers; \(limits.maximumProducers) are allowed.",
                advice: "Send under the name of one of them: a producer is a program, not a process.")
        }
        let number = store.nextMail(after: store.knownMail(lane, state.lane(producer))) - 1
        do throws(StoreError) {
            try MailboxState.update(mailbox, in: store, request) { state in
                state.lanes[producer] = state.lanes[producer] ?? MailboxState.Lane(after: number)
            }
        } catch {
            if error.code != .notAuthorized { throw error }
        }
    }

    /// Finds the producer's last segment, cuts what a killed sender left, and determines the next number.
    private func find(for key: SealingKey, in store: SealedStore) throws(StoreError) -> OpenSegment {
        store.watermarks.refresh()
        let state = try MailboxState.read(mailbox, in: store)
        let firsts = try store.mailSegments(of: mailbox)[producer] ?? []
        let known = store.knownMail(lane, state.lane(producer))
        let (last, number) = try lastAuthentic(of: firsts, known, in: store)
        let next = store.nextMail(after: max(number, known))
        guard next <= MailSegmentName.largest else {
            throw StoreError(
                .sequenceJump, "send to", mailbox.name, "The numbers of \(producer) have reached their end.")
        }
        // Damage further in is left for a person: the next message begins another segment.
        guard let segment = last, segment.end == segment.bytes.count || segment.isTorn,
            segment.end < MailSegment.fullSize, segment.keyID == key.id
        else { return OpenSegment(next: next) }
        do throws(FileError) { return try OpenSegment(segment, next: next, in: store) } catch {
            if error.code == .notFound { return OpenSegment(next: next) }
            throw failure(error)
        }
    }

    /// Returns the last segment with an authentic cover, and the last authentic number of all segments, or 0. Names and
    /// numbers that are not authentic count for nothing: a forged one would end the lane.
    private func lastAuthentic(
        of numbers: [UInt64], _ known: UInt64, in store: SealedStore
    ) throws(StoreError) -> (MailSegment?, UInt64) {
        var highest: UInt64 = 0
        for first in numbers.reversed() {
            guard let segment = try store.mailSegment(lane, first: first) else { continue }
            for frame in segment.frames.reversed() {
                guard let opened = try store.message(segment.blob(frame), lane, "send to") else { continue }
                highest = max(highest, opened.header.sequence)
                break
            }
            // A cover that is too far ahead would end the lane.
            guard first <= max(known, highest) + Watermark.maximumJump else { continue }
            if try segment.hasCover(of: lane, first: first, in: store) { return (segment, max(highest, first - 1)) }
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
    /// The container that it was used in; 0 before.
    var container: UInt64 = 0
    /// The path below the container; nil for a segment that has no file yet.
    private(set) var path: String?
    private var file: SegmentFile?
    private var size = 0
    private var keyID: KeyID?
    /// The file's name is on the disk, as far as this process knows.
    private var isNameSynced = false

    /// A segment that begins with its next message.
    init(next: UInt64) { self.next = next }

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

    /// Returns `true` if the next message belongs into the segment, and no other program has sent since this one did.
    func isUsable(_ lane: MailLane, for key: SealingKey, in store: SealedStore) -> Bool {
        guard let path, let file, size < MailSegment.fullSize, keyID == key.id,
            (store.watermarks.mark(of: lane.place.context.nameTag)?.sequence ?? 0) < next,
            let facts = try? store.container.root.attributes(path)
        else { return false }
        return facts.size == size && facts.isSameFile(as: file.facts)
    }

    mutating func create(
        _ lane: MailLane, in store: SealedStore, _ key: SealingKey, _ frame: [UInt8], _ durability: Durability
    ) throws(FileError) {
        let bytes = MailSegment.cover(of: lane, first: next, key, in: store) + frame
        let (root, sharing, path) = (store.container.root, store.container.sharing, lane.path(first: next))
        _ = try root.makeDirectory(lane.directory, sharing: sharing)
        let blob = try NewBlob(
            path, in: root, size: Int64(bytes.count), mode: sharing.fileMode, group: sharing.groupID)
        try bytes.withRawBytes { bytes throws(FileError) in try blob.append(bytes) }
        // A file of that name has no authentic message: all segments were examined under the lane's lock.
        try blob.commit(durability: durability)
        self.path = path
        // The message is sent; without the file the next one finds the segment again.
        file = try? SegmentFile(path, in: root)
        size = bytes.count
        keyID = key.id
        isNameSynced = durability == .durable
    }

    /// Appends a frame; after an error no part of it remains.
    mutating func append(_ frame: [UInt8], in store: SealedStore, _ durability: Durability) throws(FileError) {
        guard let file, let path else {
            throw FileError(.notFound, operation: "append to", path: store.container.root.display(path ?? ""))
        }
        do throws(FileError) {
            try frame.withRawBytes { bytes throws(FileError) in try file.write(bytes) }
            if durability == .durable {
                try file.sync()
                // The segment may have been begun without a sync.
                if !isNameSynced { try store.container.root.makeDurable(path) }
                isNameSynced = true
            }
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
    /// The attributes when it was opened.
    let facts: FileAttributes

    init(_ path: String, in root: Directory) throws(FileError) {
        let flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC
        let number = openBeneath(root.descriptor.rawValue, path, flags)
        guard number >= 0 else { throw root.error(errno, "append to", path) }
        descriptor = Descriptor(owning: number, path: root.display(path))
        facts = try descriptor.attributes()
        guard facts.kind == .regular else {
            throw FileError(.notRegularFile, operation: "append to", path: root.display(path))
        }
    }

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
