internal import AppGroups
internal import Glibc
internal import Sealing
internal import SharedFiles

/// Sets existing files aside for a new vault, under the vault's lock, and records their new paths.
///
/// Every file is renamed, or gets a second name or a copy; nothing is rewritten or deleted. After a crash at any step
/// every file exists whole, under its old name or its new one.
struct VaultAbandonment {
    private let place: VaultPlace
    /// The end of the new names: `abandoned-` and the time, such as `abandoned-20261121T070342Z`.
    let suffix = "abandoned-\(UTCStamp.now())"
    /// The vault's own files.
    private(set) var files: [SetAsideFile] = []
    /// Sealed blobs, by their paths in the container.
    private(set) var blobs: [SetAsideFile] = []

    init(in place: VaultPlace) { self.place = place }

    /// Sets the vault aside, and its access log, whose chain only its own key continues. The vault is first: a vault
    /// without its log would look as if the log had been truncated.
    ///
    /// - Throws: `VaultError` `.file`.
    mutating func setAside(in directory: Directory) throws(VaultError) {
        try setAside(VaultPlace.leaves + Self.valueLeaves + Self.logLeaves, in: directory)
    }

    /// Sets only the service compartment and its values aside. The compartment keeps its name until its successor takes
    /// it, so that a rekey killed in between still finds the contents to carry on.
    ///
    /// - Parameter withLog: Whether to set the access log aside as well: no other compartment has the keys of its
    ///   entries.
    /// - Throws: `VaultError` `.file`.
    mutating func setAsideService(in directory: Directory, withLog: Bool) throws(VaultError) {
        try setAside([CompartmentRole.service.leaf], in: directory, keepingNames: true)
        try setAside([ItemValues.leaf(.service)] + (withLog ? Self.logLeaves : []), in: directory)
    }

    /// Returns the access log's present files.
    static func logs(in directory: Directory) -> [String: FileAttributes] {
        var found: [String: FileAttributes] = [:]
        for leaf in logLeaves { found[leaf] = try? directory.attributes(leaf) }
        return found
    }

    /// Sets aside those files of an access log that existed before. Another program may have begun the new vault's log
    /// since; that one stays.
    ///
    /// - Throws: `VaultError` `.file`.
    mutating func setAside(_ logs: [String: FileAttributes], in directory: Directory) throws(VaultError) {
        let now = Self.logs(in: directory)
        let old = Self.logLeaves.filter { leaf in
            guard let before = logs[leaf], let facts = now[leaf] else { return false }
            return before.isSameFile(as: facts)
        }
        try setAside(old, in: directory)
    }

    private static let valueLeaves = CompartmentRole.allCases.filter { $0 != .backup }.map(ItemValues.leaf)
    private static let logLeaves = [AccessLogFile.leaf, AccessLogFile.olderLeaf, AccessLogFile.passingLeaf]

    /// - Parameter keepingNames: Whether a file gets the new name in addition to the old one. An entry without a second
    ///   name, such as a directory, is renamed.
    private mutating func setAside(
        _ leaves: [String], in directory: Directory, keepingNames: Bool = false
    ) throws(VaultError) {
        try VaultError.onFiles("set aside the files in the vault's place") { () throws(FileError) in
            var isMoved = false
            for leaf in leaves where try directory.exists(leaf) {
                let new = try directory.freeName("\(leaf).\(suffix)")
                let isKept = keepingNames && keep(leaf, as: new, in: directory)
                if !isKept { try directory.move(leaf, to: directory, as: new) }
                files.append(SetAsideFile(from: directory.display(leaf), to: directory.display(new)))
                isMoved = true
            }
            if isMoved { try directory.syncNames() }
        }
    }

    /// Gives a file a second name, or copies it if the system protects links to files that this user may not write.
    ///
    /// A copy preserves the keys of a compartment of which only the index is damaged. It never takes the space that its
    /// successor needs, because the present file may be a member's sparse file.
    /// - Returns: Whether the file now has both names.
    private func keep(_ leaf: String, as new: String, in directory: Directory) -> Bool {
        if (try? directory.link(leaf, as: new)) != nil { return true }
        guard let file = try? CompartmentFile.open(.service, in: directory, passingMode: true) else { return false }
        let size = file.head.fileSize
        let persons = (try? directory.attributes(CompartmentRole.person.leaf))?.size ?? 0
        let needed = 3 * Int64(size) + 2 * Int64(clamping: persons)
        guard size <= CompartmentFile.maximumPartSize, (try? directory.requireSpace(needed, "set aside")) != nil,
            let bytes = try? directory.read(leaf, limit: size)
        else { return false }
        return (try? directory.createExclusively(new, with: bytes, mode: directory.fileMode)) != nil
    }

    /// Runs `body` while no program is writing a record: a program that got its key before would put another blob in
    /// place afterwards. Later programs find no vault, and so no key.
    ///
    /// - Throws: `VaultError` `.lockTimeout`, before `body` was run, or what `body` throws.
    static func whileWritersWait(
        in container: GroupContainer?, _ timeout: Duration, _ body: () throws(VaultError) -> Void
    ) throws(VaultError) {
        guard let container else { return try body() }
        let writers = try VaultError.onFiles("wait for the group's writers") { () throws(FileError) in
            try LockFile(
                directory: container.root, name: ContainerLayout.lockFile, mode: container.sharing.fileMode
            ).acquire(.whole, .exclusive, timeout: timeout)
        }
        try body()
        writers.unlock()
    }

    /// Creates the quarantine if it is missing, before any file is moved.
    static func prepareQuarantine(in container: GroupContainer?) throws(VaultError) {
        guard let container else { return }
        try VaultError.onFiles(moving) { () throws(FileError) in
            _ = try container.root.makeDirectory(ContainerLayout.quarantine, sharing: container.sharing)
        }
    }

