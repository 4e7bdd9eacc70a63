internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SealedBackends
internal import Sealing
internal import SharedFiles

/// Reseals one blob under the active key, in its place.
struct Resealer {
    /// The result for a blob.
    enum Outcome {
        /// Resealed: the size of its contents.
        case resealed(Int)
        /// The blob has changed since it was found; the next walk examines it.
        case changed
        /// The blob stays unchanged; with its identity, if it could be opened.
        case left(SkippedBlob, BlobIdentity?)
    }

    let store: SealedStore
    let options: RotationOptions
    let throttle: Throttle
    /// The target epochs of each class.
    let epochs: [ProtectionClass: UInt32]

    private var root: Directory { store.container.root }

    /// - Throws: `StoreError` for a failure that ends the rotation for now: `.cancelled`, a full disk, a failed sync,
    ///   the vault.
    func reseal(_ blob: SurveyedBlob) throws(StoreError) -> Outcome {
        // Before the lock: other programs that wait for it do not wait for the throttle.
        let isLocked = blob.place != nil
        try throttle.take(blobs: 1, bytes: isLocked ? Int(blob.attributes?.size ?? 0) : 0)
        var opened: BlobIdentity?
        do throws(StoreError) {
            try store.reader.keys.prepareKey(for: blob.protection(in: store), named: nameToList(blob))
            if let mail = blob.mail(in: store.group) { return try rewrite(blob, of: mail.lane, mail.first) }
            guard let place = blob.place else { return try rewrite(blob, lock: nil, &opened) }
            if let version = blob.version {
                opened = BlobIdentity(version)
                return try rewrite(blob, version, at: place)
            }
            return try rewrite(blob, lock: try lock(place), &opened)
        } catch {
            guard Self.leavable.contains(error.code) else { throw error }
            // Like other programs' writes, a removal does not concern the rotation.
            if (error.cause as? FileError)?.code == .notFound { return .changed }
            return .left(SkippedBlob(blob.path, error, epoch: try? blob.header.get().header.epoch), opened)
        }
    }

    /// Returns the name of a record of *when unlocked* that the list of names may lack, such as a list that was
    /// restored from before the record's first write. A copy that was put back, or a copy of another record, lists no
    /// name.
    private func nameToList(_ blob: SurveyedBlob) -> String? {
        guard blob.protection(in: store) == .whenUnlocked, let place = blob.place,
            case .success(let verified) = blob.header, verified.header.kind == .record,
            blob.context(in: store.group) != nil
        else { return nil }
        store.watermarks.refresh()
        let verdict = store.reader.verdict(on: verified)
        return verdict == .advances || verdict == .same ? place.name.text : nil
    }

    /// The codes of faults in one blob or its place. Every other code ends the rotation for now.
    private static let leavable: Set<StoreError.Code> = [
        .malformed, .unsupportedFormat, .wrongKind, .wrongGroup, .wrongName, .unknownKey, .wrongSuite, .wrongEpoch,
        .retiredEpoch, .downgraded,
        .wrongCommitment, .tampered, .notAuthorized, .rosterBehind, .replayed, .forked, .sequenceJump, .lockTimeout,
        .locked, .file,
        .permissionDenied, .containerMissing, .tooLarge,
    ]

    private func lock(_ place: RecordPlace) throws(StoreError) -> HeldLock {
        try StoreError.onFiles("reseal", place.name.text) { () throws(FileError) in
            try store.reader.locks.lock(place.lock, timeout: options.lockTimeout, isCancelled: options.isCancelled)
        }
    }

    /// Rewrites a segment of a mailbox, under the lock of its producer.
    private func rewrite(
        _ blob: SurveyedBlob, of lane: MailLane, _ first: UInt64
    ) throws(StoreError) -> Outcome {
        let lock = try lock(lane.place)
        guard lock.isStillNamed(),
            let size = try store.resealMailSegment(blob.path, lane, first: first, options.durability)
        else { return .changed }
        return .resealed(size)
    }

