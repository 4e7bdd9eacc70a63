internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import KeyVault
internal import Sealing
internal import SharedFiles

extension MailSegment {
    /// Returns the blob that begins a segment.
    static func cover(of lane: MailLane, first number: UInt64, _ key: SealingKey, in store: SealedStore) -> [UInt8] {
        let description = BlobDescription(
            record: lane.coverContext, schemaVersion: 1, sequence: number,
            sealedAt: store.reader.options.now().headerMilliseconds ?? 1, codec: .raw)
        return [UInt8]().withUnsafeBytes { BlobSealer.seal($0, as: description, key: key) }
    }

    /// Returns `true` if the segment begins with the authentic cover of that number.
    ///
    /// - Throws: `StoreError` if this cannot be decided now, as without the vault.
    func hasCover(of lane: MailLane, first number: UInt64, in store: SealedStore) throws(StoreError) -> Bool {
        try Self.isCover(Array(bytes.prefix(Self.coverSize)), of: lane, first: number, in: store)
    }

    static func isCover(
        _ cover: [UInt8], of lane: MailLane, first number: UInt64, in store: SealedStore
    ) throws(StoreError) -> Bool {
        // First without keys: many planted files must cost little.
        guard let claimed = try? UnverifiedHeader(parsing: cover).claimed, claimed.sequence == number,
            claimed.nameTag == lane.coverContext.nameTag, claimed.groupTag == lane.coverContext.groupTag
        else { return false }
        do throws(StoreError) {
            let header = try store.reader.keys.withKeys(for: cover, "read", lane.place) { keys throws(SealingError) in
                try cover.withRawBytes { cover throws(SealingError) in
                    try BlobOpener.verifyHeader(cover, context: lane.coverContext, keys: keys)
                }
            }
            return header.header.sequence == number
        } catch {
            if foreign.contains(error.code) { return false }
            throw error
        }
    }

    /// The reasons for which bytes are no message of a lane, or none that counts: no holder of its keys and rights has
    /// sent them, or no reader can read them any more.
    static let foreign: Set<StoreError.Code> = [
        .malformed, .unsupportedFormat, .wrongKind, .wrongGroup, .wrongName, .wrongSuite, .wrongCommitment, .tampered,
        .tooLarge, .retiredEpoch, .wrongEpoch, .unknownKey, .notAuthorized, .sequenceJump,
    ]
}

extension SealedStore {
    /// Opens a message and judges its writer; nil for bytes that are no message of the lane.
    func message(
        _ bytes: [UInt8], _ lane: MailLane, _ operation: String
    ) throws(StoreError) -> AcceptedBlob? {
        do throws(StoreError) {
            var blob = AcceptedBlob(
                opened: try reader.openWhole(bytes, operation, lane.place, limit: MailSegment.largestSize), sealed: [])
            blob.writer = try reader.requireAuthority(of: blob.opened, at: lane.place)
            if reader.verdict(on: blob.opened.header) == .jumps { return nil }
            if blob.header.sequence > MailSegmentName.largest { return nil }
            return consume blob
        } catch {
            if MailSegment.foreign.contains(error.code) { return nil }
            throw error
        }
    }

    /// Returns the number after a known one; above those of former containers.
    func nextMail(after known: UInt64) -> UInt64 {
        let floor = reader.floorOfWrite(isNew: true)
        return floor.isFormer(known + 1) ? max(known, floor.sequenceOfWrite) + 1 : known + 1
    }

    /// Returns the highest number of a lane that is known without its segments.
    func knownMail(_ lane: MailLane, _ state: MailboxState.Lane?) -> UInt64 {
        max(
            watermarks.mark(of: lane.place.context.nameTag)?.sequence ?? 0, state?.handled ?? 0, state?.delivered ?? 0)
    }
}

// MARK: Rotation

extension SealedStore {
    /// Seals a segment's messages under the active key, in its place. The caller holds the lane's lock.
    ///
    /// Frames that are no messages are left out: no reader gets them under any key.
    /// - Returns: The size of the new segment; nil if the segment was removed or exchanged, or has the key already.
    func resealMailSegment(
        _ path: String, _ lane: MailLane, first: UInt64, _ durability: Durability
    ) throws(StoreError) -> Int? {
        guard let segment = try mailSegment(lane, first: first) else { return nil }
        let key = try reader.keys.activeKey(for: .afterFirstUnlock)
        guard segment.keyID != key.id, try segment.hasCover(of: lane, first: first, in: self) else { return nil }
        let keys = try reader.keys.keyring(toOpen: Array(segment.bytes.prefix(MailSegment.coverSize)), "reseal", path)
        var bytes = MailSegment.cover(of: lane, first: first, key, in: self)
        for frame in segment.frames where segment.hasKey(frame, segment.keyID) {
            do throws(StoreError) {
                let old = try OldBlob(segment.blob(frame), at: path, context: lane.place.context, keys: keys)
                let description = BlobDescription(resealing: old.header.header, as: lane.place.context)
                bytes += MailSegment.frame(try old.sealed(as: description, key: key))
            } catch {
                if !MailSegment.foreign.contains(error.code) { throw error }
            }
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
}
