package import AppGroups
internal import FoundationEssentials
package import SealedBackends
internal import SharedFiles

/// Moves the records of a container from its files into the database of another backend, or back.
///
/// Every writer waits for the end. The blobs are copied as they are, each is read back and compared, and the container's
/// name for its backend changes at one moment; running programs follow. A move that was interrupted is made again from
/// the beginning: what it has left in the place of records is set aside in the quarantine.
package struct BackendMove {
    private let container: GroupContainer
    private let provider: any BackendProvider
    private let timeout: Duration
    private let files: FileBackend
    private let locks: ContainerLocks
    private let known: ContainerBackend
    private static let page = 200

    private var group: String { container.group.identifier }

    /// - Parameters:
    ///   - provider: The other backend.
    ///   - timeout: The time limit for the locks of all records.
    package init(of container: GroupContainer, _ provider: any BackendProvider, timeout: Duration) {
        self.container = container
        self.provider = provider
        self.timeout = timeout
        files = FileBackend(container, at: ContainerAnchor(of: container.root, isMoving: true))
        locks = ContainerLocks(of: container)
        known = ContainerBackend(of: container)
    }

    /// Moves the records from files into the backend.
    ///
    /// - Returns: The number of records; nil if the backend had them already.
    /// - Throws: `StoreError`; the records are then in files, or all in the backend.
    package func toBackend() throws(StoreError) -> Int? {
        try withoutWriters { () throws(StoreError) in
            if try known.require(provider) {
                _ = try known.open(provider)
                try setAside(names(of: files))
                return nil
            }
            let names = try names(of: files)
            if known.hasDatabase {
                // The name was lost, if there are no files; otherwise an interrupted move has left the database.
                guard !names.isEmpty else {
                    let count = try self.names(of: known.data(of: provider, isNew: false)).count
                    try known.setName(provider.name)
                    return count
                }
                try setAsideDatabase()
            }
            try removeRest()
            try copy(names, from: files, to: try known.data(of: provider, isNew: true))
            try known.setName(provider.name)
            try remove(names)
            return names.count
        }
    }

    /// Moves the records from the backend into files.
    ///
    /// - Returns: The number of records; nil if they were in files already.
    /// - Throws: `StoreError`; the records are then in the backend, or all in files.
    package func toFiles() throws(StoreError) -> Int? {
        try withoutWriters { () throws(StoreError) in
            try putBack()
            guard let backend = try known.open(provider) else {
                let isEmpty = try names(of: files).isEmpty
                if isEmpty { try known.requireNoDatabase() }
                if known.hasDatabase { try setAsideDatabase() }
                try removeRest()
                return nil
            }
            try setAside(names(of: files))
            let names = try names(of: backend)
            try copy(names, from: backend, to: files)
            // The database first: no program may read it while others write files. See `putBack`.
            try onFiles { () throws(FileError) in try rename(Self.database, Self.moved) }
            try removeName()
            try removeRest()
            return names.count
        }
    }

    /// Puts a database back that was in its last step to files when the move was interrupted. Waits for a move that is
    /// not.
    func undo() throws(StoreError) { try withoutWriters { () throws(StoreError) in try putBack() } }

    private static let database = ContainerLayout.databaseFiles.first ?? ""
    /// The name of a database whose records are in files.
    private static let moved = database + ".moved"

    /// While the name is there the move to files is not made.
    private func putBack() throws(StoreError) {
        guard try known.name() != nil, !known.hasDatabase, (try? container.root.exists(Self.moved)) == true else {
            return
        }
        try onFiles { () throws(FileError) in try rename(Self.moved, Self.database) }
    }

    // MARK: Steps

    private func names(of backend: any SealedBackend) throws(StoreError) -> [BackendKey] {
        try StoreError.onBackend("move the records of", group) { () throws(BackendError) in
            try backend.scan("", after: nil, limit: .max).map(\.key)
        }
    }

    private func copy(
        _ keys: [BackendKey], from source: any SealedBackend, to target: any SealedBackend
    ) throws(StoreError) {
        try StoreError.onBackend("move the records of", group) { () throws(BackendError) in
            for start in stride(from: 0, to: keys.count, by: Self.page) {
                let page = keys[start..<min(keys.count, start + Self.page)]
                let blobs = try page.map { key throws(BackendError) in try Self.blob(key, in: source) }
                let writes = zip(page, blobs).map { BackendWrite($0, .put($1)) }
                let size = max(1, target.traits.batchLimit)
                for first in stride(from: 0, to: writes.count, by: size) {
                    try target.commit(Array(writes[first..<min(writes.count, first + size)]), durability: .durable)
                }
                for (key, blob) in zip(page, blobs) where try Self.blob(key, in: target) != blob {
                    throw BackendError(.io, "move", key.name, "The copy differs from the record.")
                }
            }
        }
    }

    private static func blob(_ key: BackendKey, in backend: any SealedBackend) throws(BackendError) -> [UInt8] {
        guard let held = try backend.read(key, limit: .max) else {
            throw BackendError(.gone, "move", key.name, "Another program has removed it.")
        }
        return held.bytes
    }

    /// Removes the files of records that the backend has.
    private func remove(_ keys: [BackendKey]) throws(StoreError) {
        try StoreError.onBackend("move the records of", group) { () throws(BackendError) in
            for key in keys { try files.commit([BackendWrite(key, .remove)], durability: .unsynced) }
        }
    }

    private func removeName() throws(StoreError) {
        try onFiles { () throws(FileError) in
            try container.root.remove(ContainerLayout.backend, durability: .durable)
        }
    }

    /// Removes what is left of a database whose records are in files. Its log first: a new database must not find it.
    private func removeRest() throws(StoreError) {
        try onFiles { () throws(FileError) in
            for path in ContainerLayout.databaseFiles.dropFirst() + [Self.moved] {
                do throws(FileError) { try container.root.remove(path, durability: .unsynced) } catch {
                    if error.code != .notFound { throw error }
                }
            }
        }
    }

    // MARK: The quarantine

    private func setAsideDatabase() throws(StoreError) { try setAside(paths: ContainerLayout.databaseFiles) }

    private func setAside(_ keys: [BackendKey]) throws(StoreError) {
        try setAside(paths: keys.compactMap { try? RecordName(stored: $0.name) }.map(RecordFile.path(of:)))
    }

    /// Moves files into a directory of their own in the quarantine: nothing that was not copied now is deleted.
    private func setAside(paths: [String]) throws(StoreError) {
        if paths.isEmpty { return }
        let folder = "\(ContainerLayout.quarantine)/left-\(UInt64(max(0, Date().timeIntervalSince1970 * 1000)))"
        try onFiles { () throws(FileError) in
            for path in paths {
                let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
                _ = try container.root.makeDirectory("\(folder)/\(parent)", sharing: container.sharing)
                do throws(FileError) { try rename(path, "\(folder)/\(path)") } catch {
                    if error.code != .notFound { throw error }
                }
            }
        }
    }

    private func rename(_ path: String, _ target: String) throws(FileError) {
        let (source, leaf) = try container.root.parent(of: path, "move")
        let (directory, name) = try container.root.parent(of: target, "move")
        try source.move(leaf, to: directory, as: name)
    }

    private func onFiles<Result>(_ body: () throws(FileError) -> Result) throws(StoreError) -> Result {
        try StoreError.onFiles("move the records of", group, body)
    }

    private func withoutWriters<Result>(_ body: () throws(StoreError) -> Result) throws(StoreError) -> Result {
        let lock: HeldLock
        do throws(FileError) { lock = try locks.lock(.whole, timeout: timeout) } catch {
            throw StoreError(writing: error, group)
        }
        let result = try body()
        lock.unlock()
        return result
    }
}
