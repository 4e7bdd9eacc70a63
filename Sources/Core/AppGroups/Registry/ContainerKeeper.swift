internal import SharedFiles
internal import SystemPackage

/// Changes what a group's container is: makes it, gives it up, takes members in and out. Every change is made under the
/// registry's lock.
///
/// The order of writes, so that a kill at any point leaves what the next holder of the lock completes:
/// - A container appears with its copy in it, under its final name, before the registry has it; one that the registry does
///   not have is found by its copy.
/// - A container leaves after the registry says so: first the registry without it and with its name in the trash, then the
///   same in its copy, then the move, then the registry without either.
struct ContainerKeeper: Sendable {
    let group: AppGroup
    let home: GroupsHome

    /// What is known under the lock. The directory is nil where the group has none.
    struct State {
        var entry: RegistryEntry?
        var root: Directory?
        let containers: Directory
    }

    private var finder: ContainerFinder { ContainerFinder(group: group, home: home) }

    /// Runs a change under the lock, with what was left half done completed before it.
    func change<Result>(
        sharing: Sharing = .ownerOnly, toleratesAbsence: Bool = false,
        _ body: (borrowing HeldRegistry, inout State) throws(AppGroupError) -> Result
    ) throws(AppGroupError) -> Result {
        let containers = try makeContainers(sharing)
        // Who uses the container uses its registry, whoever is first to need one.
        let existing = try present(in: containers)
        let held = try RegistryPlace(group: group, home: home)
            .lock(beside: containers, for: existing.map(Self.sharing) ?? sharing)
        var state = try state(held, containers, toleratesAbsence)
        try complete(held, &state)
        // Only now: what is on its way to the trash must not be taken for the group's container.
        try readopt(&state)
        // A named container that nobody registered has no copy.
        if try held.read() != nil, let entry = state.entry, let root = state.root {
            ContainerCopy.refresh(from: entry, in: root)
        }
        return try body(held, &state)
    }

    /// The container as it seems before the lock is held. It may be on its way to the trash.
    private func present(in containers: Directory) throws(AppGroupError) -> Directory? {
        do throws(AppGroupError) { return try finder.find(in: containers)?.root } catch {
            if error.meansNoContainer { return nil }
            throw error
        }
    }

