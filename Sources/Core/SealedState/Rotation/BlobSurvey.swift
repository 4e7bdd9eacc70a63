internal import AppGroups
internal import CryptoPrimitives
internal import Glibc
internal import KeyVault
internal import SealedBackends
internal import Sealing
internal import SharedFiles

/// A file of the container that may be a sealed blob of the group.
struct SurveyedBlob {
    /// The path below the container; for a blob in the trash the whole path.
    var path: String
    /// The record whose place it is in; the blob itself may be another one.
    let place: RecordPlace?
    /// The verified header, wherever the blob is stored; or the reason why it could not be verified.
    let header: Result<VerifiedHeader, StoreError>
    /// For a locked blob: the key that its header claims. Only that key can open it.
    var claimedKey: KeyID?
    /// The blob claims a key that the vault neither holds nor has destroyed: a backup may hold it, and a rotation by
    /// this program makes readers refuse its epoch.
    var isKeyMissing = false
    /// The file's attributes right before its header was read.
    let attributes: FileAttributes?
    /// The version of a blob that is in a backend; nil for a file.
    var version: BlobVersion?
    /// The file cannot be read because another user has closed it, in a place that no record can have.
    var mayBePassedOver = false

    /// A record of a backend is at no path of the container.
    var isInQuarantine: Bool { version == nil && SealedBlobScan.isInQuarantine(path) }

    /// Returns the context in which a reader would open it; nil for a blob that no reader accepts at its path.
    func context(in group: AppGroup) -> BlobContext? {
        guard case .success(let verified) = header else { return nil }
        if verified.header.kind == .stream { return BlobContext(streamOf: group, tagged: verified.header.nameTag) }
        if let (lane, first) = mail(in: group) {
            return lane.coverContext.nameTag == verified.header.nameTag && first == verified.header.sequence
                ? lane.coverContext : nil
        }
        return place.flatMap { $0.context.nameTag == verified.header.nameTag ? $0.context : nil }
    }
}

extension SurveyedBlob {
    /// Returns the producer whose messages the file has, and the first number, if its path is that of a segment.
    func mail(in group: AppGroup) -> (lane: MailLane, first: UInt64)? {
        version == nil ? MailSegmentName.place(of: path, in: group) : nil
    }

    /// Returns the class of the key that it was sealed under.
    func protection(in store: SealedStore) -> ProtectionClass {
        guard case .success(let verified) = header else { return .afterFirstUnlock }
        return store.vault.keyring.protection(of: verified.header.keyID)
    }
}

/// Visits every sealed blob of a group's container and verifies its header.
struct BlobSurvey {
    let store: SealedStore
    private let scan: SealedBlobScan
    private let root: Directory
    private let isOfStore: Bool

    /// - Parameter root: The directory to search; the store's container unless stated.
    init(_ store: SealedStore, in root: Directory? = nil) {
        self.store = store
        self.root = root ?? store.container.root
        isOfStore = root == nil
        scan = SealedBlobScan(group: store.group.identifier)
    }

    /// Visits every file that is, or may be, a sealed blob of the group; files in quarantine only on demand.
    func visit(
        includingQuarantine: Bool = false, _ body: (SurveyedBlob) throws(StoreError) -> Void
    ) throws(StoreError) {
        let keys = try currentKeyring()
        var owners = EntryOwners(root: root)
        try root.walk(maximumDepth: SealedBlobScan.maximumDepth) { entry throws(StoreError) in
            let owner = owners.owner(of: entry)
            guard scan.includes(entry, andQuarantine: includingQuarantine),
                let prefix = scan.prefix(of: entry, in: root), let blob = blob(entry, prefix, owner, keys)
            else { return }
            try body(blob)
        }
        do throws(StoreError) {
            if let backend = try backend() { try visitBackend(backend, keys, body) } else { try visitUnnamed(body) }
        } catch {
            // A database in the trash that cannot be read may need any key.
            if isOfStore { throw error }
            try body(Self.unread(ContainerLayout.database, error.reason, advice: error.advice, cause: error))
        }
        // A walk through a missing container finds nothing, which is no valid result.
        guard store.isInPlace else { throw store.reader.moved(Self.searching, store.group.identifier) }
    }

    /// Visits a database that the container does not name: its records may need any key.
    private func visitUnnamed(_ body: (SurveyedBlob) throws(StoreError) -> Void) throws(StoreError) {
        for path in [ContainerLayout.database, ContainerLayout.movedDatabase]
        where (try? root.attributes(path))?.kind == .regular && !isWithoutRecords(path) {
            try body(
                Self.unread(
                    path, "It may have records, and the container does not name it.",
                    advice: "Use it, or set it aside: sealctl container backend sqlite or files. Or move it away."))
        }
    }

