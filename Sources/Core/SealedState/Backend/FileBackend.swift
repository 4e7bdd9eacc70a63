internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
package import SharedFiles

/// Blobs as files in the container, at the paths of `RecordFile`.
///
/// The mode and unix group of a new file follow from the container's sharing, never from the umask or from a file that
/// another program created in the meantime.
struct FileBackend: BlobBackend {
    private let root: Directory
    private let anchor: ContainerAnchor
    private let sharing: Sharing
    private let locks: LockFile
    private let leases: LockFile
    private let quota: QuotaGate
    private let reserve: DeletionReserve

    init(container: GroupContainer) {
        root = container.root
        anchor = ContainerAnchor(of: root)
        quota = container.quotaGate
        reserve = DeletionReserve(in: container.root, prefix: ContainerLayout.reservePrefix)
        sharing = container.sharing
        locks = LockFile(
            directory: container.root, name: ContainerLayout.lockFile, mode: container.sharing.fileMode)
        leases = LockFile(
            directory: container.root, name: ContainerLayout.leaseFile, mode: container.sharing.fileMode)
    }

    func read(_ address: BlobAddress, limit: Int) throws(FileError) -> [UInt8] {
        let (directory, path) = try anchor.place(of: address)
        return try directory.read(path, limit: limit)
    }

