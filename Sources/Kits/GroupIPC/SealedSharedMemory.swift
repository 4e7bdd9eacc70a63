public import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
public import SealedState
internal import Sealing
internal import SharedFiles
internal import Synchronization

/// A sealed record in memory that the programs of an app group share: for values that change often and need not outlive
/// the machine.
///
/// ```swift
/// let position = try store.sharedMemory("position", capacity: 256)
/// try position.write(Position(x: 1, y: 2))
/// let latest = try position.read(Position.self)
/// ```
///
/// The memory contains one sealed blob, bound to group, name and this start of the machine. Every read is authenticated
/// and validated as a record's. No file is written and nothing is synced: values are lost with the machine's power, and
/// when the system removes the memory (`docs/guides/coordination-and-ipc.md`).
///
/// Order: a process never reads a value that is older than one that it has read or written under the name. The order is
/// remembered in memory only, so a process that was just started trusts the first value that it reads.
public final class SealedSharedMemory: Sendable {
    /// The memory's name within the group.
    public let name: GroupIPCName
    /// The size of the largest encoded value in bytes.
    public let capacity: Int

    private let store: SealedStore
    private let memory: GroupSharedMemory
    private let place: RecordPlace
    private let order: SharedMemoryOrder

    /// The limit of a value's sequence ahead of the machine's time: that of twelve days.
    private static let lead: UInt64 = 1 << 40

    init(_ name: String, of store: SealedStore, capacity: Int, creating: Bool) throws(StoreError) {
        let store = try store.following()
        do throws(AppGroupError) {
            self.name = try GroupIPCName(name, in: store.group)
            // A size out of range stays out of range, and does not overflow on its way to the blob's size.
            let size = capacity > 0 ? BlobLayout.blobSize(plaintextSize: min(capacity, 1 << 31)) : capacity
            memory = try GroupSharedMemory(name, in: store.container, capacity: size, creating: creating)
        } catch {
            throw StoreError(sharing: error, "open the shared memory", name)
        }
        self.store = store
        self.capacity = capacity
        // The name contains the boot: a blob of before the machine's start belongs to another place.
        place = try store.places.place(reserved: "\(RecordName.reservedSegment)/ipc/\(BootID.current.text)/\(name)")
        order = SharedMemoryOrder.shared(store.containerPath + "/" + name)
    }

    /// Replaces the value. A reader gets the old one or this one.
    ///
    /// - Parameter timeout: The time limit for waiting for another writer; by default that of the store's locks.
    /// - Returns: the value's sequence: higher than that of every value before.
    /// - Throws: `StoreError` `.invalid`, `.unencodable`, `.tooLarge`, `.locked`, `.lockTimeout`; `.container` if the
    ///   memory was removed: open it again.
    @discardableResult
    public func write<Record: SealedRecord>(
        _ value: Record, timeout: Duration? = nil
    ) throws(StoreError) -> UInt64 {
        let payload = try store.writer.encode(value, named: name.name)
        defer { payload.wipe() }
        guard payload.count <= capacity else {
            throw StoreError(
                .tooLarge, "write", name.name, "It has \(payload.count) bytes; the memory has room for \(capacity).")
        }
        let protection = Record.protection.stated ?? store.vault.defaultProtection
        try store.reader.keys.prepareKey(for: protection)
        let key = try store.reader.keys.activeKey(for: protection)
        var sequence: UInt64 = 0
        do throws(AppGroupError) {
            try memory.replace(timeout ?? store.options.lockTimeout) { existing in
                sequence = next(after: existing)
                return seal(payload, sequence, key)
            }
        } catch {
            throw StoreError(sharing: error, "write", name.name)
        }
        order.note(sequence, in: memory.identity)
        return sequence
    }

    /// Returns the value.
    ///
    /// - Throws: `StoreError` `.absent` before the first write; every rejection of a record's read, with `.replayed`
    ///   for a value that is older than one that this process has seen, or gone since, and `.sequenceJump` for a
    ///   sequence that no writer can have reached; `.retiredEpoch` after a rotation, until the next write; `.container`
    ///   if the memory was removed.
    public func read<Record: SealedRecord>(_ type: Record.Type = Record.self) throws(StoreError) -> Record {
        let accepted = try accepted()
        let snapshot = try store.reader.decodedSnapshot(of: type, from: accepted, at: place)
        try store.reader.checkFreshness(of: snapshot, from: accepted, at: place)
        try store.reader.validate(snapshot.value, named: name.name)
        return snapshot.value
    }

    private func accepted() throws(StoreError) -> AcceptedBlob {
        var refused: Commitment?
        for _ in 0..<RecordReader.maximumRereads {
            let blob = try current()
            let opened = try open(blob)
            try requirePossible(opened.header.header.sequence)
            do throws(StoreError) {
                try order.require(opened.header.header, named: name.name, in: memory.identity)
            } catch {
                // Another thread may have seen a newer value after this one was copied: then the memory has another
                // value now.
                guard error.code == .replayed, refused != opened.header.header.commitment else { throw error }
                refused = opened.header.header.commitment
                continue
            }
            return AcceptedBlob(opened: opened, sealed: blob)
        }
        throw StoreError(.replayed, "read", name.name, "Old values alternate in the memory.")
    }

    private func current() throws(StoreError) -> [UInt8] {
        // Checked before the read: another thread may write the first value after it.
        let wasSeen = order.hasSeen(memory.identity)
        do throws(AppGroupError) {
            if let blob = try memory.read(timeout: store.options.lockTimeout) { return blob }
        } catch {
            throw StoreError(sharing: error, "read", name.name)
        }
        if wasSeen {
            throw StoreError(.replayed, "read", name.name, "The value that this process has seen there is missing.")
        }
        throw StoreError(.absent, "read", name.name, "Nothing has been written there since the memory was created.")
    }

