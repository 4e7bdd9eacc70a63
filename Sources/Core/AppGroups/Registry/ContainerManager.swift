internal import SharedFiles
internal import SystemPackage

/// Changes a group's container: creates it, gives it up, adds and removes members. Every change requires the registry's
/// lock.
///
/// The order of writes, so that the next lock holder can complete the work of a killed one:
/// - A new container appears with its copy in it, under its final name, before the registry lists it; an unlisted one
///   is found by its copy.
/// - When a container is removed, the registry first drops its name and records its name in the trash, then its copy
///   does the same. Then the container is moved, and then the registry drops the record.
struct ContainerManager: Sendable {
    let group: AppGroup
    let home: GroupsHome

    /// The known state under the lock. The directory is nil if the group has none.
    struct State {
        var entry: RegistryEntry?
        var root: Directory?
        let containers: Directory
    }

    private var finder: ContainerFinder { ContainerFinder(group: group, home: home) }

    /// Runs a change under the lock, after completing unfinished changes.
    func change<Result>(
        sharing: Sharing = .ownerOnly, toleratesAbsence: Bool = false,
        _ body: (borrowing HeldRegistry, inout State) throws(AppGroupError) -> Result
    ) throws(AppGroupError) -> Result {
        let containers = try makeContainers(sharing)
        // The users of the container use its registry, even if another user needs one first.
        let existing = try present(in: containers)
        let held = try RegistryPlace(group: group, home: home)
            .lock(beside: containers, for: existing.map(Self.sharing) ?? sharing)
        var state = try state(held, containers, toleratesAbsence)
        try complete(held, &state)
        // After completion: a container on its way to the trash must not be taken for the group's.
        try readopt(&state)
        // An unregistered named container has no copy.
        if try held.read() != nil, let entry = state.entry, let root = state.root {
            ContainerCopy.refresh(from: entry, in: root)
        }
        return try body(held, &state)
    }

    /// Returns the apparent container before the lock is held. It may be on its way to the trash.
    private func present(in containers: Directory) throws(AppGroupError) -> Directory? {
        do throws(AppGroupError) { return try finder.find(in: containers)?.root } catch {
            if error.meansNoContainer { return nil }
            throw error
        }
    }

    private func makeContainers(_ sharing: Sharing) throws(AppGroupError) -> Directory {
        try onFiles { () throws(FileError) in
            let containers = try Directory.createParent(home.containersPath, sharing: sharing)
            // A user who may rename the container may replace it.
            try containers.requirePrivateOrShared()
            return containers
        }
    }

    private func onFiles<Result>(_ body: () throws(FileError) -> Result) throws(AppGroupError) -> Result {
        do throws(FileError) { return try body() } catch { throw AppGroupError(error, openingContainerOf: group) }
    }

    static func sharing(of root: Directory) -> Sharing { (try? root.sharing) ?? .ownerOnly }

    private func state(
        _ held: borrowing HeldRegistry, _ containers: Directory, _ toleratesAbsence: Bool
    ) throws(AppGroupError) -> State {
        var state = State(entry: try held.read(), root: nil, containers: containers)
        let found: ContainerFinder.Found?
        do throws(AppGroupError) { found = try finder.find(in: containers) } catch {
            guard toleratesAbsence, error.meansNoContainer else { throw error }
            return state
        }
        guard let found else { return state }
        state.root = found.root
        // Under the group's own name, which the registry lacked.
        if let entry = state.entry, entry.directory == nil { state.entry?.directory = found.name }
        if state.entry == nil {
            var entry = found.entry
            if entry == nil { entry = try ContainerCopy.read(in: found.root, of: group) }
            if entry?.departure == nil { entry?.directory = found.name } else { state.root = nil }
            state.entry =
                entry ?? RegistryEntry(group: group, style: found.style, directory: found.name, generation: 1)
        }
        return state
    }

    /// Adopts a container that a killed process created and did not register.
    private func readopt(_ state: inout State) throws(AppGroupError) {
        guard let entry = state.entry, entry.directory == nil, entry.style == .opaque,
            let found = try ContainerSearch(group: group, home: home).only(in: state.containers),
            let copy = found.entry, copy.departure == nil
        else { return }
        state.entry?.directory = found.name
        state.entry?.generation = max(entry.generation, copy.generation)
        state.root = found.root
    }
}

