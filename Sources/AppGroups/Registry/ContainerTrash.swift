internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// Where containers go that were given up: `Trash` beside `Containers`. Nothing is deleted there unasked.
public struct ContainerTrash: Sendable {
    private let home: GroupsHome

    /// The trash of a home.
    public init(home: GroupsHome) { self.home = home }

    /// A container in the trash.
    public struct Item: Hashable, Sendable {
        /// Its name there: the group, when it was moved, and random digits.
        public let name: String
        /// Whose container it was.
        public let group: AppGroup
        /// When it was moved: `20261121T130405Z`, UTC.
        public let moved: String
        /// Where it lies.
        public let path: String
    }

    /// What is in the trash, by group and then by time; empty where there is no trash.
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

    /// What one of them takes up.
    public func usage(of item: Item) throws(AppGroupError) -> ContainerUsage {
        guard let trash = try open() else { throw .notInTrash(item.name, because: "it is not there") }
        return try onFiles("measure") { () throws(FileError) in ContainerUsage(of: try trash.directory(item.name)) }
    }

    /// Deletes one for good, with everything in it.
    ///
    /// - Throws: ``AppGroupError`` `notInTrash`, `file` for the first thing that could not be deleted.
    public func delete(_ item: Item) throws(AppGroupError) {
        guard TrashName(item.name) != nil, let trash = try open(), (try? trash.exists(item.name)) == true else {
            throw .notInTrash(item.name, because: "it is not there")
        }
        try onFiles("delete") { () throws(FileError) in try trash.removeTree(item.name) }
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

// Moving in.
extension ContainerTrash {
    /// Takes a container in that is to leave, unless it has come already. Called with the registry's lock held.
    func take(
        _ departure: ContainerDeparture, from containers: Directory, _ entry: RegistryEntry
    ) throws(AppGroupError) {
        try onFiles("move to the trash") { () throws(FileError) in
            let trash = try made(like: containers)
            if try trash.exists(departure.trashName) { return }
            guard try containers.exists(departure.directory) else { return }
            // Who has it open is told by its copy. It leaves all the same where that cannot be written, on a full disk say.
            if let root = try? containers.directory(departure.directory) { try? ContainerCopy.write(entry, in: root) }
            try containers.move(departure.directory, to: trash, as: departure.trashName)
        }
    }

    /// Asked before the registry says that a container leaves: one that then could not be moved would be in nobody's reach.
    func requireMovable(_ root: Directory, from containers: Directory, of group: AppGroup) throws(AppGroupError) {
        try onFiles("move to the trash") { () throws(FileError) in
            let trash = try made(like: containers)
            let (facts, place) = (try root.attributes("."), try containers.attributes("."))
            guard try trash.attributes(".").device == facts.device else {
                throw FileError(
                    .unsupported, operation: "move to the trash", path: root.path.string, errno: EXDEV,
                    advice: "The trash is on another file system; take what is there away by hand: \(trash.path)")
            }
            // rename(2): in a sticky directory only the owner of either may.
            let user = geteuid()
            guard place.mode & S_ISVTX == 0 || user == 0 || [facts.uid, place.uid].contains(user) else {
                throw FileError(
                    .permissionDenied, operation: "move to the trash", path: root.path.string, errno: EPERM,
                    advice: "Its owner (uid \(facts.uid)) or root has to do that.")
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
