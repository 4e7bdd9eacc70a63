internal import SharedFiles
internal import SystemPackage

/// Finds a group's container: where the registry has it; where there is no registry, under the group's identifier, else by
/// the copies in opaque containers. So the loss of the registry never makes a second container beside a full one.
///
/// It makes nothing and takes no lock.
struct ContainerFinder: Sendable {
    let group: AppGroup
    let home: GroupsHome

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
    /// - Throws: ``AppGroupError``: `damagedRegistry`, `ambiguousContainer`; `containerMissing` where the registry has one that
    ///   is gone; `notADirectory`, `unsafeContainer`, `file`.
    func find() throws(AppGroupError) -> Found? {
        guard let containers = try openContainers() else {
            if let entry = try registered(), let away = away(entry) { throw away }
            return nil
        }
        return try find(in: containers)
    }

    func find(in containers: Directory) throws(AppGroupError) -> Found? {
        let entry: RegistryEntry?
        do throws(AppGroupError) { entry = try registered() } catch {
            // Another user's registry: the container itself says whose it is, if it is there.
            guard error.underlying?.code == .permissionDenied, let found = try named(containers, nil) else {
                throw error
            }
            return found
        }
        guard let entry else { return try unregistered(in: containers) }
        guard let directory = entry.directory else { return nil }
        if entry.style == .named { return try named(containers, entry) }
        guard let root = try open(directory, in: containers) else { throw .containerAway(path(directory), of: group) }
        // The registry may have been edited: nobody is to be given another group's container.
        _ = try ContainerCopy.read(in: root, of: group)
        // Nor one in place of a container that lies under the group's own name: who made that entry?
        if try open(group.identifier, in: containers) != nil {
            throw .ambiguousContainer([path(directory), path(group.identifier)], of: group)
        }
        return Found(root: root, name: directory, style: .opaque, entry: entry)
    }

    private func registered() throws(AppGroupError) -> RegistryEntry? {
        try RegistryPlace(group: group, home: home).read()
    }

    private func away(_ entry: RegistryEntry) -> AppGroupError? {
        guard entry.style == .opaque, let directory = entry.directory else { return nil }
        return .containerAway(path(directory), of: group)
    }

    private func path(_ name: String) -> String { home.containersPath.appending(name).string }

    private func unregistered(in containers: Directory) throws(AppGroupError) -> Found? {
        if let found = try named(containers, nil) { return found }
        return try ContainerSearch(group: group, home: home).only(in: containers)
    }

    private func named(_ containers: Directory, _ entry: RegistryEntry?) throws(AppGroupError) -> Found? {
        guard let root = try open(group.identifier, in: containers) else { return nil }
        return Found(root: root, name: group.identifier, style: .named, entry: entry)
    }

    /// `Containers`, checked: who may rename what is there may put another container in its place.
    func openContainers() throws(AppGroupError) -> Directory? {
        do throws(FileError) {
            let containers = try Directory.open(home.containersPath)
            try containers.requirePrivateOrShared()
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
