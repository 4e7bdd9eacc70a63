internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import SealedBackends
internal import SharedFiles
internal import Synchronization

/// Blobs as files in the container, at the paths of `RecordFile`.
///
/// The mode and unix group of a new file follow from the container's sharing, never from the umask or from a file that
/// another program created in the meantime.
struct FileBackend: SealedBackend {
    let traits = BackendTraits()
    private let container: GroupContainer
    private let root: Directory
    private let anchor: ContainerAnchor
    private let sharing: Sharing
    private let quota: QuotaGate
    private let reserve: DeletionReserve

    /// - Parameter anchor: The container's place.
    init(_ container: GroupContainer, at anchor: ContainerAnchor) {
        self.container = container
        self.anchor = anchor
        root = container.root
        quota = container.quotaGate
        reserve = DeletionReserve(in: container.root, prefix: ContainerLayout.reservePrefix)
        sharing = container.sharing
    }

    func head(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        try Self.present("read", key) { () throws(FileError) in
            BlobHead(key, bytes: try root.readPrefix(location(of: key).path, count: BlobHead.size).bytes)
        }
    }

    func read(_ key: BackendKey, limit: Int) throws(BackendError) -> (any HeldBlob)? {
        do throws(FileError) {
            let file = try location(of: key)
            let (directory, path) = try anchor.place(of: file)
            return HeldFile(try directory.hold(path, limit: limit), file, anchor)
        } catch {
            if error.code == .notFound { return nil }
            throw BackendError(error, "read", key)
        }
    }