// The building blocks of changes.
extension ContainerManager {
    /// Creates the group's missing container.
    ///
    /// - Parameter prepared: The temporary name of a directory to use, as `prepare` returns it.
    func make(
        _ held: borrowing HeldRegistry, _ state: inout State, style: ContainerStyle, sharing: Sharing,
        prepared: String? = nil
    ) throws(AppGroupError) -> Directory {
        var entry = state.entry ?? RegistryEntry(group: group, style: style)
        entry.countContainer()
        entry.directory = entry.style == .named ? group.identifier : OpaqueName.random()
        // A group's next container is shared like its last one; its members would otherwise be locked out.
        let sharing = sharing == .ownerOnly && state.entry != nil ? held.sharing : sharing
        let maker = ContainerMaker(group: group, containers: state.containers, sharing: sharing)
        let root =
            if let prepared {
                try maker.place(prepared, as: entry)
            } else if entry.style == .named {
                try maker.makeNamed()
            } else {
                try maker.place(maker.prepare(entry) { (_, _) in }, as: entry)
            }
        if entry.style == .opaque || state.entry != nil { try held.write(entry) }
        if entry.style == .named, state.entry != nil { try ContainerCopy.write(entry, in: root) }
        state.entry = entry
        state.root = root
        return root
    }

    /// Creates the directory that will replace the container, under a temporary name.
    ///
    /// - Parameter fill: Places files in it.
    func prepare(
        _ entry: RegistryEntry, in state: State, sharing: Sharing,
        _ fill: (Directory, Sharing) throws(AppGroupError) -> Void
    ) throws(AppGroupError) -> String {
        var entry = entry
        entry.countContainer()
        return try ContainerMaker(group: group, containers: state.containers, sharing: sharing).prepare(entry, fill)
    }

    /// Creates a named container in a home without a registry, if this user may not create one: it needs none.
    ///
    /// - Returns: nil if the registry failed for another reason.
    func makeWithoutRegistry(_ sharing: Sharing, after error: AppGroupError) throws(AppGroupError) -> Directory? {
        guard let cause = error.underlying?.code, [.permissionDenied, .readOnly].contains(cause),
            (try? Directory.open(home.registryPath)) == nil,
            let containers = try finder.openContainers()
        else { return nil }
        return try ContainerMaker(group: group, containers: containers, sharing: sharing).makeNamed()
    }

    /// Restores a container from the trash.
    func putBack(
        _ name: String, from trash: Directory, _ copy: RegistryEntry?, _ held: borrowing HeldRegistry,
        _ state: inout State
    ) throws(AppGroupError) {
        var entry = state.entry ?? copy ?? RegistryEntry(group: group, style: .named)
        // The container's own style: the group may have had another one since.
        entry.style = copy?.style ?? .named
        entry.departure = nil
        entry.countContainer()
        let directory = entry.style == .named ? group.identifier : OpaqueName.random()
        entry.directory = directory
        // The copy first: after a kill following the move, the next lock holder finds the container.
        try ContainerCopy.write(entry, in: onFiles { () throws(FileError) in try trash.directory(name) })
        state.root = try onFiles { () throws(FileError) in
            try trash.move(name, to: state.containers, as: directory)
            return try state.containers.directory(directory)
        }
        try held.write(entry)
        state.entry = entry
    }

    /// Writes a changed entry, first to the registry, then to the container's copy.
    func record(
        _ entry: RegistryEntry, _ held: borrowing HeldRegistry, _ state: inout State
    ) throws(AppGroupError) {
        try held.write(entry)
        state.entry = entry
        if let root = state.root { try ContainerCopy.write(entry, in: root) }
    }
}

/// Creates directories of containers. Requires the registry's lock.
struct ContainerMaker {
    let group: AppGroup
    let containers: Directory
    let sharing: Sharing

    func makeNamed() throws(AppGroupError) -> Directory {
        removeStaleFiles()
        return try onFiles { () throws(FileError) in
            try requireShareable()
            return try containers.makeDirectory(group.identifier, sharing: sharing)
        }
    }