    func readPrefix(_ address: BlobAddress, count: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try root.readPrefix(address.path, count: count).bytes
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    func hold(_ address: BlobAddress) throws(FileError) -> any HeldBlob {
        try HeldFile(address.path, in: root, beside: anchor)
    }

    func replace(
        _ address: BlobAddress, with blob: [UInt8], durability: Durability, isDeletion: Bool
    ) throws(FileError) {
        let path = address.path
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
        if address.name.text.hasPrefix(DefaultsSuite.namePrefix) { reserve.expect(blob.count) }
    }

    func keepReserve() { reserve.keep() }

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

    func remove(_ address: BlobAddress) throws(FileError) { try root.remove(address.path, durability: .durable) }

    func makeDurable(_ address: BlobAddress) throws(FileError) { try root.makeDurable(address.path) }

    func quarantine(_ address: BlobAddress, reason: String, copyLimit: Int) throws(FileError) -> String? {
        let name = QuarantineName(of: address.name, try root.attributes(address.path))
        if try root.exists(name.path) { return name.path }
        try makeDirectory(ContainerLayout.quarantine)
        let kept = try root.directory(ContainerLayout.quarantine).entries()
        guard kept.count(where: { name.isOfSameRecord($0.name) }) < QuarantineName.maximumPerRecord else { return nil }
        do throws(FileError) {
            try root.link(address.path, as: name.path)
        } catch {
            if error.code != .alreadyExists { try copy(address.path, as: name.path, limit: copyLimit) }
        }
        note(reason, about: address.name, beside: name)
        return name.path
    }

    /// Copies a file that gets no second name: another user's where the system protects those, a file with the maximum
    /// number of links, or a file of another file system.
    private func copy(_ path: String, as name: String, limit: Int) throws(FileError) {
        let bytes = try root.read(path, limit: limit)
        try root.replace(name, with: bytes, mode: sharing.fileMode, group: sharing.groupID, durability: .durable)
    }

    /// Best effort: the blob matters more, and it is already kept.
    private func note(_ reason: String, about record: RecordName, beside name: QuarantineName) {
        let text = QuarantineNote.text(record: record.text, reason: reason, at: Date())
        try? root.replace(
            name.notePath, with: Array(text.utf8), mode: sharing.fileMode, group: sharing.groupID,
            durability: .unsynced)
    }

    func names() throws(FileError) -> [String] {
        var names: [String] = []
        try walk(ContainerLayout.records, maximumDepth: RecordName.maximumDepth) { entry throws(FileError) in
            // A partial list must not pass for a whole one; beyond the depth there are no records.
            if let error = entry.error, error.code != .tooDeep && error.code != .notFound { throw error }
            // Any entry with a record's file name is listed, also a link, a pipe or a directory: reading it reports its
            // type.
            guard entry.path.hasSuffix(ContainerLayout.recordSuffix) else { return }
            let name = String(entry.path.dropLast(ContainerLayout.recordSuffix.count))
            if !name.hasPrefix(DefaultsSuite.namePrefix) { names.append(name) }
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
            guard error.code == .notFound && isInPlace else { throw error }
            return
        }
        try directory.walk(maximumDepth: maximumDepth, visit)
    }

    var isInPlace: Bool { anchor.isInPlace }

    var containerNumber: UInt64 { anchor.number }

    func lock(_ address: BlobAddress, timeout: Duration, isCancelled: (() -> Bool)?) throws(FileError) -> HeldLock {
        try locks.acquire(address.lock, .exclusive, timeout: timeout, isCancelled: isCancelled)
    }

    func presence(_ range: LockRange) throws(FileError) -> HeldLock {
        try leases.acquire(range, .exclusive, timeout: .zero)
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
/// record `_sealed/defaults/<suite>`, is `Library/Preferences/<suite>.sealed`, where users expect settings.
package enum RecordFile {
    private static let records = ContainerLayout.records + "/"
    private static let preferences = GroupContainer.StandardDirectory.preferences.relativePath + "/"
    private static let suites = DefaultsSuite.namePrefix

    /// The path of a record's file below the container.
    package static func path(of name: RecordName) -> String {
        let text = name.text
        let isSuite = text.utf8.starts(with: suites.utf8)
        // Concatenated in one allocation.
        var path = isSuite ? preferences : records
        path.reserveCapacity(path.utf8.count + text.utf8.count + ContainerLayout.recordSuffix.utf8.count)
        if isSuite { path += text.dropFirst(suites.count) } else { path += text }
        path += ContainerLayout.recordSuffix
        return path
    }

    /// Returns the record of a path; nil for a path that no record's file can have.
    package static func name(of path: String) -> RecordName? {
        guard path.hasSuffix(ContainerLayout.recordSuffix) else { return nil }
        let stem = path.dropLast(ContainerLayout.recordSuffix.count)
        if stem.hasPrefix(preferences) {
            return try? DefaultsSuite(String(stem.dropFirst(preferences.count))).recordName
        }
        guard stem.hasPrefix(records), let name = try? RecordName(stored: String(stem.dropFirst(records.count))) else {
            return nil
        }
        // A suite is stored elsewhere: no reader opens a file here under its name.
        return name.text.hasPrefix(suites) ? nil : name
    }

    /// The directories that contain files of records: a file elsewhere is no record's.
    package static let directories = [
        ContainerLayout.records, GroupContainer.StandardDirectory.preferences.relativePath,
    ]
}

/// A record's place in a backend.
package struct BlobAddress: Hashable, Sendable {
    /// The record's checked name.
    package let name: RecordName
    /// The file's path below the container; for backends of files.
    package let path: String
    /// The name of the container's directory, and the path below its parent, joined once for readings.
    let container: String
    let placedPath: String
    /// The lock's byte range in the container's lock file.
    package let lock: LockRange

    init(_ name: RecordName, lock: LockRange, container: String) {
        self.name = name
        self.lock = lock
        self.container = container
        path = RecordFile.path(of: name)
        placedPath = container + "/" + path
    }
}

/// A store of sealed blobs. A backend sees sealed bytes only; it cannot open them.
package protocol BlobBackend: Sendable {
    /// Returns the blob, or throws `FileError` `.notFound`; `.tooLarge` before anything is allocated for it.
    func read(_ address: BlobAddress, limit: Int) throws(FileError) -> [UInt8]
    /// Returns up to `count` bytes from the blob's start; nil if there is no blob.
    func readPrefix(_ address: BlobAddress, count: Int) throws(FileError) -> [UInt8]?
    /// Holds the stored blob, to check later that it is still in place; throws `FileError` `.notFound` if there is no
    /// blob.
    func hold(_ address: BlobAddress) throws(FileError) -> any HeldBlob
    /// Replaces the stored blob, whole or not at all. Called with the address's lock held.
    ///
    /// - Parameter isDeletion: The blob is a tombstone, or a suite of settings with fewer settings. No quota refuses
    ///   it, and if the disk is full it uses the space that is reserved for deletions.
    func replace(
        _ address: BlobAddress, with blob: [UInt8], durability: Durability, isDeletion: Bool
    ) throws(FileError)
    /// Reserves space for the next deletion, after a write that succeeded. Needs no lock and never fails: without a
    /// reserve a deletion needs free space.
    func keepReserve()
    /// Removes the stored blob durably. Called with the address's lock held.
    func remove(_ address: BlobAddress) throws(FileError)
    /// Makes the stored blob durable, for any writer's blob.
    func makeDurable(_ address: BlobAddress) throws(FileError)
    /// Keeps the stored blob under a second name, where no reader takes it for a record, with a note of the reason
    /// beside it. The original is never moved and stays until it is replaced; the same file is kept once. Needs no
    /// lock: without it, the blob stored at that moment is kept.
    ///
    /// If the file gets no second name its bytes are copied.
    /// - Parameters:
    ///   - reason: The note's text, one or a few lines, without contents.
    ///   - copyLimit: The maximum size of a copy; a larger file throws `FileError` `.tooLarge`.
    /// - Returns: That name; nil if the record already has its maximum of kept blobs, which prevents filling the disk:
    ///   this one is then not kept.
    func quarantine(_ address: BlobAddress, reason: String, copyLimit: Int) throws(FileError) -> String?
    /// Returns the names of all records, in byte order; throws `FileError` `.notFound` if the container is missing.
    func names() throws(FileError) -> [String]
    /// The container that was opened is the one at its path. Otherwise its records are not absent, the container was
    /// moved away, removed or replaced.
    var isInPlace: Bool { get }
    /// Distinguishes the open container from others that this process has open.
    var containerNumber: UInt64 { get }
    /// Waits for the address's lock.
    func lock(_ address: BlobAddress, timeout: Duration, isCancelled: (() -> Bool)?) throws(FileError) -> HeldLock
    /// Takes the byte that shows that a lease's holder is alive, tried once; throws `FileError` `.lockTimeout` while it
    /// is held.
    func presence(_ range: LockRange) throws(FileError) -> HeldLock
}

/// A blob that was in a record's place at one moment, held to distinguish it from later ones.
package protocol HeldBlob: Sendable {
    /// The blob is still in place, unchanged. Checked before each use of data that was read from it.
    var isInPlace: Bool { get }
}
