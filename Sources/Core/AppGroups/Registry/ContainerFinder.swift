internal import SharedFiles
internal import SystemPackage

/// Finds a group's container: by the registry; without a registry under the group's identifier, else by the copies in
/// opaque containers. The loss of the registry therefore never leads to a second container.
///
/// The finder creates nothing and takes no lock.
struct ContainerFinder: Sendable {
    let group: AppGroup
    let home: GroupsHome
    /// `true` to reject directories that others may change; `false` for diagnosis.
    var isStrict = true

    /// A container that was found but not yet checked.
    struct Found {
        let root: Directory
        let name: String
        let style: ContainerStyle
        /// The registry's entry; nil if it is not registered.
        let entry: RegistryEntry?
    }

    /// Returns the container; nil if the group has none.
    ///
    /// - Throws: ``AppGroupError``: `damagedRegistry`, `ambiguousContainer`; `containerAway` if a registered container
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
                // The container moved after its entry was read: the entry now shows its successor.
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
        // The registry may have been edited: it must not give access to another group's container.
        guard try ContainerCopy.read(in: root, of: group) != nil else {
            throw .missingCopy(root.display(ContainerLayout.metadata), of: group, in: home)
        }
        // A container under the group's own name makes the entry doubtful.
        if try open(group.identifier, in: containers) != nil {
            throw .ambiguousContainer([path(directory), path(group.identifier)], of: group)
        }
        return Found(root: root, name: directory, style: .opaque, entry: entry)
    }

    /// Finds a container under the group's own name that the registry lacks: restored by hand, or created by a process
    /// that was killed before it registered it.
    private func unlisted(_ entry: RegistryEntry, in containers: Directory) throws(AppGroupError) -> Found? {
        guard entry.departure == nil, let found = try named(containers, entry) else { return nil }
        if entry.style != .named { throw .ambiguousContainer([path(group.identifier)], of: group) }
        return found
    }

    /// Handles another user's registry: the container itself identifies its group, if it exists.
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

    /// In a shared home any member may create a directory that claims to be the group's. Only containers of the same
    /// user compete with a private container.
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

    /// Opens `Containers` and checks it: a user who may rename its entries may replace a container.
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