    /// Rewrites a record in a backend other than that of files, under the record's lock.
    private func rewrite(
        _ blob: SurveyedBlob, _ version: BlobVersion, at place: RecordPlace
    ) throws(StoreError) -> Outcome {
        let lock = try lock(place)
        let stored = try StoreError.onBackend("reseal", place.name.text) { () throws(BackendError) in
            // Of any size: a limit that was lowered since must not keep a record under its old key.
            try store.backend.read(place.key, limit: .max)
        }
        guard let held = stored, BlobVersion(of: held.bytes) == version, let context = blob.context(in: store.group)
        else { return .changed }
        let keys = try store.reader.keys.keyring(
            toOpen: Array(held.bytes.prefix(BlobLayout.headerSize)), "reseal", blob.path)
        let old = try OldBlob(held.bytes, at: blob.path, context: context, keys: keys)
        let header = old.header.header
        let protection = keys.protection(of: header.keyID)
        guard let epoch = epochs[protection], header.epoch < epoch else { return .changed }
        try requireCurrentEpoch(header, keys, old.path)
        try requireAccepted(old, place)
        let sealed = try old.sealed(
            as: BlobDescription(resealing: header, as: context), key: active(keys, protection))
        guard lock.isStillNamed() else { return .changed }
        do throws(BackendError) {
            try store.backend.commit(
                [BackendWrite(place.key, .put(sealed), if: .version(version))], durability: options.durability)
        } catch {
            // Written meanwhile, or by the answer that was lost: the next walk examines it.
            if [.conflict, .indeterminate].contains(error.code) { return .changed }
            throw StoreError(error, "reseal", blob.path)
        }
        try remember(blob.path, place)
        return .resealed(old.reader.plaintextSize)
    }

    /// Rewrites a blob. All steps hold the record's lock if the file is a record's.
    private func rewrite(
        _ blob: SurveyedBlob, lock: consuming HeldLock?, _ opened: inout BlobIdentity?
    ) throws(StoreError) -> Outcome {
        guard let context = blob.context(in: store.group) else { return .changed }
        let (file, head) = try StoreError.onFiles("reseal", blob.path) { () throws(FileError) in
            let file = try OpenedBlob(blob.path, in: root)
            return (file, try file.head())
        }
        // The identity is the header's claim.
        let claimed = try? UnverifiedHeader(parsing: head).claimed
        opened = claimed.map { BlobIdentity(file.attributes, $0.commitment) }
        let keys = try store.reader.keys.keyring(toOpen: head, "reseal", blob.path)
        let old = try OldBlob(file, context: context, keys: keys)
        let header = old.header.header
        // The name may now denote another file than the walk found.
        let protection = keys.protection(of: header.keyID)
        guard let epoch = epochs[protection], header.epoch < epoch, protection == blob.protection(in: store) else {
            return .changed
        }
        try requireCurrentEpoch(header, keys, old.path)
        if context.kind == .record, let place = blob.place { try requireAccepted(old, place) }
        let new = try make(old, file.attributes)
        try new.seal(
            old, as: BlobDescription(resealing: header, as: context), key: try active(keys, protection), throttle,
            isLocked: blob.place != nil)
        guard try isStillStored(file, lock) else { return .changed }
        try StoreError.onFiles("reseal", old.path) { () throws(FileError) in
            try new.commit(durability: options.durability)
        }
        if context.kind == .record, let place = blob.place { try remember(old.path, place) }
        return .resealed(old.reader.plaintextSize)
    }

    /// Returns the active key of the class, which stays: a blob that needs the user continues to need the user.
    private func active(_ keys: Keyring, _ protection: ProtectionClass) throws(StoreError) -> SealingKey {
        guard protection == .afterFirstUnlock else { return try store.reader.keys.activeKey(for: protection) }
        guard let key = keys.active else {
            throw StoreError(.vault, "reseal with the keys of", store.group.identifier, "There is no active key.")
        }
        return key
    }

    /// Throws for a retired epoch: under the new key readers would accept such a blob again.
    private func requireCurrentEpoch(_ header: BlobHeader, _ keys: Keyring, _ path: String) throws(StoreError) {
        let minimum = keys.minimumEpoch(for: header.keyID)
        guard header.epoch < minimum else { return }
        throw StoreError(
            .retiredEpoch, "reseal", path,
            "It has epoch \(header.epoch), and appeared after a rotation to epoch \(minimum) was completed.")
    }

    /// Throws for a record that was put back or downgraded: the new key must not make it valid.
    ///
    /// The writer's rights are not checked: a roster may be inaccessible, and a record left under a key that is retired
    /// next would be lost. A new key gives no writer a right, and its signature stays unchanged.
    private func requireAccepted(_ old: OldBlob, _ place: RecordPlace) throws(StoreError) {
        try store.reader.keys.requireCurrent(old.header.header, "reseal", place)
        store.watermarks.refresh()
        try store.reader.judge(store.reader.verdict(on: old.header), old.header.header, place)
    }