    func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError) {
        guard let write = writes.first else { return }
        guard writes.count == 1 else {
            throw BackendError(.unsupported, "write", write.key.name, "Files are written one at a time.")
        }
        do throws(FileError) {
            let path = try location(of: write.key).path
            switch write.change {
            case .put(let blob): try replace(path, with: blob, durability, isDeletion: write.isDeletion)
            case .remove: try remove(path, durability)
            case .nothing: break
            }
        } catch {
            throw BackendError(error, "write", write.key)
        }
    }

    /// Writes nothing that is not decided when it returns, so only the present file is left to be synced.
    func settle(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        let head = try Self.present("make durable", key) { () throws(FileError) in
            try root.makeDurable(location(of: key).path)
            return true
        }
        return head == nil ? nil : try self.head(key)
    }

    func scan(_ prefix: String, after key: BackendKey?, limit: Int) throws(BackendError) -> [BlobHead] {
        let names: [String]
        do throws(FileError) { names = try self.names() } catch { throw BackendError(error, "list", .init(prefix)) }
        return heads(of: names, prefix, after: key, limit: limit)
    }

    func heads(of names: [String], _ prefix: String, after key: BackendKey?, limit: Int) -> [BlobHead] {
        let keys = names.lazy.filter { $0.hasPrefix(prefix) }.map { BackendKey($0) }
            .filter { name in key.map { $0 < name } ?? true }
        var heads: [BlobHead] = []
        for key in keys {
            if heads.count == limit { break }
            // A file that cannot be read is listed; one that was removed meanwhile is not.
            guard let head = Result(catching: { () throws(BackendError) in try head(key) }).listed(as: key) else {
                continue
            }
            heads.append(head)
        }
        return heads
    }

    func changes(
        after cursor: BackendCursor?, _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) -> any BackendChanges {
        try FileChanges(container, at: anchor, isResync: cursor != nil, notify)
    }

    func preserve(_ key: BackendKey, reason: String, limit: Int) throws(BackendError) -> String? {
        do throws(FileError) { return try quarantine(key, reason, limit) } catch {
            throw BackendError(error, "keep in quarantine", key)
        }
    }

    func keepReserve() { reserve.keep() }

    /// The container has another backend by now.
    var isNamed: Bool { (try? root.exists(ContainerLayout.backend)) ?? false }

    private func location(of key: BackendKey) throws(FileError) -> FileLocation {
        if let file = key.file { return file }
        guard let name = try? RecordName(stored: key.name) else {
            throw FileError(.invalidName, operation: "find the file of", path: key.name)
        }
        return FileLocation(RecordFile.path(of: name), container: "")
    }

    /// Returns nil if there is no file.
    private static func present<Result>(
        _ operation: String, _ key: BackendKey, _ body: () throws(FileError) -> Result
    ) throws(BackendError) -> Result? {
        do throws(FileError) { return try body() } catch {
            if error.code == .notFound { return nil }
            throw BackendError(error, operation, key)
        }
    }

    private func replace(
        _ path: String, with blob: [UInt8], _ durability: Durability, isDeletion: Bool
    ) throws(FileError) {
        try quota.admit(path, size: blob.count, isDeletion: isDeletion)
        try blob.withRawBytes { blob throws(FileError) in
            do throws(FileError) {
                try put(blob, path, durability, isDeletion: isDeletion)
            } catch {
                guard error.code == .notFound else { throw error }
                try makeDirectory(Self.parent(of: path))
                try put(blob, path, durability, isDeletion: isDeletion)
            }
        }
        // Removing a setting writes the rest of its suite.
        if RecordFile.isSuite(path) { reserve.expect(blob.count) }
    }

    private func put(
        _ blob: UnsafeRawBufferPointer, _ path: String, _ durability: Durability, isDeletion: Bool
    ) throws(FileError) {
        if isDeletion {
            return try reserve.replace(
                path, with: blob, mode: sharing.fileMode, group: sharing.groupID, durability: durability)
        }
        try root.replace(
            path, with: blob, mode: sharing.fileMode, group: sharing.groupID, durability: durability)
    }

    private func remove(_ path: String, _ durability: Durability) throws(FileError) {
        do throws(FileError) { try root.remove(path, durability: durability) } catch {
            if error.code != .notFound { throw error }
        }
    }

    private func quarantine(_ key: BackendKey, _ reason: String, _ limit: Int) throws(FileError) -> String? {
        let path = try location(of: key).path
        let name = QuarantineName(of: key.name, try root.attributes(path))
        if try root.exists(name.path) { return name.path }
        try makeDirectory(ContainerLayout.quarantine)
        let kept = try root.directory(ContainerLayout.quarantine).entries()
        guard kept.count(where: { name.isOfSameRecord($0.name) }) < QuarantineName.maximumPerRecord else { return nil }
        do throws(FileError) {
            try root.link(path, as: name.path)
        } catch {
            if error.code != .alreadyExists { try copy(path, as: name.path, limit: limit) }
        }
        note(reason, about: key.name, beside: name)
        return name.path
    }

    /// Copies a file that gets no second name: another user's where the system protects those, a file with the maximum
    /// number of links, or a file of another file system.
    private func copy(_ path: String, as name: String, limit: Int) throws(FileError) {
        let bytes = try root.read(path, limit: limit)
        try root.replace(name, with: bytes, mode: sharing.fileMode, group: sharing.groupID, durability: .durable)
    }

    /// Best effort: the blob matters more, and it is already kept.
    private func note(_ reason: String, about record: String, beside name: QuarantineName) {
        let text = QuarantineNote.text(record: record, reason: reason, at: Date())
        try? root.replace(
            name.notePath, with: Array(text.utf8), mode: sharing.fileMode, group: sharing.groupID,
            durability: .unsynced)
    }

    /// - Parameter passOver: Returns `true` for an entry whose error does not end the list.
    func names(passingOver passOver: (WalkEntry) -> Bool = { _ in false }) throws(FileError) -> [String] {
        var names: [String] = []
        try walk(ContainerLayout.records, maximumDepth: RecordName.maximumDepth) { entry throws(FileError) in
            // A partial list must not pass for a whole one.
            if let error = entry.error, !entry.isOutside, !passOver(entry) { throw error }
            // Any entry with a record's file name is listed, also a link, a pipe or a directory: reading it reports its
            // type.
            guard entry.path.hasSuffix(ContainerLayout.recordSuffix) else { return }
            let name = String(entry.path.dropLast(ContainerLayout.recordSuffix.count))
            let isElsewhere = name.hasPrefix(DefaultsSuite.namePrefix) || name.hasPrefix(SealedFileName.namePrefix)
            if !isElsewhere { names.append(name) }
        }
        try walk(ContainerLayout.files, maximumDepth: SealedFileName.maximumDepth) { entry throws(FileError) in
            if let error = entry.error, !entry.isOutside, !passOver(entry) { throw error }
            guard let name = RecordFile.name(of: "\(ContainerLayout.files)/\(entry.path)") else { return }
            names.append(name.text)
        }
        let preferences = GroupContainer.StandardDirectory.preferences.relativePath
        try walk(preferences, maximumDepth: 1) { entry throws(FileError) in
            if entry.depth == 0, let error = entry.error { throw error }
            // Other programs' files are stored here as well: only a file with a suite's name is a suite.
            guard let name = RecordFile.name(of: "\(preferences)/\(entry.path)") else { return }
            names.append(name.text)
        }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func walk(
        _ path: String, maximumDepth: Int, _ visit: (WalkEntry) throws(FileError) -> Void
    ) throws(FileError) {
        let directory: Directory
        do throws(FileError) { directory = try root.directory(path) } catch {
            guard error.code == .notFound && anchor.isInPlace else { throw error }
            return
        }
        // Not into the contents of sealed files, which may be many.
        let contents = path == ContainerLayout.files ? ContainerLayout.contentsName : nil
        try directory.walk(maximumDepth: maximumDepth, omitting: contents, visit)
    }

    /// Creates a directory. If its name could not be synced the write fails with the old value in place, so the error
    /// is not `durabilityUnknown`.
    private func makeDirectory(_ path: String) throws(FileError) {
        do throws(FileError) {
            _ = try root.makeDirectory(path, sharing: sharing)
        } catch {
            guard error.code == .durabilityUnknown, let number = error.errno else { throw error }
            throw FileError(errno: number, operation: error.operation, path: error.path)
        }
    }

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }
}

