internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Writes one record while its lock is held.
struct RecordWriter: ~Copyable {
    private let store: SealedStore
    private let place: RecordPlace
    private let lock: HeldLock

    init(store: SealedStore, place: RecordPlace, lock: consuming HeldLock) {
        self.store = store
        self.place = place
        self.lock = lock
    }

    /// Seals and writes the next value.
    func write(_ payload: RecordPayload, durability: Durability) throws(StoreError) -> UInt64 {
        guard payload.count <= store.options.maximumRecordSize else {
            throw StoreError(
                .tooLarge, "write", place.name.text,
                "It has \(payload.count) bytes; \(store.options.maximumRecordSize) are allowed.")
        }
        let sequence = try nextSequence(try standing())
        return try payload.withUnsafeBytes { bytes in
            put(
                bytes, sequence: sequence, flags: [], codec: payload.codec, schemaVersion: payload.schemaVersion,
                notAfter: payload.notAfter, protection: payload.protection, durability: durability)
        }.get()
    }

    /// Writes a tombstone.
    func delete(durability: Durability) throws(StoreError) -> UInt64 {
        let standing = try standing()
        // A file that was taken away, or an old tombstone that was put back, is no deletion: without a new tombstone the
        // value could be put back as well.
        switch standing {
        case .nothing where store.watermarks.mark(of: place.context.nameTag) == nil:
            throw StoreError(.absent, "delete", place.name.text, "No record of that name was written.")
        case .verified(let header)
        where header.header.flags.contains(.tombstone) && store.watermarks.verdict(on: header) != .replayed:
            throw StoreError(.absent, "delete", place.name.text, "It was deleted before.")
        default: break
        }
        return try put(
            UnsafeRawBufferPointer(start: nil, count: 0), sequence: try nextSequence(standing), flags: .tombstone,
            codec: .raw, schemaVersion: 0, notAfter: 0, protection: .afterFirstUnlock, durability: durability
        ).get()
    }

    /// What lies in the record's place.
    private enum Standing {
        case nothing
        case verified(VerifiedHeader)
        /// Refused; the claim helps not to fall behind, when there is one.
        case refused(claim: BlobHeader?)
    }

    private func standing() throws(StoreError) -> Standing {
        let prefix: [UInt8]?
        do throws(FileError) {
            prefix = try store.backend.readPrefix(place.address, count: BlobLayout.headerSize)
        } catch {
            // A planted link or pipe: the rename puts the new blob in its place and never follows it.
            guard error.code == .notRegularFile || error.code == .unsafePath else {
                throw StoreError(error, "write", place.name.text)
            }
            return .refused(claim: nil)
        }
        guard let prefix else { return .nothing }
        do throws(StoreError) {
            return .verified(try store.verifyHeader(prefix, "replace", place))
        } catch {
            return try refused(prefix, error)
        }
    }

    /// A blob that cannot be read is not destroyed by a write: it is kept in quarantine first. One whose key is
    /// missing is not replaced at all, because then it is the vault that is wrong; unless the vault says that the key
    /// was destroyed.
    private func refused(_ prefix: [UInt8], _ error: StoreError) throws(StoreError) -> Standing {
        guard Self.replaceable.contains(error.code) || store.isKeyDestroyed(of: prefix) else { throw error }
        _ = try StoreError.onFiles("keep in quarantine", place.name.text) { () throws(FileError) in
            try store.backend.quarantine(place.address)
        }
        let claim = try? UnverifiedHeader(parsing: prefix).claimed
        return .refused(claim: claim?.nameTag == place.context.nameTag ? claim : nil)
    }

    /// What is wrong with a blob itself. Everything else may be wrong with the vault.
    private static let replaceable: Set<StoreError.Code> = [
        .malformed, .wrongGroup, .wrongName, .wrongCommitment, .retiredEpoch, .tooLarge,
    ]

    /// How far a damaged header is believed beyond what was accepted: other users' writes that this one has not seen.
    private static let trustedClaim: UInt64 = 1 << 16

    /// One more than whatever is highest: what lies there, what was accepted before, what a damaged header claims.
    private func nextSequence(_ standing: Standing) throws(StoreError) -> UInt64 {
        let mark = store.watermarks.mark(of: place.context.nameTag)
        var highest = mark?.sequence ?? 0
        switch standing {
        case .nothing: break
        case .verified(let header):
            let verdict = store.watermarks.verdict(on: header)
            if verdict == .jumps { try store.judge(verdict, header.header, place) }
            highest = max(highest, header.header.sequence)
        case .refused(let claim):
            // A flipped high bit, or a row of planted headers, must not send the record beyond what readers accept: a
            // claim counts for much only where nothing better is known.
            let trust = mark == nil ? Watermark.maximumJump / 2 : Self.trustedClaim
            if let claim, claim.sequence > highest, claim.sequence - highest <= trust {
                highest = claim.sequence
            }
        }
        guard highest < UInt64.max - 1 else {
            throw StoreError(.sequenceJump, "write", place.name.text, "Its sequence cannot grow any further.")
        }
        return highest + 1
    }

    private func put(
        _ plaintext: UnsafeRawBufferPointer, sequence: UInt64, flags: BlobFlags, codec: PayloadCodec,
        schemaVersion: UInt32, notAfter: UInt64, protection: ProtectionClass, durability: Durability
    ) -> Result<UInt64, StoreError> {
        do throws(StoreError) {
            let key = try store.activeKey(for: protection)
            let description = BlobDescription(
                record: place.context, flags: durability == .unsynced ? flags.union(.unsynced) : flags,
                schemaVersion: schemaVersion, sequence: sequence,
                sealedAt: store.options.now().headerMilliseconds ?? 1, notAfter: notAfter, codec: codec)
            let blob = BlobSealer.seal(plaintext, as: description, key: key)
            try replace(with: blob, durability)
            try remember(blob)
            return .success(sequence)
        } catch {
            return .failure(error)
        }
    }

    private func replace(with blob: [UInt8], _ durability: Durability) throws(StoreError) {
        // A lock whose file was replaced excludes nobody any more: better to fail than to overwrite unseen.
        guard lock.isStillNamed() else {
            throw StoreError(
                .lockTimeout, "write", place.name.text, "The container's lock file was replaced meanwhile.",
                advice: "Write again.")
        }
        try StoreError.onFiles("write", place.name.text) { () throws(FileError) in
            try store.backend.replace(place.address, with: blob, durability: durability)
        }
    }

    /// A writer has accepted what it wrote.
    private func remember(_ blob: [UInt8]) throws(StoreError) {
        _ = store.watermarks.accept(try store.verifyHeader(blob, "write", place))
    }
}