    /// Accepts the new blob, as every writer does. If the vault is locked right after the write, the write remains: the
    /// next reader accepts it then.
    private func remember(_ path: String, _ place: RecordPlace) throws(StoreError) {
        if let authority = store.authority, authority.governs(place.name.text) {
            // By its header alone any user's blob could have replaced it since: a read accepts it or gives the reason.
            _ = try? store.reader.acceptedBlob(at: place)
            return
        }
        guard let bytes = try store.reader.head(at: place, "reseal") else { return }
        do throws(StoreError) {
            store.reader.acknowledge(try store.reader.keys.verifyHeader(bytes, "reseal", place))
        } catch {
            if error.code != .locked { throw error }
        }
    }

    // MARK: The file

    /// Creates the new file. A record's file has its store's mode and group; any other keeps its own.
    private func make(_ old: OldBlob, _ file: FileAttributes) throws(StoreError) -> NewBlob {
        try requireOwn(file, old.path)
        let sharing = store.container.sharing
        let isRecord = old.header.header.kind == .record
        let mode = isRecord ? sharing.fileMode : file.mode & 0o777
        let group = isRecord ? sharing.groupID : file.gid
        return try StoreError.onFiles("reseal", old.path) { () throws(FileError) in
            try NewBlob(old.path, in: root, size: file.size, mode: mode, group: group)
        }
    }

    /// Throws if the new file, which belongs to the rotating user, would be inaccessible to the old file's owner.
    private func requireOwn(_ file: FileAttributes, _ path: String) throws(StoreError) {
        guard file.uid != geteuid(), file.mode & 0o060 != 0o060 else { return }
        throw StoreError(
            .permissionDenied, "reseal", path,
            "Only the user with the number \(file.uid) can write it.",
            advice: "Rotate as that user as well, or share it first: chmod g+rw.")
    }

    /// Checked right before the rename: a file that was put in place meanwhile is newer than the copy, and a lock whose
    /// file was replaced excludes no other program.
    private func isStillStored(_ old: OpenedBlob, _ lock: borrowing HeldLock?) throws(StoreError) -> Bool {
        let isLocked =
            switch lock {
            case .some(let lock): lock.isStillNamed()
            case .none: true
            }
        let now = try StoreError.onFiles("reseal", old.path) { () throws(FileError) in try root.attributes(old.path) }
        return isLocked && now.isSameFile(as: old.attributes) && now.size == old.attributes.size
            && now.modifiedNanoseconds == old.attributes.modifiedNanoseconds
    }
}

/// The identity of a file's blob at one moment: the same name may later denote another one.
struct BlobIdentity: Hashable {
    let device: UInt64
    let inode: UInt64
    let size: Int64
    let modifiedNanoseconds: Int64
    let commitment: Commitment

    /// Creates the identity of a blob in a backend.
    init(_ version: BlobVersion) {
        (device, inode, size, modifiedNanoseconds) = (0, 0, 0, 0)
        commitment = Commitment(bytes: version.bytes.withUnsafeBytes { Bytes32($0) })
    }

    init(_ file: FileAttributes, _ commitment: Commitment) {
        device = file.device
        inode = file.inode
        size = file.size
        modifiedNanoseconds = file.modifiedNanoseconds
        self.commitment = commitment
    }
}

/// A blob's file, held open: a version that is replaced meanwhile stays readable. Nothing about it is authentic.
final class OpenedBlob: Sendable {
    let path: String
    let attributes: FileAttributes
    private let descriptor: Descriptor

    var size: Int { Int(attributes.size) }

    init(_ path: String, in root: Directory) throws(FileError) {
        self.path = path
        let descriptor = try root.openForReading(path)
        attributes = try descriptor.attributes()
        self.descriptor = descriptor
    }

    /// Returns the header's bytes, or fewer of a shorter file.
    func head() throws(FileError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: min(size, BlobLayout.headerSize))
        var span = bytes.mutableSpan
        try span.withUnsafeMutableBytes { buffer throws(FileError) in try read(at: 0, into: buffer) }
        return bytes
    }

    func read(at offset: Int, into buffer: UnsafeMutableRawBufferPointer) throws(FileError) {
        let count = try descriptor.pread(into: buffer, at: Int64(offset))
        // The file was truncated while it was open, by a program that does not replace files whole.
        if count < buffer.count { throw FileError(.io, operation: "read", path: descriptor.path) }
    }
}
