internal import AppGroups
internal import CryptoPrimitives
internal import SharedFiles

/// Blobs as files below the container's `Records` directory: record `accounts/ada` is `accounts/ada.sealed`.
///
/// Modes and unix group of whatever it makes follow from how the container is shared, never from the umask or from what
/// somebody else made in between.
struct FileBackend: BlobBackend {
    private static let recordsPrefix = ContainerLayout.records + "/"

    private let root: Directory
    private let sharing: Sharing
    private let locks: LockFile

    init(container: GroupContainer) {
        root = container.root
        sharing = container.sharing
        locks = LockFile(
            directory: container.root, name: ContainerLayout.lockFile, mode: container.sharing.fileMode)
    }

    func read(_ address: BlobAddress, limit: Int) throws(FileError) -> [UInt8] {
        try root.read(path(address), limit: limit)
    }

    func readPrefix(_ address: BlobAddress, count: Int) throws(FileError) -> [UInt8]? {
        do throws(FileError) {
            return try root.readPrefix(path(address), count: count).bytes
        } catch {
            guard error.code == .notFound else { throw error }
            return nil
        }
    }

    func replace(_ address: BlobAddress, with blob: [UInt8], durability: Durability) throws(FileError) {
        let path = path(address)
        try blob.withRawBytes { blob throws(FileError) in
            do throws(FileError) {
                try put(blob, path, durability)
            } catch {
                guard error.code == .notFound else { throw error }
                try makeDirectory(Self.parent(of: path))
                try put(blob, path, durability)
            }
        }
    }

    private func put(_ blob: UnsafeRawBufferPointer, _ path: String, _ durability: Durability) throws(FileError) {
        try root.replace(
            path, with: blob, mode: sharing.fileMode, group: sharing.groupID, durability: durability)
    }

    func quarantine(_ address: BlobAddress) throws(FileError) -> String {
        let attributes = try root.attributes(path(address))
        let flat = address.name.text.split(separator: "/").joined(separator: "+").suffix(120)
        // The same file is kept once, however often a write over it is tried.
        let identity = "\(String(attributes.inode, radix: 16))-\(String(attributes.modifiedNanoseconds, radix: 16))"
        let place = "\(ContainerLayout.quarantine)/\(flat).\(identity)\(ContainerLayout.recordSuffix)"
        try makeDirectory(ContainerLayout.quarantine)
        do throws(FileError) {
            try root.link(path(address), as: place)
        } catch {
            guard error.code == .alreadyExists else { throw error }
        }
        return place
    }

    func names() throws(FileError) -> [String] {
        let records: Directory
        do throws(FileError) { records = try root.directory(ContainerLayout.records) } catch {
            guard error.code == .notFound && !isRemoved else { throw error }
            return []
        }
        var names: [String] = []
        try records.walk(maximumDepth: RecordName.maximumDepth) { entry throws(FileError) in
            // A part of the list must not pass for all of it; beyond the depth there are no records.
            if let error = entry.error, error.code != .tooDeep && error.code != .notFound { throw error }
            // Whatever has a record's file name is listed, also a link, a pipe or a directory: reading it says what it is.
            guard entry.path.hasSuffix(ContainerLayout.recordSuffix) else { return }
            names.append(String(entry.path.dropLast(ContainerLayout.recordSuffix.count)))
        }
        return names
    }

    var isRemoved: Bool { (try? root.attributes(".").nlink) == 0 }

    func lock(_ address: BlobAddress, timeout: Duration, isCancelled: (() -> Bool)?) throws(FileError) -> HeldLock {
        try locks.acquire(address.lock, .exclusive, timeout: timeout, isCancelled: isCancelled)
    }

    /// A directory whose name could not be synced ends the write: the old value stands, so that is no `durabilityUnknown`.
    private func makeDirectory(_ path: String) throws(FileError) {
        do throws(FileError) {
            _ = try root.makeDirectory(path, sharing: sharing)
        } catch {
            guard error.code == .durabilityUnknown, let number = error.errno else { throw error }
            throw FileError(errno: number, operation: error.operation, path: error.path)
        }
    }

    private func path(_ address: BlobAddress) -> String {
        // Put together by hand, in one allocation: every read does this.
        var path = Self.recordsPrefix
        path.reserveCapacity(path.utf8.count + address.name.text.utf8.count + ContainerLayout.recordSuffix.utf8.count)
        path += address.name.text
        path += ContainerLayout.recordSuffix
        return path
    }

    private static func parent(of path: String) -> String {
        String(path[..<(path.lastIndex(of: "/") ?? path.endIndex)])
    }
}
