package import AppGroups
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
    private let anchor: ContainerAnchor
    private let files: FileBackend
    private let known: ContainerBackend
    private static let page = 200
    private static let operation = "move the records of"

    private var group: String { container.group.identifier }

    /// - Parameters:
    ///   - provider: The other backend.
    ///   - timeout: The time limit for the locks of all records.
    package init(of container: GroupContainer, _ provider: any BackendProvider, timeout: Duration) {
        self.container = container
        self.provider = provider
        self.timeout = timeout
        anchor = ContainerAnchor(of: container.root, isMoving: true)
        files = FileBackend(container, at: anchor)
        known = ContainerBackend(of: container)
    }

    /// Moves the records from files into the backend. A database whose name was lost gets it again.
    ///
    /// - Returns: The number of records; nil if the backend had them already.
    /// - Throws: `StoreError`; the records are then in files, or all in the backend.
    package func toBackend() throws(StoreError) -> Int? {
        try withoutWriters { lock throws(StoreError) in
            try putBack()
            if try known.require(provider) {
                _ = try known.open(provider)
                try known.setAside(paths(of: names(of: files)))
                return nil
            }
            let names = try names(of: files)
            if known.hasDatabase {
                if names.isEmpty {
                    // A database that cannot be opened gets no name.
                    _ = try known.data(of: provider, isNew: false)
                    try known.setName(provider.name)
                    return nil
                }
                try setAsideDatabase(besides: names)
            }
            // A new database must not find the log of another one.
            try known.setAside(ContainerLayout.databaseFiles)
            do throws(StoreError) {
                try copy(names, from: files, to: try known.data(of: provider, isNew: true))
                try requireNamed(lock)
                try known.setName(provider.name)
            } catch {
                if known.isUnnamed { try? removeDatabase() }
                throw error
            }
            try remove(names)
            return names.count
        }
    }

    /// Moves the records from the backend into files.
    ///
    /// - Returns: The number of records; nil if they were in files already.
    /// - Throws: `StoreError`; the records are then in the backend, or all in files.
    package func toFiles() throws(StoreError) -> Int? {
        try withoutWriters { lock throws(StoreError) in
            try putBack()
            guard let backend = try known.open(provider) else {
                if known.hasDatabase {
                    try setAsideDatabase(besides: names(of: files))
                } else if hasMovedDatabase {
                    // All its records were in files before the name was removed. No program may read it again.
                    try known.setAside(ContainerLayout.databaseFiles)
                }
                return nil
            }
            try known.setAside(paths(of: names(of: files)))
            let names = try names(of: backend)
            do throws(StoreError) {
                try copy(names, from: backend, to: files)
                try requireNamed(lock)
            } catch {
                try? remove(names)
                throw error
            }
            // The database first: no program may read it while others write files. See `putBack`.
            try onFiles { () throws(FileError) in
                try container.root.rename(ContainerLayout.database, to: ContainerLayout.movedDatabase)
                try container.root.remove(ContainerLayout.backend, durability: .durable)
            }
            try removeDatabase()
            return names.count
        }
    }

    /// Puts a database back that was in its last step to files when the move was interrupted. Waits for a move that is
    /// not.
    func undo() throws(StoreError) {
        if isHalfway { try withoutWriters { _ throws(StoreError) in try putBack() } }
    }

    private func putBack() throws(StoreError) {
        guard isHalfway else { return }
        try onFiles { () throws(FileError) in
            try container.root.rename(ContainerLayout.movedDatabase, to: ContainerLayout.database)
        }
    }

    /// The container names its database, which has left its place. While the name is there the move is not made.
    private var isHalfway: Bool {
        !known.hasDatabase && ((try? known.name()) ?? nil) != nil && hasMovedDatabase
    }

    private var hasMovedDatabase: Bool {
        (try? container.root.attributes(ContainerLayout.movedDatabase))?.kind == .regular
    }

    // MARK: Steps

    private func names(of backend: any SealedBackend) throws(StoreError) -> [BackendKey] {
        try StoreError.onBackend(Self.operation, group) { () throws(BackendError) in
            try backend.scan("", after: nil, limit: .max).map(\.key)
        }
    }

    private func paths(of keys: [BackendKey]) -> [String] {
        keys.compactMap { try? RecordName(stored: $0.name) }.map(RecordFile.path(of:))
    }

    private func copy(
        _ keys: [BackendKey], from source: any SealedBackend, to target: any SealedBackend
    ) throws(StoreError) {
        try StoreError.onBackend(Self.operation, group) { () throws(BackendError) in
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

    /// Removes files of records that the backend has.
    private func remove(_ keys: [BackendKey]) throws(StoreError) {
        try StoreError.onBackend(Self.operation, group) { () throws(BackendError) in
            for key in keys { try files.commit([BackendWrite(key, .remove)], durability: .unsynced) }
        }
    }

    /// Removes a database whose records are in files. Its log first: a new database must not find it.
    private func removeDatabase() throws(StoreError) {
        try onFiles { () throws(FileError) in
            for path in ContainerLayout.databaseFiles.reversed() {
                do throws(FileError) { try container.root.remove(path, durability: .unsynced) } catch {
                    if error.code != .notFound { throw error }
                }
            }
        }
    }

    /// Sets a database without a name aside that an interrupted move has left beside the files.
    private func setAsideDatabase(besides files: [BackendKey]) throws(StoreError) {
        let others = try Set(names(of: known.data(of: provider, isNew: false))).subtracting(files)
        guard others.isEmpty else {
            throw StoreError(
                .container, Self.operation, group,
                "It has files of records, and a database without a name that has \(others.count) other records.",
                advice: "Move one of the two away: \(container.root.display(ContainerLayout.database).shellQuoted) or "
                    + "\(container.root.display(ContainerLayout.records).shellQuoted).")
        }
        try known.setAside(ContainerLayout.databaseFiles)
    }

    private func requireNamed(_ lock: borrowing HeldLock) throws(StoreError) {
        guard !lock.isStillNamed() else { return }
        throw StoreError(
            .lockTimeout, Self.operation, group, "The container's lock file was replaced in the meantime.",
            advice: "Try again.")
    }

    private func onFiles<Result>(_ body: () throws(FileError) -> Result) throws(StoreError) -> Result {
        try StoreError.onFiles(Self.operation, group, body)
    }

    private func withoutWriters<Result>(
        _ body: (borrowing HeldLock) throws(StoreError) -> Result
    ) throws(StoreError) -> Result {
        let lock: HeldLock
        do throws(FileError) { lock = try ContainerLocks(of: container).lock(.whole, timeout: timeout) } catch {
            throw StoreError(writing: error, group)
        }
        // A reset may have held the lock: another container has the path by now.
        guard anchor.isInPlace else {
            throw StoreError(
                .containerMissing, Self.operation, group, "\(container.path) was removed while it was open.")
        }
        return try body(lock)
    }
}
