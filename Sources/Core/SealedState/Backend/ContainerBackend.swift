package import AppGroups
internal import FoundationEssentials
package import SealedBackends
package import SharedFiles
internal import SystemPackage

/// The backend of a container, named in the container's file `.sealedstate.backend`. A container of files has no name.
///
/// A program with another backend would find no records, and write its own beside those of the others.
package struct ContainerBackend {
    private let group: AppGroup
    private let root: Directory
    private let sharing: Sharing
    private static let maximumSize = 64

    /// - Parameter root: The container's directory, in its place or elsewhere.
    package init(of group: AppGroup, in root: Directory, sharing: Sharing) {
        self.group = group
        self.root = root
        self.sharing = sharing
    }

    package init(of container: GroupContainer) {
        self.init(of: container.group, in: container.root, sharing: container.sharing)
    }

    /// Opens the backend that the container names.
    ///
    /// - Parameter provider: The backend that this program has besides files.
    /// - Returns: nil for files.
    /// - Throws: `StoreError` `.backendUnknown` for a backend that this program does not have; the backend's own errors.
    package func open(_ provider: (any BackendProvider)?) throws(StoreError) -> (any SealedBackend)? {
        guard try require(provider), let provider else { return nil }
        return try data(of: provider, isNew: false)
    }

    /// Opens the backend of a group's container. A move that was interrupted in its last step is undone.
    ///
    /// - Returns: nil for files.
    /// - Throws: As `open`.
    package static func open(
        of container: GroupContainer, _ provider: (any BackendProvider)?
    ) throws(StoreError) -> (any SealedBackend)? {
        let known = ContainerBackend(of: container)
        do throws(StoreError) { return try known.open(provider) } catch {
            guard let provider else { throw error }
            if error.code == .noSpace || error.code == .quotaExceeded {
                // Also a program that will only delete records needs space for the index of the log.
                BackendSpace(of: container).release()
                return try known.open(provider)
            }
            guard (error.cause as? BackendError)?.code == .gone else { throw error }
            // Another program is moving the records into files, or was killed while it did.
            try BackendMove(of: container, provider, timeout: .seconds(5)).undo()
            return try known.open(provider)
        }
    }

    /// Returns `false` for a container of files.
    ///
    /// - Throws: `StoreError` `.backendUnknown` for a backend that this program does not have.
    func require(_ provider: (any BackendProvider)?) throws(StoreError) -> Bool {
        guard let name = try name() else { return false }
        guard provider?.name == name else {
            throw StoreError(
                .backendUnknown, "open", root.path.string,
                "The container's records are in the backend \(name.printable).")
        }
        return true
    }

    /// Opens a backend, and names it in the container. For a container without records.
    @discardableResult
    package func create(_ provider: any BackendProvider) throws(StoreError) -> any SealedBackend {
        try requireNoRecords(of: provider)
        if !hasDatabase { try setAside(ContainerLayout.databaseFiles) }
        // Before the name: a backend that refuses the container leaves it to others.
        let backend = try data(of: provider, isNew: true)
        try setName(provider.name)
        return backend
    }

    /// Names a backend: from then on every program uses it.
    func setName(_ name: String?) throws(StoreError) {
        guard let name else { return }
        try StoreError.onFiles("name the backend of", group.identifier) { () throws(FileError) in
            try root.replace(
                ContainerLayout.backend, with: Array(name.utf8), mode: sharing.fileMode, group: sharing.groupID,
                durability: .durable)
        }
    }

    /// Throws for a database with records and without a name: its records may be older than what was accepted.
    func requireNoRecords(of provider: any BackendProvider) throws(StoreError) {
        guard provider.name != nil, hasDatabase else { return }
        let backend = try data(of: provider, isNew: false)
        let isEmpty = try StoreError.onBackend("list", group.identifier) { () throws(BackendError) in
            try backend.scan("", after: nil, limit: 1).isEmpty
        }
        if isEmpty { return }
        throw StoreError(
            .container, "open", root.path.string, "It has a database of records, and no name of a backend.",
            advice: "Use the database: sealctl container backend sqlite --group \(group). Or move it away.")
    }

    /// Moves files into a directory of their own in the quarantine; missing ones are passed over. The last of them is
    /// moved first, so that a database follows its log.
    func setAside(_ paths: [String]) throws(StoreError) {
        let folder = "\(ContainerLayout.quarantine)/left-\(UInt64(max(0, Date().timeIntervalSince1970 * 1000)))"
        try StoreError.onFiles("set aside the files of", group.identifier) { () throws(FileError) in
            for path in paths.reversed() where try root.exists(path) {
                let parent = path[..<(path.lastIndex(of: "/") ?? path.startIndex)]
                _ = try root.makeDirectory("\(folder)/\(parent)", sharing: sharing)
                try root.rename(path, to: "\(folder)/\(path)")
            }
        }
    }

    /// There is a database in its place.
    var hasDatabase: Bool { (try? root.exists(ContainerLayout.database)) != false }

    /// The container names no backend. One whose name cannot be read may have it.
    var isUnnamed: Bool {
        do throws(StoreError) { return try name() == nil } catch { return false }
    }

    /// The name in the container.
    package func name() throws(StoreError) -> String? {
        do throws(FileError) {
            return String(decoding: try root.read(ContainerLayout.backend, limit: Self.maximumSize), as: UTF8.self)
        } catch {
            if error.code == .notFound { return nil }
            throw StoreError(error, "read the backend of", group.identifier)
        }
    }

    func data(of provider: any BackendProvider, isNew: Bool) throws(StoreError) -> any SealedBackend {
        let place = BackendPlace(
            group: group.identifier, directory: root.path.string, isShared: sharing != .ownerOnly, isNew: isNew)
        return try StoreError.onBackend("open the backend of", group.identifier) { () throws(BackendError) in
            try provider.open(place)
        }
    }
}

