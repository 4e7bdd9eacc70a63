internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import SealedBackends
internal import Sealing
internal import SharedFiles

/// A record whose lock is held: compares the stored blob, seals the next sequence and replaces the file.
struct LockedRecord: ~Copyable {
    private let writer: RecordWriter
    private let reader: RecordReader
    private let keys: RecordKeys
    private let place: RecordPlace
    /// The record's lock; nil in a transaction, which has those of all records.
    private let lock: HeldLock?
    private let transaction: TransactionRecords?
    /// The header that was verified before the lock was taken, or earlier under the lock.
    let seen: SeenHeader
    /// The key of *after first unlock*, read from the vault under the lock, or the error; `nil` if each write reads the
    /// vault.
    private let key: Result<SealingKey, StoreError>?

    /// - Parameter isLooking: Pass `true` to read the vault now, for the one write that follows immediately.
    init(
        _ place: RecordPlace, of writer: RecordWriter, lock: consuming HeldLock, seen: SeenHeader,
        looking isLooking: Bool
    ) {
        let keys = writer.reader.keys
        self.writer = writer
        self.keys = keys
        reader = writer.reader
        self.place = place
        self.lock = consume lock
        transaction = nil
        self.seen = seen
        key = isLooking ? keys.lookedUpKey() : nil
    }

    /// A record of a transaction, which keeps the new blob instead of writing it.
    init(
        _ place: RecordPlace, of writer: RecordWriter, in transaction: TransactionRecords,
        key: Result<SealingKey, StoreError>, seen: SeenHeader
    ) {
        self.writer = writer
        keys = writer.reader.keys
        reader = writer.reader
        self.place = place
        lock = nil
        self.transaction = transaction
        self.seen = seen
        self.key = key
    }

    private func existing() throws(StoreError) -> ExistingBlob {
        if let written = transaction?.existing(place) { return written }
        return try reader.existing(at: place, seen: seen)
    }

    /// Throws early the error that a write with that condition would throw.
    func require(_ condition: WriteCondition) throws(StoreError) {
        guard condition != .always else { return }
        try require(condition, try existing())
    }

    /// Returns `true` if a blob of *when unlocked* is stored under a name that is not listed.
    func isUnlisted() throws(StoreError) -> Bool {
        guard keys.vault.keyring.whenUnlockedEpoch != nil, !keys.isProtected(place) else { return false }
        return isUnlisted(try existing())
    }

    private func isUnlisted(_ existing: ExistingBlob) -> Bool {
        guard case .value(let header) = existing, !keys.isProtected(place) else { return false }
        return keys.protection(of: header) == .whenUnlocked
    }

    /// Seals and writes the next value.
    ///
    /// - Returns: Its sequence; `nil` if the request requires the name to be listed first, and nothing is written.
    func write(_ payload: RecordPayload, _ request: WriteRequest) throws(StoreError) -> UInt64? {
        guard payload.count <= reader.options.maximumRecordSize else {
            throw StoreError(
                .tooLarge, "write", place.name.text,
                "It has \(payload.count) bytes; \(reader.options.maximumRecordSize) are allowed.")
        }
        let grant = try reader.requireRight(to: place, deleting: false)
        let existing = try existing()
        try require(request.condition, existing)
        try requireNoNewer(than: payload.schemaVersion, existing)
        let sequence =
            if let stated = request.sequence { stated } else {
                max(try nextSequence(existing), request.lowestSequence)
            }
        let stated = payload.protection ?? keys.protection(of: existing, at: place)
        let isListed = keys.isProtected(place)
        let protection = request.lowersClass || !isListed ? stated : .whenUnlocked
        if request.listsName, !isListed, protection == .whenUnlocked || isUnlisted(existing) && !payload.mayLowerClass {
            return nil
        }
        keepIfRefused(existing)
        return try payload.withUnsafeBytes { bytes in
            put(
                bytes, sequence: sequence, flags: [], codec: payload.codec, schemaVersion: payload.schemaVersion,
                notAfter: payload.notAfter, protection: protection, grant, request)
        }.get()
    }

