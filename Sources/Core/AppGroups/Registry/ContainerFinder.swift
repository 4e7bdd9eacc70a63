internal import SharedFiles
internal import SystemPackage

/// Finds a group's container: where the registry has it; where there is no registry, under the group's identifier, else by
/// the copies in opaque containers. So the loss of the registry never makes a second container beside a full one.
///
/// It makes nothing and takes no lock.
struct ContainerFinder: Sendable {
    let group: AppGroup
    let home: GroupsHome
    /// Whether places are refused that others may change. Not by who says what is wrong with them.
    var isStrict = true

    /// A container that was found, not yet checked.
    struct Found {
        let root: Directory
        let name: String
        let style: ContainerStyle
        /// What the registry has of it; nil where it is not registered.
        let entry: RegistryEntry?
    }

    /// The container; nil where the group has none.
    ///
    /// - Throws: ``AppGroupError``: `damagedRegistry`, `ambiguousContainer`; `containerAway` where the registry has one that
    ///   is gone; `notADirectory`, `unsafeContainer`, `file`.
    func find() throws(AppGroupError) -> Found? {
        guard let containers = try openContainers() else {
            if let entry = try registered(), let away = away(entry) { throw away }
            return nil
        }
        return try find(in: containers)
    }

    func find(in containers: Directory) throws(AppGroupError) -> Found? {
        var entry = Result.of { () throws(AppGroupError) in try registered() }
        while true {
            do throws(AppGroupError) {
                switch entry {
                case .success(let entry?): return try find(entry, in: containers)
                case .success(nil): return try unregistered(in: containers)
                case .failure(let error): return try unreadable(error, in: containers)
                }
            } catch {
                // A container that went after its entry had been read: the entry says by now what followed it.
                let now = Result.of { () throws(AppGroupError) in try registered() }
                if now == entry { throw error }
                entry = now
            }
        }
    }

    private func find(_ entry: RegistryEntry, in containers: Directory) throws(AppGroupError) -> Found? {
        guard let directory = entry.directory else { return try unlisted(entry, in: containers) }
        if entry.style == .named { return try named(containers, entry) }
        guard let root = try open(directory, in: containers) else { throw .containerAway(path(directory), of: group) }
        // The registry may have been edited: nobody is to be given another group's container.
        guard try ContainerCopy.read(in: root, of: group) != nil else {
            throw .missingCopy(root.display(ContainerLayout.metadata), of: group, in: home)
        }
        // Nor one in place of a container that lies under the group's own name: who made that entry?
        if try open(group.identifier, in: containers) != nil {
            throw .ambiguousContainer([path(directory), path(group.identifier)], of: group)
        }
        return Found(root: root, name: directory, style: .opaque, entry: entry)
    }

    /// The registry has no container, yet one may lie under the group's own name: brought back by hand, or made by a process
    /// that was killed before it said so.
    private func unlisted(_ entry: RegistryEntry, in containers: Directory) throws(AppGroupError) -> Found? {
        guard entry.departure == nil, let found = try named(containers, entry) else { return nil }
        if entry.style != .named { throw .ambiguousContainer([path(group.identifier)], of: group) }
        return found
    }

    /// Another user's registry: the container itself says whose it is, if it is there.
    private func unreadable(_ error: AppGroupError, in containers: Directory) throws(AppGroupError) -> Found? {
        guard error.underlying?.code == .permissionDenied, let found = try unregistered(in: containers) else {
            throw error
        }
        return found
    }

    private func registered() throws(AppGroupError) -> RegistryEntry? {
        try RegistryPlace(group: group, home: home, isStrict: isStrict).read()
    }

    private func away(_ entry: RegistryEntry) -> AppGroupError? {
        guard entry.style == .opaque, let directory = entry.directory else { return nil }
        return .containerAway(path(directory), of: group)
    }

    private func path(_ name: String) -> String { home.containersPath.appending(name).string }

    private func unregistered(in containers: Directory) throws(AppGroupError) -> Found? {
        let search = ContainerSearch(group: group, home: home)
        guard let found = try named(containers, nil) else { return try search.only(in: containers) }
        let others = try search.all(in: containers).filter { isRival($0, of: found) }
        if others.isEmpty { return found }
        throw .ambiguousContainer([found.root.path.string] + others.map(\.root.path.string), of: group)
    }

    /// In a shared home any member may make a directory that says it is the group's: a private container has only those of
    /// its own user beside it.
    private func isRival(_ other: Found, of named: Found) -> Bool {
        guard let mine = try? named.root.attributes("."), mine.sharing == .ownerOnly,
            let theirs = try? other.root.attributes(".")
        else { return true }
        return mine.uid == theirs.uid
    }

    private func named(_ containers: Directory, _ entry: RegistryEntry?) throws(AppGroupError) -> Found? {
        guard let root = try open(group.identifier, in: containers) else { return nil }
        return Found(root: root, name: group.identifier, style: .named, entry: entry)
    }

    /// `Containers`, checked: who may rename what is there may put another container in its place.
    func openContainers() throws(AppGroupError) -> Directory? {
        do throws(FileError) {
            let containers = try Directory.open(home.containersPath)
            if isStrict { try containers.requirePrivateOrShared() }
            return containers
        } catch {
            if error.code == .notFound { return nil }
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    private func open(_ name: String, in containers: Directory) throws(AppGroupError) -> Directory? {
        do throws(FileError) { return try containers.directory(name) } catch {
            if error.code == .notFound { return nil }
            throw AppGroupError(error, openingContainerOf: group)
        }
    }
}

extension Result where Failure == AppGroupError {
    fileprivate static func of(_ body: () throws(AppGroupError) -> Success) -> Self {
        do throws(AppGroupError) { return .success(try body()) } catch { return .failure(error) }
    }
}