extension RecordReader {
    /// Opens the backend of a container; an empty one without a name gets the provider's.
    ///
    /// - Returns: nil for files.
    static func backend(
        of container: GroupContainer, _ files: FileBackend, _ locks: ContainerLocks,
        _ provider: (any BackendProvider)?, creating: Bool
    ) throws(StoreError) -> (any SealedBackend)? {
        let known = ContainerBackend(of: container)
        // A backend without a name leaves nothing in a container.
        if let provider, provider.name == nil { return try known.data(of: provider, isNew: true) }
        if let backend = try ContainerBackend.open(of: container, provider) { return backend }
        guard let provider else { return nil }
        // Without its name a database would be forgotten, and files would be written beside it.
        if known.hasDatabase, try isEmpty(files, container), !creating {
            // A move may have named it meanwhile.
            if let backend = try ContainerBackend.open(of: container, provider) { return backend }
            try known.requireNoRecords(of: provider)
        }
        guard creating, try isEmpty(files, container) else { return nil }
        // A writer of files examines the name under its record's lock.
        let lock: HeldLock
        do throws(FileError) { lock = try locks.lock(.whole, timeout: .seconds(5)) } catch {
            throw StoreError(writing: error, container.group.identifier)
        }
        guard ContainerAnchor(of: container.root, isMoving: true).isInPlace else {
            throw StoreError(
                .containerMissing, "open", container.group.identifier,
                "\(container.path) was removed while it was open.")
        }
        if let backend = try known.open(provider) { return backend }
        let backend = try isEmpty(files, container) ? known.create(provider) : nil
        lock.unlock()
        return backend
    }

    private static func isEmpty(_ files: FileBackend, _ container: GroupContainer) throws(StoreError) -> Bool {
        try StoreError.onBackend("list", container.group.identifier) { () throws(BackendError) in
            try files.scan("", after: nil, limit: 1).isEmpty
        }
    }
}