    /// Checks that every rename stays within one file system, before any file is moved.
    ///
    /// - Throws: `VaultError` `.otherFileSystem`; `.file`.
    static func requireReach(
        of orphans: [OrphanCheck.Orphan], in container: GroupContainer?
    ) throws(VaultError) {
        guard let container else { return }
        let parents = Set(orphans.map(\.path.splitAtLastSlash.parent)).sorted()
        try requireReach(of: parents, in: container.root)
    }

    private static func requireReach(of parents: [String], in root: Directory) throws(VaultError) {
        let quarantine = try device(of: ContainerLayout.quarantine, in: root)
        for parent in parents {
            guard let found = try device(of: parent.isEmpty ? "." : parent, in: root), found != quarantine else {
                continue
            }
            throw VaultError(
                .otherFileSystem, moving, root.display(parent.isEmpty ? "." : parent),
                "It is on another file system than the container's quarantine.",
                advice: "Unmount it, or move its sealed files away; nothing was moved.")
        }
    }

    /// Returns `nil` for a directory that was removed meanwhile.
    private static func device(of directory: String, in root: Directory) throws(VaultError) -> UInt64? {
        do throws(FileError) {
            return try root.directory(directory).attributes(".").device
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, moving)
        }
    }

    private static let moving = "move sealed files to quarantine"

    /// Moves every blob of the group into its own folder in the container's quarantine, each under its former path.
    ///
    /// - Throws: `VaultError` `.file`. The check before every new vault reports programs that continue to seal.
    mutating func quarantineBlobs(_ orphanCheck: OrphanCheck) throws(VaultError) {
        guard let container = orphanCheck.container else { return }
        // The second round is for streams, whose writers take no lock.
        for _ in 0..<4 {
            let found = try orphanCheck.orphans()
            if found.isEmpty { return }
            try VaultError.onFiles(Self.moving) { () throws(FileError) in
                try move(found.map(\.path), in: container)
            }
        }
    }

    private mutating func move(_ paths: [String], in container: GroupContainer) throws(FileError) {
        let quarantine = try container.root.makeDirectory(ContainerLayout.quarantine, sharing: container.sharing)
        let folder = try quarantine.freeName(suffix)
        let split = paths.map(\.splitAtLastSlash)
        var start = 0
        // A walk lists a directory's files in sequence, so the directory is opened and synced once.
        while start < split.count {
            let parent = split[start].parent
            let leaves = split[start...].prefix { $0.parent == parent }.map(\.leaf)
            let source = try parent.isEmpty ? container.root : container.root.directory(parent)
            let target = try quarantine.makeDirectory(
                parent.isEmpty ? folder : "\(folder)/\(parent)", sharing: container.sharing)
            for leaf in leaves where try source.moveIfThere(leaf, to: target) {
                blobs.append(SetAsideFile(from: source.display(leaf), to: target.display(leaf)))
            }
            // Sync the new names first: a power loss may leave a file under both names, never without a name.
            try target.syncNames()
            try source.syncNames()
            start += leaves.count
        }
    }

    /// Runs the creation of the new vault and adds the files set aside so far to its failure.
    mutating func naming<Result>(
        _ body: (inout VaultAbandonment) throws(VaultError) -> Result
    ) throws(VaultError) -> Result {
        do throws(VaultError) { return try body(&self) } catch {
            guard let first = (files + blobs).first else { throw error }
            let isMade = error.code == .durabilityUnknown
            throw VaultError(
                error.code, error.operation, error.subject,
                "\(error.underlying?.sentence ?? error.reason) \(files.count + blobs.count) files had been moved "
                    + "away, \(first.from.printable) to \(first.to.printable).",
                advice: isMade ? error.advice : "Try again, or move them back. \(error.advice)", underlying: nil)
        }
    }
}

extension String {
    /// The part before the last `/`, empty without a slash, and the part after it.
    fileprivate var splitAtLastSlash: (parent: String, leaf: String) {
        guard let slash = utf8.lastIndex(of: UInt8(ascii: "/")) else { return ("", self) }
        return (String(self[..<slash]), String(self[utf8.index(after: slash)...]))
    }
}

/// Renaming across open directories: no path that another user may have changed is resolved again.
extension Directory {
    /// Returns the first free name: the given one, or with `-2`, `-3`, … appended. Only the holder of the vault's lock
    /// creates such names.
    func freeName(_ name: String) throws(FileError) -> String {
        var number = 1
        while true {
            let candidate = number == 1 ? name : "\(name)-\(number)"
            if try !exists(candidate) { return candidate }
            number += 1
        }
    }

    /// Renames any entry of this directory; a link is moved itself.
    func move(_ leaf: String, to target: Directory, as name: String) throws(FileError) {
        if renameat(descriptor.rawValue, leaf, target.descriptor.rawValue, name) < 0 {
            throw FileError(errno: errno, operation: "set aside", path: display(leaf))
        }
    }

    /// - Returns: `false` if the source no longer exists or the target already does.
    func moveIfThere(_ leaf: String, to target: Directory) throws(FileError) -> Bool {
        guard try exists(leaf), try !target.exists(leaf) else { return false }
        do throws(FileError) {
            try move(leaf, to: target, as: leaf)
            return true
        } catch {
            if error.code == .notFound { return false }
            throw error
        }
    }

    func syncNames() throws(FileError) {
        if fsync(descriptor.rawValue) < 0 {
            throw FileError(.durabilityUnknown, operation: "set aside", path: display("."), errno: errno)
        }
    }
}