    private func makeContainers(_ sharing: Sharing) throws(AppGroupError) -> Directory {
        try onFiles { () throws(FileError) in
            let containers = try Directory.createParent(home.containersPath, sharing: sharing)
            // Who may rename the container may put another one in its place.
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
        // Under the group's own name, where the registry had none.
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

    /// A container that a killed process made and did not come to register.
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

// What changes are made of.
extension ContainerKeeper {
    /// Makes the container that the group does not have.
    func make(
        _ held: borrowing HeldRegistry, _ state: inout State, style: ContainerStyle, sharing: Sharing
    ) throws(AppGroupError) -> Directory {
        var entry = state.entry ?? RegistryEntry(group: group, style: style)
        entry.countContainer()
        entry.directory = entry.style == .named ? group.identifier : OpaqueName.random()
        // A group's next container is shared as its last one was: its members would else be locked out.
        let sharing = sharing == .ownerOnly && state.entry != nil ? held.sharing : sharing
        let maker = ContainerMaker(group: group, containers: state.containers, sharing: sharing)
        let root = try entry.style == .named ? maker.makeNamed() : maker.makeOpaque(entry)
        if entry.style == .opaque || state.entry != nil { try held.write(entry) }
        if entry.style == .named, state.entry != nil { try ContainerCopy.write(entry, in: root) }
        state.entry = entry
        state.root = root
        return root
    }

    /// Makes a named container in a home that has no registry, and where this user may not make one: it needs none.
    ///
    /// - Returns: nil where that is not why the registry could not be used.
    func makeWithoutRegistry(_ sharing: Sharing, after error: AppGroupError) throws(AppGroupError) -> Directory? {
        guard let cause = error.underlying?.code, [.permissionDenied, .readOnly].contains(cause),
            (try? Directory.open(home.registryPath)) == nil,
            let containers = try finder.openContainers()
        else { return nil }
        return try ContainerMaker(group: group, containers: containers, sharing: sharing).makeNamed()
    }

    /// Puts a container from the trash in the group's place.
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
        // First its copy: killed after the move it is a container that the next holder of the lock finds.
        try ContainerCopy.write(entry, in: onFiles { () throws(FileError) in try trash.directory(name) })
        state.root = try onFiles { () throws(FileError) in
            try trash.move(name, to: state.containers, as: directory)
            return try state.containers.directory(directory)
        }
        try held.write(entry)
        state.entry = entry
    }

    /// Writes what has changed, first to the registry, then to the container's copy.
    func record(
        _ entry: RegistryEntry, _ held: borrowing HeldRegistry, _ state: inout State
    ) throws(AppGroupError) {
        try held.write(entry)
        state.entry = entry
        if let root = state.root { try ContainerCopy.write(entry, in: root) }
    }
}

/// Makes directories of containers. Called with the registry's lock held.
struct ContainerMaker {
    let group: AppGroup
    let containers: Directory
    let sharing: Sharing

    func makeNamed() throws(AppGroupError) -> Directory {
        removeLitter()
        return try onFiles { () throws(FileError) in
            try requireShareable()
            return try containers.makeDirectory(group.identifier, sharing: sharing)
        }
    }

    /// Made under a name of its own and renamed with its copy in it: an opaque directory without a copy would be nobody's.
    func makeOpaque(_ entry: RegistryEntry) throws(AppGroupError) -> Directory {
        removeLitter()
        let temporary = temporaryPrefix + String(UInt32.random(in: .min ... .max), radix: 16) + Self.suffix
        let root = try onFiles { () throws(FileError) in
            try requireShareable()
            return try containers.makeDirectory(temporary, sharing: sharing)
        }
        try ContainerCopy.write(entry, in: root)
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

    /// What killed makers left. Only the holder of the lock makes such directories, so nobody is at it; what can't be
    /// removed hinders nobody.
    private func removeLitter() {
        for entry in (try? containers.entries()) ?? []
        where entry.name.hasPrefix(temporaryPrefix) && entry.name.hasSuffix(Self.suffix) {
            try? containers.removeTree(entry.name)
        }
    }

    private func onFiles<Result>(_ body: () throws(FileError) -> Result) throws(AppGroupError) -> Result {
        do throws(FileError) { return try body() } catch { throw AppGroupError(error, openingContainerOf: group) }
    }
}

// How a container goes. The registry says so first, so that a kill at any point leaves what the next holder of the lock
// completes; one that can't be moved stays the group's.
extension ContainerKeeper {
    /// Gives the container up: it goes to the trash.
    ///
    /// - Returns: Where it lies there; nil where the group has none.
    /// - Throws: ``AppGroupError`` `file` where it can't be moved: then it stays, and its members with it.
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

    /// Completes a departure that a killed process has begun.
    func complete(_ held: borrowing HeldRegistry, _ state: inout State) throws(AppGroupError) {
        guard var entry = state.entry, let departure = entry.departure else { return }
        do throws(AppGroupError) {
            try ContainerTrash(home: home).take(departure, from: state.containers, entry)
        } catch {
            // Not for what an edited registry has: that is nobody's to write over.
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

    /// Takes back what the registry and the copy say of a container that is to leave, if it has not gone.
    private func keep(_ before: RegistryEntry, _ held: borrowing HeldRegistry, _ containers: Directory) {
        guard let directory = before.directory, let root = try? containers.directory(directory) else { return }
        var before = before
        before.departure = nil
        // What fails here too is left as a departure, which the next change tries again.
        guard (try? held.write(before)) != nil else { return }
        try? ContainerCopy.write(before, in: root)
    }
}