    /// Writes a tombstone.
    ///
    /// - Returns: Its sequence; `nil` if the request requires the name to be listed first, and nothing is written.
    func delete(_ request: WriteRequest) throws(StoreError) -> UInt64? {
        let grant = try reader.requireRight(to: place, deleting: true)
        let existing = try existing()
        try require(request.condition, existing)
        // A removed file or an old tombstone that was put back is no deletion: without a new tombstone the value could
        // be put back as well.
        switch existing {
        case .nothing where !reader.isMissing(place):
            throw StoreError(.absent, "delete", place.name.text, "There is no record of that name.")
        case .tombstone:
            throw StoreError(.absent, "delete", place.name.text, "It was deleted before.")
        case .value where request.listsName && isUnlisted(existing): return nil
        default: break
        }
        let sequence = try nextSequence(existing)
        keepIfRefused(existing)
        return try putTombstone(sequence, grant, request)
    }

    /// Removes the tombstone of a deleted record.
    func purge(_ request: WriteRequest) throws(StoreError) {
        let grant = try reader.requireRight(to: place, deleting: true)
        let existing = try existing()
        let sequence: UInt64
        switch existing {
        // A tombstone that a power loss could revert is first written durably: the remembered state must be true.
        case .tombstone(let tombstone) where tombstone.header.flags.contains(.unsynced):
            sequence = try putTombstone(try nextSequence(existing), grant, request)
        case .tombstone(let tombstone):
            try acceptDeletion(tombstone)
            sequence = tombstone.header.sequence
        case .nothing:
            throw StoreError(
                .absent, "purge", place.name.text, "The container has no record of that name and no mark of a deletion."
            )
        case .value, .refused:
            throw StoreError(
                .conflict, "purge", place.name.text, "It is not deleted: \(existing.text).",
                advice: "Delete it first.", cause: existing.rejection)
        }
        try requireLock("purge")
        // Before the file is removed: after a crash in between, a tombstone is left, and not a missing record.
        reader.watermarks.notePurge(of: place.context.nameTag, at: sequence)
        try commit([BackendWrite(place.key, .remove)], durability: .durable)
        guard reader.anchor.isInPlace else { throw reader.moved("purge", place.name.text) }
    }

    /// Accepts the deletion. This user may never have read it: unless it is accepted before its mark is removed, the
    /// deleted value could be put back.
    private func acceptDeletion(_ tombstone: VerifiedHeader) throws(StoreError) {
        let verdict = reader.acknowledge(tombstone)
        guard verdict == .advances || verdict == .same else {
            throw StoreError(
                .conflict, "purge", place.name.text, "It was written again in the meantime.", advice: "Delete it first."
            )
        }
    }

    // MARK: Requirements

    private func require(_ condition: WriteCondition, _ existing: ExistingBlob) throws(StoreError) {
        switch (condition, existing) {
        case (.always, _), (.absent, .nothing), (.absent, .tombstone): return
        case (.sequence(let sequence), .value(let header)) where header.sequence == sequence: return
        default:
            throw StoreError(
                .conflict, "write", place.name.text, "\(condition.text), but \(existing.text).",
                cause: existing.rejection)
        }
    }

    /// Throws if the stored value has a newer schema: a program that cannot read it would lose the fields it does not
    /// know.
    private func requireNoNewer(than version: UInt32, _ existing: ExistingBlob) throws(StoreError) {
        guard case .value(let header) = existing, header.schemaVersion > version else { return }
        throw StoreError(
            .tooNew, "write", place.name.text,
            "The stored record has schema version \(header.schemaVersion); this program writes \(version).",
            advice: "Update this program; to return to the older version on purpose, delete the record first.")
    }

    /// The limit for believing a damaged header beyond the accepted state: it allows for other users' unseen writes.
    private static let trustedClaim: UInt64 = 1 << 16