    /// Creates the directory under a temporary name with its copy in it, since an opaque directory without a copy would
    /// belong to no group.
    ///
    /// - Parameter fill: Places further files in it.
    /// - Returns: The temporary name.
    func prepare(
        _ entry: RegistryEntry, _ fill: (Directory, Sharing) throws(AppGroupError) -> Void
    ) throws(AppGroupError) -> String {
        removeStaleFiles()
        let temporary = temporaryPrefix + String(UInt32.random(in: .min ... .max), radix: 16) + Self.suffix
        let root = try onFiles { () throws(FileError) in
            try requireShareable()
            return try containers.makeDirectory(temporary, sharing: sharing)
        }
        do throws(AppGroupError) {
            try ContainerCopy.write(entry, in: root)
            try fill(root, sharing)
        } catch {
            try? containers.removeTree(temporary)
            throw error
        }
        return temporary
    }

    /// Gives a prepared directory its name.
    func place(_ temporary: String, as entry: RegistryEntry) throws(AppGroupError) -> Directory {
        let name = entry.directory ?? group.identifier
        return try onFiles { () throws(FileError) in
            try containers.move(temporary, to: containers, as: name)
            return try containers.directory(name)
        }
    }

    private func requireShareable() throws(FileError) {
        if let members = sharing.groupID { try containers.requireShareable(with: members) }
    }

    private static let suffix = ".new"
    private var temporaryPrefix: String { ".\(group.identifier)~" }

    /// Removes directories of killed processes. Only the lock holder creates such directories, so none is in use; one
    /// that can't be removed does no harm.
    private func removeStaleFiles() {
        for entry in (try? containers.entries()) ?? []
        where entry.name.hasPrefix(temporaryPrefix) && entry.name.hasSuffix(Self.suffix) {
            try? containers.removeTree(entry.name)
        }
    }

    private func onFiles<Result>(_ body: () throws(FileError) -> Result) throws(AppGroupError) -> Result {
        do throws(FileError) { return try body() } catch { throw AppGroupError(error, openingContainerOf: group) }
    }
}

// Removal of a container. The registry records it first, so that after a kill the next lock holder completes it; a
// container that can't be moved stays the group's.
extension ContainerManager {
    /// Gives the container up by moving it to the trash.
    ///
    /// - Returns: the path in the trash; nil if the group has no container.
    /// - Throws: ``AppGroupError`` `file` if it can't be moved; the container and its members then stay.
    func giveUp(_ held: borrowing HeldRegistry, _ state: inout State) throws(AppGroupError) -> String? {
        guard var entry = state.entry, let root = state.root, let directory = entry.directory else { return nil }
        let trash = ContainerTrash(home: home)
        try trash.requireMovable(root, from: state.containers, of: group)
        var before = try held.read() ?? entry
        before.directory = directory
        let departure = ContainerDeparture(directory: directory, trashName: TrashName(of: group).string)
        entry.directory = nil
        entry.departure = departure
        try held.write(entry)
        do throws(AppGroupError) { try trash.take(departure, from: state.containers, entry) } catch {
            keep(before, held, state.containers)
            throw error
        }
        entry.departure = nil
        state.entry = entry
        state.root = nil
        return home.trashPath.appending(departure.trashName).string
    }

    /// Completes the removal that a killed process has begun.
    func complete(_ held: borrowing HeldRegistry, _ state: inout State) throws(AppGroupError) {
        guard var entry = state.entry, let departure = entry.departure else { return }
        do throws(AppGroupError) {
            try ContainerTrash(home: home).take(departure, from: state.containers, entry)
        } catch {
            // Not for an edited registry, which must not be overwritten.
            guard error.code == .file else { throw error }
            entry.directory = departure.directory
            entry.style = departure.directory == group.identifier ? .named : .opaque
            keep(entry, held, state.containers)
            throw error
        }
        entry.departure = nil
        try held.write(entry)
        state.entry = entry
    }

    /// Restores the entries in the registry and the copy of a container that was not moved.
    private func keep(_ before: RegistryEntry, _ held: borrowing HeldRegistry, _ containers: Directory) {
        guard let directory = before.directory, let root = try? containers.directory(directory) else { return }
        var before = before
        before.departure = nil
        // After a failure here the departure stays, and the next change retries it.
        guard (try? held.write(before)) != nil else { return }
        try? ContainerCopy.write(before, in: root)
    }
}