/// The path of a record's file below a container, and the record of a path.
///
/// Record `accounts/ada` is `accounts/ada.sealed` below `ContainerLayout.records`. A suite of defaults, the reserved
/// record `_sealed/defaults/<suite>`, is `Library/Preferences/<suite>.sealed`, where users expect settings. The manifest
/// of a sealed file, the reserved record `_sealed/files/<name>`, is `Files/<name>.sealed`.
package enum RecordFile {
    private static let records = ContainerLayout.records + "/"
    private static let preferences = GroupContainer.StandardDirectory.preferences.relativePath + "/"
    private static let suites = DefaultsSuite.namePrefix
    private static let files = ContainerLayout.files + "/"
    private static let manifests = SealedFileName.namePrefix

    /// The path of a record's file below the container.
    package static func path(of name: RecordName) -> String {
        let text = name.text
        var (path, prefix) = (records, "")
        if text.utf8.first == reservedStart {
            if text.utf8.starts(with: suites.utf8) { (path, prefix) = (preferences, suites) }
            if text.utf8.starts(with: manifests.utf8) { (path, prefix) = (files, manifests) }
        }
        // Concatenated in one allocation.
        path.reserveCapacity(path.utf8.count + text.utf8.count + ContainerLayout.recordSuffix.utf8.count)
        if prefix.isEmpty { path += text } else { path += text.dropFirst(prefix.utf8.count) }
        path += ContainerLayout.recordSuffix
        return path
    }

    private static let reservedStart = UInt8(ascii: "_")

    /// Returns the record of a path; nil for a path that no record's file can have.
    package static func name(of path: String) -> RecordName? {
        guard path.hasSuffix(ContainerLayout.recordSuffix) else { return nil }
        let stem = path.dropLast(ContainerLayout.recordSuffix.count)
        if stem.hasPrefix(preferences) {
            return try? DefaultsSuite(String(stem.dropFirst(preferences.count))).recordName
        }
        if stem.hasPrefix(files) { return try? SealedFileName(String(stem.dropFirst(files.count))).recordName }
        guard stem.hasPrefix(records), let name = try? RecordName(stored: String(stem.dropFirst(records.count))) else {
            return nil
        }
        // A suite or a manifest is stored elsewhere: no reader opens a file here under its name.
        return name.text.hasPrefix(suites) || name.text.hasPrefix(manifests) ? nil : name
    }

    /// Returns `true` for the path of a suite of defaults.
    static func isSuite(_ path: String) -> Bool { path.utf8.starts(with: preferences.utf8) }

    /// The directories that contain files of records: a file elsewhere is no record's.
    package static let directories = [
        ContainerLayout.records, GroupContainer.StandardDirectory.preferences.relativePath, ContainerLayout.files,
    ]
}