    /// Returns one more than the highest of: the stored sequence, the accepted one, those of former containers, and a
    /// damaged header's claim.
    private func nextSequence(_ existing: ExistingBlob) throws(StoreError) -> UInt64 {
        let mark = reader.watermarks.mark(of: place.context.nameTag)
        var highest = mark?.sequence ?? 0
        // The certificate's own sequence is that of the former containers.
        if place.context.nameTag != reader.certificate.place.context.nameTag {
            highest = max(highest, reader.floorOfWrite(isNew: existing.isNothing).sequenceOfWrite)
        }
        switch existing {
        case .nothing: break
        case .value(let header): highest = max(highest, header.sequence)
        case .tombstone(let tombstone): highest = max(highest, tombstone.header.sequence)
        case .refused(let blob):
            switch blob.claim {
            case .none: break
            case .authentic(let sequence): highest = max(highest, sequence)
            case .asserted(let sequence):
                // A flipped high bit, or a series of planted headers, must not move the record beyond what readers
                // accept: a claim counts for much only if nothing better is known.
                let trust = mark == nil ? Watermark.maximumJump / 2 : Self.trustedClaim
                if sequence > highest, sequence - highest <= trust { highest = sequence }
            }
        }
        guard highest < UInt64.max - 1 else {
            throw StoreError(.sequenceJump, "write", place.name.text, "Its sequence has reached the maximum.")
        }
        return highest + 1
    }

    /// Copies a blob that readers refuse to quarantine before the write destroys it. If that fails the write continues:
    /// otherwise a planted blob could stop every writer.
    private func keepIfRefused(_ existing: ExistingBlob) {
        guard case .refused(let blob) = existing, blob.isFile else { return }
        reader.keepInQuarantine(blob.rejection, at: place)
    }

    // MARK: The new blob

    private func putTombstone(
        _ sequence: UInt64, _ grant: WriteGrant, _ request: WriteRequest
    ) throws(StoreError) -> UInt64 {
        try put(
            UnsafeRawBufferPointer(start: nil, count: 0), sequence: sequence, flags: .tombstone, codec: .raw,
            schemaVersion: 0, notAfter: 0, protection: keys.deletionProtection(at: place), grant, request
        ).get()
    }

    private func put(
        _ plaintext: UnsafeRawBufferPointer, sequence: UInt64, flags: BlobFlags, codec: PayloadCodec,
        schemaVersion: UInt32, notAfter: UInt64, protection: ProtectionClass, _ grant: WriteGrant,
        _ request: WriteRequest
    ) -> Result<UInt64, StoreError> {
        do throws(StoreError) {
            let key = try activeKey(for: protection)
            // Checked again under the lock, after reading the vault: the name may have been listed in the meantime.
            if protection == .afterFirstUnlock, !request.lowersClass, keys.isProtected(place) {
                throw .downgraded(writing: place.name.text)
            }
            try request.beforeSealing?(key.id)
            let description = BlobDescription(
                record: place.context, flags: request.durability == .unsynced ? flags.union(.unsynced) : flags,
                schemaVersion: schemaVersion, sequence: sequence,
                sealedAt: request.sealedAt ?? reader.options.now().headerMilliseconds ?? 1, notAfter: notAfter,
                codec: codec)
            let blob = grant.seal(plaintext, as: description, key: key, at: place, in: reader.group)
            try replace(with: blob, isDeletion: flags.contains(.tombstone) || request.isReduction, request)
            return .success(sequence)
        } catch {
            return .failure(error)
        }
    }

    private func activeKey(for protection: ProtectionClass) throws(StoreError) -> SealingKey {
        guard protection == .afterFirstUnlock, let key else { return try keys.activeKey(for: protection) }
        return try key.get()
    }

    private func replace(
        with blob: SealedBlob, isDeletion: Bool, _ request: WriteRequest
    ) throws(StoreError) {
        if let transaction { return transaction.put(blob.bytes, blob.header, at: place, isDeletion: isDeletion) }
        // Under the record's lock: a program that has taken the lease by now writes after this write or waits, never
        // before it.
        var writes: [BackendWrite] = []
        if let fence = request.fence {
            let lease = try writer.requireLease(fence)
            if reader.isCompared, reader.backend.traits.batchLimit > 1 { writes.append(lease) }
        }
        try requireLock("write")
        writes.append(BackendWrite(place.key, .put(blob.bytes), isDeletion: isDeletion))
        try commit(writes, durability: request.durability)
        if reader.isCompared { seen.written(blob.bytes) }
        // Moved away meanwhile, with the new blob: no reader finds it. The store writes it in the present container.
        guard reader.anchor.isInPlace else { throw reader.moved("write", place.name.text) }
        switch lock {
        case .none: break
        case .some(let lock): try writer.remember(blob.header, at: place, lock)
        }
        reader.noteWritten(blob.bytes, blob.header.header, at: place)
    }