    /// Returns `true` for a database that this program can open, and that has no records.
    private func isWithoutRecords(_ path: String) -> Bool {
        guard path == ContainerLayout.database, let provider = store.options.backend, provider.name != nil else {
            return false
        }
        let known = ContainerBackend(of: store.group, in: root, sharing: (try? root.requireTrusted()) ?? .ownerOnly)
        return (try? known.data(of: provider, isNew: false).scan("", after: nil, limit: 1))?.isEmpty ?? false
    }

    private static func unread(
        _ path: String, _ reason: String, advice: String, cause: StoreError? = nil
    ) -> SurveyedBlob {
        SurveyedBlob(
            path: path, place: nil,
            header: .failure(StoreError(.file, "examine", path, reason, advice: advice, cause: cause)), attributes: nil)
    }

    private static let searching = "search the container of"
    private static let page = 1000

    /// The backend, if the records are not in files.
    private func backend() throws(StoreError) -> (any SealedBackend)? {
        if isOfStore { return store.reader.files == nil ? store.backend : nil }
        let sharing = (try? root.requireTrusted()) ?? .ownerOnly
        return try ContainerBackend(of: store.group, in: root, sharing: sharing).open(store.options.backend)
    }

    private func visitBackend(
        _ backend: any SealedBackend, _ keys: Keyring, _ body: (SurveyedBlob) throws(StoreError) -> Void
    ) throws(StoreError) {
        var last: BackendKey?
        while true {
            let heads = try StoreError.onBackend(Self.searching, store.group.identifier) { () throws(BackendError) in
                try backend.scan("", after: last, limit: Self.page)
            }
            for head in heads {
                if let blob = blob(head, keys) { try body(blob) }
            }
            guard heads.count == Self.page else { return }
            last = heads.last?.key
        }
    }

    private func blob(_ head: BlobHead, _ keys: Keyring) -> SurveyedBlob? {
        let path = head.key.name
        let place = (try? RecordName(stored: path)).map { RecordPlace($0, group: store.group.identifier) }
        var blob = SurveyedBlob(
            path: path, place: place, header: verified(path, head.bytes, keys), attributes: nil, version: head.version)
        if case .failure(let error) = blob.header {
            let claimed = try? UnverifiedHeader(parsing: head.bytes).claimed
            if error.code == .locked { blob.claimedKey = claimed?.keyID }
            blob.isKeyMissing =
                error.code == .unknownKey && (claimed?.epoch ?? 0) >= lowestLosableEpoch(keys)
                && !store.reader.keys.isKeyDestroyed(of: head.bytes)
        }
        return blob
    }

    private func blob(
        _ entry: WalkEntry, _ prefix: Result<SealedBlobScan.Prefix, FileError>, _ owner: UInt32?, _ keys: Keyring
    ) -> SurveyedBlob? {
        switch prefix {
        case .success(let prefix): header(of: entry, prefix, keys)
        case .failure where !entry.isText:
            closed(entry, owner, StoreError(.file, "examine", entry.path, "Its name is not UTF-8."))
        case .failure(let error): refused(entry, owner, error)
        }
    }

    private func refused(_ entry: WalkEntry, _ owner: UInt32?, _ error: FileError) -> SurveyedBlob {
        let reason = StoreError(error, "examine", entry.path)
        // Any other failure is the system's or this process's own, and says nothing about the file's owner.
        let isClosed = [.permissionDenied, .tooDeep, .invalidName, .unsafePath].contains(error.code)
        return isClosed ? closed(entry, owner, reason) : unknown(entry, reason)
    }

    /// Returns a blob for a file that cannot be read. Any user with write access to the container can create one that
    /// other users cannot read. It must not block a rotation forever, unless it may be a record, or belongs to this
    /// user or root.
    private func closed(_ entry: WalkEntry, _ owner: UInt32?, _ error: StoreError) -> SurveyedBlob {
        var blob = unknown(entry, error)
        let isForeign = owner.map { $0 != 0 && $0 != geteuid() } ?? false
        blob.mayBePassedOver = isForeign && !RecordPaths.mayHold(entry)
        return blob
    }

    /// Returns a blob with its header; a file of a newer version, or one that cannot be read, is not considered
    /// harmless.
    private func header(of entry: WalkEntry, _ prefix: SealedBlobScan.Prefix, _ keys: Keyring) -> SurveyedBlob? {
        let path = entry.path
        let place = RecordPaths.place(of: path, in: store.group)
        // A move has set it aside; its records may need any key.
        if SealedBlobScan.isInQuarantine(path),
            [ContainerLayout.database, ContainerLayout.movedDatabase].contains(where: { path.hasSuffix("/" + $0) })
        {
            return unknown(entry, StoreError(.file, "examine", path, "It is a database of records."))
        }
        let claimed: BlobHeader
        switch prefix.finding {
        case .blob(let header) where header.kind != .vault: claimed = header
        case .newer(let error): return unknown(entry, StoreError(error, "examine", path))
        // In a record's place it is a damaged record; elsewhere it is an unrelated file.
        case .other(let error) where error.code != .unsupportedFormat && place != nil:
            return unknown(entry, StoreError(error, "examine", path))
        default: return nil
        }
        var blob = SurveyedBlob(
            path: path, place: place, header: verified(path, prefix.bytes, keys), attributes: entry.attributes)
        if case .failure(let error) = blob.header {
            if error.code == .locked { blob.claimedKey = claimed.keyID }
            blob.isKeyMissing =
                error.code == .unknownKey && claimed.epoch >= lowestLosableEpoch(keys)
                && !store.reader.keys.isKeyDestroyed(of: prefix.bytes)
        }
        return blob
    }

