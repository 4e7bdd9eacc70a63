internal import Glibc
internal import PropertyLists
internal import SharedFiles
internal import SystemPackage

/// The trash for containers that were given up: `Trash` beside `Containers`. Only explicit calls delete from it.
public struct ContainerTrash: Sendable {
    private let home: GroupsHome

    /// Creates the trash of a home.
    public init(home: GroupsHome) { self.home = home }

    /// A container in the trash.
    public struct Item: Hashable, Sendable {
        /// The name in the trash: the group, the time of the move, and random digits.
        public let name: String
        /// The group of the container.
        public let group: AppGroup
        /// The time of the move: `20261121T130405Z`, UTC.
        public let moved: String
        /// The path of the container in the trash.
        public let path: String
    }

    /// Returns the items in the trash, by group and then by time; empty without a trash.
    ///
    /// - Throws: ``AppGroupError`` `file`.
    public func items() throws(AppGroupError) -> [Item] {
        guard let trash = try open() else { return [] }
        let entries = try onFiles("list") { () throws(FileError) in try trash.entries() }
        return entries.compactMap { entry in
            guard entry.kind == .directory, let name = TrashName(entry.name) else { return nil }
            return Item(
                name: entry.name, group: name.group, moved: name.moved,
                path: home.trashPath.appending(entry.name).string)
        }
    }

    /// Returns the space that an item uses.
    public func usage(of item: Item) throws(AppGroupError) -> ContainerUsage {
        guard let trash = try open() else { throw .notInTrash(item.name, because: "it does not exist") }
        return try onFiles("measure") { () throws(FileError) in ContainerUsage(of: try trash.directory(item.name)) }
    }

    /// Deletes an item permanently, with everything in it.
    ///
    /// The item loses its name before anything in it is deleted. The remains of a killed process are therefore never
    /// restored, and are removed by ``deleteLeftovers()``.
    /// - Throws: ``AppGroupError`` `notInTrash`, `registryBusy`, `file` for the first file that could not be deleted.
    public func delete(_ item: Item) throws(AppGroupError) {
        guard TrashName(item.name) != nil, let trash = try open() else { throw .notInTrash(item.name) }
        let doomed = try markForRemoval(item, in: trash)
        try onFiles("delete") { () throws(FileError) in try trash.removeAll(doomed) }
    }

    /// Deletes the remains of interrupted deletions. Files that can't be deleted stay.
    public func deleteLeftovers() {
        guard let trash = try? open() else { return }
        for entry in (try? trash.entries()) ?? [] where entry.name.hasPrefix(Self.doomedPrefix) {
            try? trash.removeAll(entry.name)
        }
    }

    private static let doomedPrefix = ".deleting~"

    /// Renames the item under the lock of its group, so that no process restores it meanwhile.
    private func markForRemoval(_ item: Item, in trash: Directory) throws(AppGroupError) -> String {
        guard let root = try? trash.directory(item.name) else { throw .notInTrash(item.name) }
        let held = try RegistryPlace(group: item.group, home: home)
            .lock(beside: trash, for: ContainerManager.sharing(of: root), isDemanded: false)
        let doomed = Self.doomedPrefix + String(UInt64.random(in: .min ... .max), radix: 16)
        try onFiles("delete") { () throws(FileError) in try trash.move(item.name, to: trash, as: doomed) }
        held.unlock()
        return doomed
    }

    func open() throws(AppGroupError) -> Directory? {
        do throws(FileError) {
            let trash = try Directory.open(home.trashPath)
            try trash.requireTrusted()
            return trash
        } catch {
            if error.code == .notFound { return nil }
            throw AppGroupError(error, usingTrash: "open")
        }
    }

    private func onFiles<Result>(
        _ operation: String, _ body: () throws(FileError) -> Result
    ) throws(AppGroupError) -> Result {
        do throws(FileError) { return try body() } catch { throw AppGroupError(error, usingTrash: operation) }
    }
}

// Moves into the trash.
extension ContainerTrash {
    /// Moves a departing container into the trash, unless it is already there. Requires the registry's lock.
    ///
    /// - Parameter entry: The new entry of the container's copy, with the departure.
    /// - Throws: ``AppGroupError`` `damagedRegistry` for a directory of another group, `file`.
    func take(
        _ departure: ContainerDeparture, from containers: Directory, _ entry: RegistryEntry
    ) throws(AppGroupError) {
        guard let (trash, root) = try places(of: departure, containers) else { return }
        if OpaqueName.isWellFormed(departure.directory) { try requireOwn(root, entry.group) }
        // Programs with the container open are informed by its copy. If the copy can't be written, the container stays,
        // since their writes would be lost.
        try ContainerCopy.write(entry, in: root)
        let writers = pauseOfWriters(in: root)
        GroupContainer(leaving: root, of: entry.group, in: home).removeKernelObjectsIfPossible()
        try onFiles("move to the trash") { () throws(FileError) in
            try containers.move(departure.directory, to: trash, as: departure.trashName)
        }
        if let writers { writers.unlock() }
    }