    /// Commits writes, the last of which is the record's.
    private func commit(_ writes: [BackendWrite], durability: Durability) throws(StoreError) {
        var writes = writes
        if reader.isCompared { writes[writes.count - 1].condition = try seen.requiredCondition(place) }
        try writer.commit(writes, named: place.name.text, durability: durability)
    }

    private func requireLock(_ operation: String) throws(StoreError) {
        switch lock {
        case .none: break
        case .some(let lock): try writer.requireNamed(lock, operation, place)
        }
    }
}

// MARK: The commit

extension RecordWriter {
    /// Commits writes, and finds out whether they were made if the answer is lost.
    ///
    /// - Parameter name: The record for messages.
    func commit(
        _ writes: [BackendWrite], named name: String, durability: Durability
    ) throws(StoreError) {
        do throws(BackendError) {
            guard let space = reader.space else { return try reader.backend.commit(writes, durability: durability) }
            try space.commit(writes, to: reader.backend, durability: durability)
        } catch {
            guard error.code == .indeterminate else { throw StoreError(writing: error, name) }
            // All are made or none. A comparison alone is made again.
            guard let write = writes.last(where: { $0.change != .nothing }) else {
                throw StoreError(writing: .overtaken(BackendKey(name)), name)
            }
            try requireMade(write, error)
        }
    }

    /// Finds out whether a write was made whose answer was lost.
    ///
    /// - Throws: `StoreError` with a cause of `.conflict` if it was not made, and the change is made again;
    ///   `.outcomeUnknown`.
    private func requireMade(_ write: BackendWrite, _ failure: BackendError) throws(StoreError) {
        let head: BlobHead?
        do throws(BackendError) { head = try settled(write.key) } catch { throw outcomeUnknown(write.key, error) }
        let isMade =
            switch write.change {
            case .put(let blob): head?.version == BlobVersion(of: blob)
            case .remove: head == nil
            case .nothing: true
            }
        if isMade { return }
        if write.condition == head.map({ .version($0.version) }) ?? .absent {
            throw StoreError(writing: .overtaken(write.key), write.key.name)
        }
        throw outcomeUnknown(write.key, failure)
    }

    /// A network that lost the answer may be back a moment later.
    private func settled(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        for delay in [Duration.milliseconds(10), .milliseconds(100), .seconds(1)] {
            do throws(BackendError) { return try reader.backend.settle(key) } catch { pause(delay) }
        }
        return try reader.backend.settle(key)
    }

    private func outcomeUnknown(_ key: BackendKey, _ cause: BackendError) -> StoreError {
        StoreError(
            .outcomeUnknown, "write", key.name,
            "The answer of the backend was lost, and another program has written the record since or the backend does "
                + "not answer. \(cause.reason)", cause: cause)
    }

    /// Throws if the lock's file was replaced, since the lock then excludes no other program: failing is better than
    /// overwriting unseen.
    func requireNamed(_ lock: borrowing HeldLock, _ operation: String, _ place: RecordPlace) throws(StoreError) {
        guard !lock.isStillNamed() else { return }
        throw StoreError(
            .lockTimeout, operation, place.name.text, "The container's lock file was replaced in the meantime.",
            advice: "Try again.")
    }

    /// Accepts the written header as this user's state. The verdict shows whether another program wrote at the same
    /// time, which means that the lock did not hold.
    func remember(_ header: VerifiedHeader, at place: RecordPlace, _ lock: borrowing HeldLock) throws(StoreError) {
        try requireKept([reader.acknowledge(header)], place, lock)
    }

    /// Throws if the verdicts on written headers show that the lock did not hold.
    func requireKept(
        _ verdicts: [Watermark.Verdict], _ place: RecordPlace, _ lock: borrowing HeldLock
    ) throws(StoreError) {
        guard verdicts.allSatisfy({ $0 == .advances || $0 == .same }), lock.isStillNamed() else {
            throw StoreError(
                .lockLost, "write", place.name.text,
                "It is written, but the container's lock file was replaced during the write: "
                    + "another program may have written at the same moment, and one of the two is lost.",
                advice: "Read it back, and find out what removes \(reader.containerPath)'s lock file.")
        }
    }
}