/// The beginning of a container that replaces another one.
package struct ContainerSuccessor {
    let group: AppGroup
    /// The backend; nil for files.
    let provider: (any BackendProvider)?
    /// The sealed certificate.
    let certificate: [UInt8]?

    /// Creates a successor without a certificate, for a group whose vault is not open.
    ///
    /// - Parameter provider: The backend that this program has besides files.
    /// - Throws: `StoreError` `.backendUnknown` for a container with another one.
    package init(
        withoutKeysOf container: GroupContainer, _ provider: (any BackendProvider)?
    ) throws(StoreError) {
        group = container.group
        // A container that a unix group may write gets files: a member may have planted the name.
        let isNamed = container.sharing == .ownerOnly ? try ContainerBackend(of: container).require(provider) : false
        self.provider = isNamed ? provider : nil
        certificate = nil
    }

    init(group: AppGroup, provider: (any BackendProvider)?, certificate: [UInt8]?) {
        (self.group, self.provider, self.certificate) = (group, provider, certificate)
    }

    /// Places the backend and the certificate in a directory that no other program knows.
    package func fill(_ root: Directory, _ sharing: Sharing) throws(AppGroupError) {
        do throws(StoreError) {
            let place = RecordPlace(.certificate, group: group.identifier)
            guard let provider else {
                if let certificate { try placeFile(certificate, at: place.path, in: root, sharing) }
                return
            }
            let backend = try ContainerBackend(of: group, in: root, sharing: sharing).create(provider)
            guard let certificate else { return }
            try StoreError.onBackend("certify the container of", group.identifier) { () throws(BackendError) in
                try backend.commit([BackendWrite(place.key, .put(certificate))], durability: .durable)
            }
        } catch {
            throw AppGroupError(
                code: .file, operation: error.operation, subject: error.subject, reason: error.reason,
                advice: error.advice)
        }
    }

    private func placeFile(
        _ bytes: [UInt8], at path: String, in root: Directory, _ sharing: Sharing
    ) throws(StoreError) {
        try StoreError.onFiles("certify the container of", group.identifier) { () throws(FileError) in
            if let end = path.lastIndex(of: "/") { _ = try root.makeDirectory(String(path[..<end]), sharing: sharing) }
            try root.replace(path, with: bytes, mode: sharing.fileMode, group: sharing.groupID, durability: .durable)
        }
    }
}

/// The quota of a container and the space that is reserved for deletions, for the writes of a backend in it.
struct BackendSpace {
    private let root: Directory
    private let quota: QuotaGate
    private let reserve: DeletionReserve
    /// The space that a database takes for a tombstone: pages in its log, and the log's index.
    private static let reserved = 128 << 10

    init(of container: GroupContainer) {
        root = container.root
        quota = container.quotaGate
        reserve = DeletionReserve(in: container.root, prefix: ContainerLayout.reservePrefix)
        reserve.expect(Self.reserved)
    }

    func keepReserve() { reserve.keep() }

    /// Makes the reserved space free until the next deletion.
    func release() { reserve.release() }

    /// The container still has a backend other than files.
    var isNamed: Bool { (try? root.exists(ContainerLayout.backend)) ?? true }

    /// Commits within the quota; a deletion that finds no space takes the reserve.
    func commit(
        _ writes: [BackendWrite], to backend: any SealedBackend, durability: Durability
    ) throws(BackendError) {
        let changes = writes.filter { $0.change != .nothing }
        let isDeletion = !changes.isEmpty && changes.allSatisfy { $0.isDeletion || $0.change == .remove }
        let size = writes.reduce(0) { sum, write in
            if case .put(let blob) = write.change { sum + blob.count } else { sum }
        }
        if let first = writes.last, size > 0 {
            do throws(FileError) {
                try quota.admit(first.key.name, size: size, isDeletion: isDeletion) {
                    // Read only near the limit.
                    changes.reduce(0) { $0 + Self.size(of: $1.key, in: backend) }
                }
            } catch { throw BackendError(error, "write", first.key) }
        }
        do throws(BackendError) { try backend.commit(writes, durability: durability) } catch {
            guard error.code == .full || error.code == .quotaExceeded, isDeletion else { throw error }
            reserve.release()
            try backend.commit(writes, durability: durability)
        }
    }

    private static func size(of key: BackendKey, in backend: any SealedBackend) -> Int {
        ((try? backend.read(key, limit: .max)) ?? nil)?.bytes.count ?? 0
    }
}