    /// Refuses a sequence near the highest one, which a key holder could invent and which would leave no room for later
    /// values.
    private func requirePossible(_ sequence: UInt64) throws(StoreError) {
        guard sequence > Self.latest else { return }
        throw StoreError(
            .sequenceJump, "read", name.name, "Its sequence is \(sequence), which no writer can have reached.")
    }

    /// The highest possible sequence: 1,024 for each millisecond since the machine's start, more than can be written,
    /// and a reserve. Never near the end of all numbers.
    private static var latest: UInt64 { BootClock.milliseconds() << 10 + lead }

    private func open(_ blob: [UInt8]) throws(StoreError) -> BlobOpener.Opened {
        let opened = try store.reader.keys.withKeys(for: blob, "read", place) { keys throws(SealingError) in
            try blob.withRawBytes { bytes throws(SealingError) in
                try BlobOpener.open(bytes, context: place.context, keys: keys, limit: memory.capacity)
            }
        }
        try store.reader.keys.requireCurrent(opened.header.header, "read", place)
        return opened
    }

    private func seal(_ payload: RecordPayload, _ sequence: UInt64, _ key: SealingKey) -> [UInt8] {
        let description = BlobDescription(
            record: place.context, flags: .unsynced, schemaVersion: payload.schemaVersion, sequence: sequence,
            sealedAt: store.options.now().headerMilliseconds ?? 1, notAfter: payload.notAfter, codec: payload.codec)
        return payload.withUnsafeBytes { BlobSealer.seal($0, as: description, key: key) }
    }

    /// Returns one more than the highest sequence. A refused value does not count: a member could write any number.
    ///
    /// Never below the time since the machine's start: after the memory was removed and created again, programs that
    /// have seen the old one's values accept the new one's.
    private func next(after existing: [UInt8]?) -> UInt64 {
        let claim = existing.flatMap { try? store.reader.keys.verifyHeader($0, "write", place) }?.header.sequence ?? 0
        let found = claim > Self.latest ? 0 : claim
        // Both are at most `latest`, so adding one does not overflow.
        return max(max(found, order.highest) + 1, BootClock.milliseconds() << 10)
    }
}

extension SealedStore {
    /// Returns sealed memory that the group's programs share; creates it if it is missing.
    ///
    /// - Parameters:
    ///   - name: The name within the group; see `GroupIPCName`.
    ///   - capacity: The size of the largest encoded value in bytes, the same in all programs.
    ///   - creating: Whether to create it.
    /// - Throws: `StoreError` `.invalidName`, `.absent` if it is missing and not to be created, `.tooLarge`, `.noSpace`
    ///   if the system has no more, `.container` for errors of `GroupSharedMemory`.
    public func sharedMemory(
        _ name: String, capacity: Int, creating: Bool = true
    ) throws(StoreError) -> SealedSharedMemory {
        try SealedSharedMemory(name, of: self, capacity: capacity, creating: creating)
    }
}

/// The newest value of some shared memory that this process has seen, by all its handles.
final class SharedMemoryOrder: Sendable {
    private struct Newest: Sendable {
        var sequence: UInt64 = 0
        /// `nil` for a value that this process wrote and has not read.
        var commitment: Commitment?
        /// The identity of its memory: new memory begins without a value.
        var memory: [UInt8]?
    }

    private let newest = Mutex(Newest())

    var highest: UInt64 { newest.withLock { $0.sequence } }

    /// Returns whether a value was seen in that memory.
    func hasSeen(_ memory: [UInt8]) -> Bool { newest.withLock { $0.memory == memory } }

    /// Remembers a value that this process wrote.
    func note(_ sequence: UInt64, in memory: [UInt8]) {
        newest.withLock { if sequence > $0.sequence { $0 = Newest(sequence: sequence, memory: memory) } }
    }

    /// Refuses an authentic value that is older than one that was seen, or another one with the same sequence.
    func require(_ header: BlobHeader, named name: String, in memory: [UInt8]) throws(StoreError) {
        let seen = newest.withLock { newest in
            defer {
                if header.sequence > newest.sequence || (header.sequence == newest.sequence && newest.commitment == nil)
                {
                    newest = Newest(sequence: header.sequence, commitment: header.commitment, memory: memory)
                }
            }
            return newest
        }
        if header.sequence < seen.sequence {
            throw StoreError(
                .replayed, "read", name,
                "It has sequence \(header.sequence); this process has seen \(seen.sequence).")
        }
        if header.sequence == seen.sequence, let known = seen.commitment, known != header.commitment {
            throw StoreError(.forked, "read", name, "Another value with sequence \(header.sequence) was seen before.")
        }
    }

    // An order for each memory, so that two handles of a process share it.
    private static let all = Mutex<[String: SharedMemoryOrder]>([:])

    static func shared(_ name: String) -> SharedMemoryOrder {
        all.withLock { all in
            if let order = all[name] { return order }
            let order = SharedMemoryOrder()
            all[name] = order
            return order
        }
    }
}

extension StoreError {
    /// Creates the store's error for a failure of shared memory.
    init(sharing error: AppGroupError, _ operation: String, _ subject: String) {
        let code: Code =
            switch error.code {
            case .invalidIPCName: .invalidName
            case .ipcMissing: .absent
            case .messageTooLarge: .tooLarge
            case .ipcLimit: .noSpace
            case .ipcDamaged: .malformed
            case .timeout: .lockTimeout
            case .cancelled: .cancelled
            case .containerMissing, .containerAway: .containerMissing
            default: .container
            }
        self.init(code, operation, subject, error.reason, advice: error.advice, errno: error.errno, cause: error)
    }
}