    /// Returns the trash and the container; nil if there is nothing left to move.
    private func places(
        of departure: ContainerDeparture, _ containers: Directory
    ) throws(AppGroupError) -> (trash: Directory, root: Directory)? {
        try onFiles("move to the trash") { () throws(FileError) in
            let trash = try made(like: containers)
            if try trash.exists(departure.trashName) { return nil }
            guard try containers.exists(departure.directory) else { return nil }
            return (trash, try containers.directory(departure.directory))
        }
    }

    /// A user who can write a registry may name any directory in it.
    private func requireOwn(_ root: Directory, _ group: AppGroup) throws(AppGroupError) {
        guard try ContainerCopy.read(in: root, of: group) != nil else {
            throw .missingCopy(root.display(ContainerLayout.metadata), of: group, in: home)
        }
    }

    /// Waits for writers that have passed the gate before the copy recorded the departure: their acknowledged writes
    /// must be in the container before it is moved. The copy rejects later writers. A stopped writer is waited for only
    /// for a limited time; its write then ends in the trash.
    private func pauseOfWriters(in root: Directory) -> HeldLock? {
        guard (try? root.exists(ContainerLayout.lockFile)) == true else { return nil }
        return try? LockFile(directory: root, name: ContainerLayout.lockFile, mode: root.fileMode)
            .acquire(.whole, .exclusive, timeout: Self.patience)
    }

    /// Well below the timeout of other processes for the registry's lock.
    private static let patience = Duration.seconds(3)

    /// Checked before the registry records a departure: a container that then could not be moved would be unreachable.
    func requireMovable(_ root: Directory, from containers: Directory, of group: AppGroup) throws(AppGroupError) {
        try onFiles("move to the trash") { () throws(FileError) in
            let trash = try made(like: containers)
            let (facts, place) = (try root.attributes("."), try containers.attributes("."))
            guard try trash.attributes(".").device == facts.device else {
                throw FileError(
                    .unsupported, operation: "move to the trash", path: root.path.string, errno: EXDEV,
                    advice: "The trash is on another file system; move its contents by hand: \(trash.path)")
            }
            // rename(2): in a sticky directory it requires the owner of the entry or the directory.
            let user = geteuid()
            guard place.mode & S_ISVTX == 0 || user == 0 || [facts.uid, place.uid].contains(user) else {
                throw FileError(
                    .permissionDenied, operation: "move to the trash", path: root.path.string, errno: EPERM,
                    advice: "Its owner (uid \(facts.uid)) or root must do that.")
            }
        }
    }

    private func made(like containers: Directory) throws(FileError) -> Directory {
        let trash = try Directory.createParent(home.trashPath, sharing: containers.sharing)
        try trash.requirePrivateOrShared()
        return trash
    }
}

extension AppGroupError {
    fileprivate init(_ error: FileError, usingTrash operation: String) {
        self.init(
            code: .file, operation: "\(operation) a container in the trash", subject: error.path,
            reason: "cannot \(error.operation)", advice: error.advice, underlying: error)
    }
}

extension Directory {
    /// Another process may delete the same tree: files that it has removed are skipped.
    fileprivate func removeAll(_ name: String) throws(FileError) {
        for _ in 0..<100 {
            do throws(FileError) { return try removeTree(name) } catch {
                guard error.code == .notFound else { throw error }
            }
        }
    }
}

/// The name of a container in the trash: `<group>~<moved, UTC>~<8 digits>`. A group's identifier never contains a
/// tilde.
struct TrashName: Hashable, Sendable {
    let group: AppGroup
    /// `20261121T130405Z`; sorts by time.
    let moved: String
    private let digits: String

    var string: String { "\(group.identifier)~\(moved)~\(digits)" }

    /// Creates a new name with the current time.
    init(of group: AppGroup) {
        self.group = group
        moved = UTCStamp.now()
        let random = String(UInt32.random(in: .min ... .max), radix: 16)
        digits = String(repeating: "0", count: 8 - random.count) + random
    }

    /// Returns nil for a name of another form.
    init?(_ name: String) {
        let parts = name.split(separator: "~", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, let group = try? AppGroup(parts[0]), parts[1].utf8.count == 16,
            parts[1].utf8.allSatisfy(\.isUpperCaseLetterOrDigit), parts[2].utf8.count == 8,
            parts[2].utf8.allSatisfy(\.isLetterOrDigit)
        else { return nil }
        self.group = group
        moved = parts[1]
        digits = parts[2]
    }
}

/// The time of day as part of a file's name.
package enum UTCStamp {
    /// UTC to the second, such as `20261121T070342Z`.
    package static func now() -> String { CivilTime(secondsSince1970: time(nil)).compactText }
}