    /// Returns the lowest epoch of blobs that a backup's key can no longer open after a rotation by this program.
    ///
    /// A blob of an epoch that a completed rotation has ended cannot be used under any key, and a locked vault rotates
    /// *after first unlock* alone. The list of names does not determine such a blob's class: a backup also adds names.
    private func lowestLosableEpoch(_ keys: Keyring) -> UInt32 {
        let rotatesBoth = (try? store.vault.isUnlocked()) ?? true
        return rotatesBoth ? keys.lowestUsableEpoch : keys.minimumEpoch(of: .afterFirstUnlock)
    }

    private func unknown(_ entry: WalkEntry, _ error: StoreError) -> SurveyedBlob {
        SurveyedBlob(path: entry.path, place: nil, header: .failure(error), attributes: entry.attributes)
    }

    private func verified(_ path: String, _ bytes: [UInt8], _ keys: Keyring) -> Result<VerifiedHeader, StoreError> {
        do throws(SealingError) { return .success(try verify(bytes, keys)) } catch {
            guard error.code == .unknownKey || error.code == .wrongEpoch else {
                return .failure(StoreError(error, "examine", path))
            }
        }
        // Another program may have rotated since the walk began, or the key is fetched for each use.
        let keys: Keyring
        do throws(StoreError) { keys = try store.reader.keys.keyring(toOpen: bytes, "examine", path) } catch {
            return .failure(error)
        }
        do throws(SealingError) { return .success(try verify(bytes, keys)) } catch {
            return .failure(
                store.reader.keys.destroyedKey(of: bytes, "examine", path) ?? StoreError(error, "examine", path))
        }
    }

    /// Verifies a header without its place: a blob that was moved still belongs to its epoch.
    private func verify(_ bytes: [UInt8], _ keys: Keyring) throws(SealingError) -> VerifiedHeader {
        try bytes.withRawBytes { bytes throws(SealingError) in
            try BlobOpener.verifyHeader(bytes, context: nil, keys: keys)
        }
    }

    private func currentKeyring() throws(StoreError) -> Keyring {
        do throws(VaultError) { return try store.vault.currentKeyring() } catch {
            throw StoreError(error, "examine the keys of")
        }
    }
}

/// The owners of a walk's entries; an entry that cannot be examined gets its directory's owner.
struct EntryOwners {
    /// The owners of the directories of the current path, the first directory's first.
    private var directories: [UInt32?]

    init(root: Directory) { directories = [(try? root.attributes("."))?.uid] }

    /// Returns the owner of an entry. Call it for each entry, in the order of the walk.
    mutating func owner(of entry: WalkEntry) -> UInt32? {
        let depth = max(entry.depth, 0)
        let above = depth > 0 && depth <= directories.count ? directories[depth - 1] : nil
        let owner = entry.attributes?.uid ?? above
        if entry.kind == .directory, depth > 0, depth <= directories.count {
            directories.removeSubrange(depth...)
            directories.append(owner)
        }
        return owner
    }
}

/// The paths of a container that are places of records.
enum RecordPaths {
    private static let records = ContainerLayout.records + "/"

    /// Returns the record whose place a path is, if it is one.
    static func place(of path: String, in group: AppGroup) -> RecordPlace? {
        RecordFile.name(of: path).map { RecordPlace($0, group: group.identifier) }
    }

    /// Returns `true` if an entry is a record's place, or a directory with such places below it. An entry that cannot
    /// be examined may be either.
    static func mayHold(_ entry: WalkEntry) -> Bool {
        // A record's name is text, and so is every directory above it.
        let isText = entry.path.utf8.suffix(entry.nameBytes.count).elementsEqual(entry.nameBytes)
        guard isText else { return false }
        if entry.kind != .directory, RecordFile.name(of: entry.path) != nil { return true }
        return entry.kind != .regular && mayHaveBelow(entry.path)
    }

    private static func mayHaveBelow(_ directory: String) -> Bool {
        if directory == "." { return true }
        if RecordFile.directories.contains(where: { ($0 + "/").hasPrefix(directory + "/") }) { return true }
        guard directory.hasPrefix(records) else { return false }
        return (try? RecordName(stored: directory.dropFirst(records.count) + "/x")) != nil
    }
}
