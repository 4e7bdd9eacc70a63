internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The files of one group's registry: `Registry/<group>/container.plist`, and the lock beside it.
///
/// Each group has a directory, since in a shared home `Registry` has the sticky bit: no member could replace a file of
/// another member there.
struct RegistryPlace: Sendable {
    static let entryFile = "container.plist"
    private static let lockFile = "lock"
    /// Lock holders move directories and write small files; they wait for nothing else meanwhile.
    private static let timeout: Duration = .seconds(10)

    let group: AppGroup
    let home: GroupsHome
    /// `true` to reject a registry that others may change; `false` for diagnosis.
    var isStrict = true

    /// The path of the entry, existing or not, for watchers and messages.
    var path: String { home.registryPath.appending(group.identifier).appending(Self.entryFile).string }

    /// Returns the current entry; nil if it is missing. Takes no lock, since the file is replaced as a whole.
    func read() throws(AppGroupError) -> RegistryEntry? {
        let folder: Directory
        do throws(FileError) {
            let registry = try Directory.open(home.registryPath)
            if isStrict { try registry.requirePrivateOrShared() }
            folder = try registry.directory(group.identifier)
            if isStrict {
                try folder.requireTrusted()
                try requireOwn(folder)
            }
        } catch {
            if error.code == .notFound { return nil }
            throw AppGroupError(error, "read the registry", registryOf: group)
        }
        return try read(in: folder)
    }

    /// In a shared home every member may create a registry for a group without one. Another member's registry is not
    /// valid for a private container of this user.
    private func requireOwn(_ folder: Directory) throws(FileError) {
        let owner = try folder.attributes(".").uid
        if owner == geteuid() || owner == 0 { return }
        guard hasPrivateContainer else { return }
        throw FileError(
            .wrongOwner, operation: "trust", path: folder.path.string,
            advice:
                "The user \(owner) made it for a group whose container is this user's alone; have its owner remove it: "
                + "ls -ld \(folder.path.string.shellQuoted)")
    }

    private var hasPrivateContainer: Bool {
        guard let containers = try? Directory.open(home.containersPath) else { return false }
        if let named = try? containers.attributes(group.identifier), named.uid == geteuid(),
            named.sharing == .ownerOnly
        {
            return true
        }
        return ContainerSearch(group: group, home: home).hasPrivateOne(in: containers)
    }

    fileprivate func read(in folder: Directory) throws(AppGroupError) -> RegistryEntry? {
        let bytes: [UInt8]
        do throws(FileError) {
            bytes = try folder.read(Self.entryFile, limit: RegistryDocument.maximumSize)
        } catch {
            switch error.code {
            case .notFound: return nil
            case .tooLarge, .notRegularFile, .unsafePath:
                throw .damagedRegistry(
                    error.path, of: group, because: "it is no file of the registry: \(error.code.rawValue)")
            default: throw AppGroupError(error, "read the registry", registryOf: group)
            }
        }
        do throws(RegistryDocument.Fault) {
            return try RegistryDocument.entry(from: bytes, of: group)
        } catch {
            throw .damagedRegistry(folder.display(Self.entryFile), of: group, because: error.reason)
        }
    }

    /// Takes the group's lock, and creates missing parts of the registry.
    ///
    /// - Parameters:
    ///   - containers: The directory whose users may register containers.
    ///   - sharing: The users of the group's existing or future container.
    ///   - isDemanded: Whether to reject a registry with another sharing.
    func lock(
        beside containers: Directory, for sharing: Sharing, isDemanded: Bool = true
    ) throws(AppGroupError) -> HeldRegistry {
        do throws(FileError) {
            let registry = try Directory.createParent(home.registryPath, sharing: containers.sharing)
            try registry.requirePrivateOrShared()
            let folder = try registry.openOrMakeFolder(group.identifier, sharing: sharing)
            try folder.requireTrusted()
            // Members who could not read it would consider the container missing.
            if isDemanded && sharing != .ownerOnly { try folder.requireSharing(sharing) }
            let lock = LockFile(directory: folder, name: Self.lockFile, mode: folder.fileMode)
            return HeldRegistry(
                place: self, folder: folder, lock: try lock.acquire(.whole, .exclusive, timeout: Self.timeout))
        } catch {
            throw AppGroupError(error, "lock the registry", registryOf: group)
        }
    }
}

/// A group's registry under its lock.
struct HeldRegistry: ~Copyable {
    fileprivate let place: RegistryPlace
    fileprivate let folder: Directory
    fileprivate let lock: HeldLock

    func read() throws(AppGroupError) -> RegistryEntry? { try place.read(in: folder) }

    /// The users who may read and change the entry.
    var sharing: Sharing { (try? folder.sharing) ?? .ownerOnly }

    /// Releases the lock.
    consuming func unlock() {}

    /// Replaces the entry, durably.
    func write(_ entry: RegistryEntry) throws(AppGroupError) {
        let path = folder.display(RegistryPlace.entryFile)
        let bytes: [UInt8]
        do throws(RegistryDocument.Fault) { bytes = try RegistryDocument.bytes(of: entry) } catch {
            throw .damagedRegistry(path, of: entry.group, because: error.reason)
        }
        do throws(FileError) {
            guard lock.isStillNamed() else {
                throw FileError(.lockFileReplaced, operation: "write", path: path)
            }
            try folder.replace(
                RegistryPlace.entryFile, with: bytes, mode: sharing.fileMode, group: sharing.groupID,
                durability: .durable)
        } catch {
            throw AppGroupError(error, "write the registry", registryOf: entry.group)
        }
    }
}

extension Directory {
    fileprivate func openOrMakeFolder(_ name: String, sharing: Sharing) throws(FileError) -> Directory {
        do throws(FileError) { return try directory(name) } catch {
            guard error.code == .notFound else { throw error }
            if let members = sharing.groupID { try requireShareable(with: members) }
            return try makeDirectory(name, sharing: sharing)
        }
    }
}