extension Result where Success == BlobHead?, Failure == BackendError {
    /// The entry of a list for a blob whose beginning was read or not; nil without a blob.
    fileprivate func listed(as key: BackendKey) -> BlobHead? {
        switch self {
        case .success(let head): head
        case .failure: BlobHead(key, bytes: [])
        }
    }
}

extension WalkEntry {
    /// There are no records: beyond the depth, or it was removed meanwhile.
    fileprivate var isOutside: Bool { error?.code == .tooDeep || error?.code == .notFound }
}

extension BackendError {
    /// Converts the error of a file.
    init(_ error: FileError, _ operation: String, _ key: BackendKey) {
        let code: Code =
            switch error.code {
            case .tooLarge: .tooLarge
            case .notRegularFile, .unsafePath: .notABlob
            case .durabilityUnknown: .durabilityUnknown
            case .noSpace: .full
            case .quotaExceeded: .quotaExceeded
            case .readOnly: .readOnly
            case .permissionDenied: .denied
            case .notFound: .gone
            case .lockTimeout, .lockFileReplaced, .overtaken: .timeout
            default: .io
            }
        self.init(
            code, operation, key.name, error.sentence, advice: error.advice, errno: error.errno, cause: error)
    }
}

/// Changes of the files of records.
///
/// A kernel's notification says which directory to list again; only the files that differ are reported. The library's
/// own records are not reported: their files are watched one by one.
final class FileChanges: BackendChanges {
    private struct State {
        var tree: RecordTree
        var isResync: Bool
        /// The changed records that were not reported yet.
        var waiting: Set<String> = []
    }

    private let container: GroupContainer
    private let anchor: ContainerAnchor
    private let pending: PendingChanges
    private let state: Mutex<State>

    init(
        _ container: GroupContainer, at anchor: ContainerAnchor, isResync: Bool,
        _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) {
        self.container = container
        self.anchor = anchor
        pending = PendingChanges(notify)
        var tree = RecordTree(pending)
        do throws(StoreError) { _ = try tree.begin(in: container, isElsewhere: true) } catch {
            throw Self.failure(error, container)
        }
        state = Mutex(State(tree: tree, isResync: isResync))
        if isResync { notify() }
    }

    func next(limit: Int) throws(BackendError) -> BackendNews {
        guard anchor.isInPlace else {
            throw BackendError(.gone, "watch", container.path, "The container was moved away or replaced.")
        }
        let marks = pending.take()
        return try state.withLock { state throws(BackendError) in
            do throws(StoreError) {
                state.waiting.formUnion(try state.tree.news(in: marks.paths, of: container))
            } catch {
                // A part may have been listed: its changes are not reported twice.
                state.isResync = true
                throw Self.failure(error, container)
            }
            let keys = state.waiting.sorted().prefix(max(0, limit))
            state.waiting.subtract(keys)
            defer { state.isResync = false }
            return BackendNews(
                keys: keys.map { BackendKey($0) }, isResync: state.isResync, isPartial: !state.waiting.isEmpty)
        }
    }

    private static func failure(_ error: StoreError, _ container: GroupContainer) -> BackendError {
        BackendError(
            error.code == .containerMissing ? .gone : .io, error.operation, container.path, error.reason,
            advice: error.advice, errno: error.errno, cause: error)
    }
}
