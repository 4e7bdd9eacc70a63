internal import SharedFiles
internal import SystemPackage

/// Looks for a group's opaque container by the copies that containers carry.
struct ContainerSearch {
    let group: AppGroup
    let home: GroupsHome

    /// The one container whose copy says that it is the group's; nil where there is none.
    ///
    /// - Throws: ``AppGroupError`` `ambiguousContainer` for several; `damagedRegistry` for a damaged copy in a container that no
    ///   registry has, which may be the group's.
    func only(in containers: Directory) throws(AppGroupError) -> ContainerFinder.Found? {
        var found: [ContainerFinder.Found] = []
        var damaged: [(name: String, error: AppGroupError)] = []
        for name in try opaqueNames(in: containers) {
            // Another user's private container can't be opened, and is not ours.
            guard let root = try? containers.directory(name) else { continue }
            do throws(ContainerCopy.CopyFault) {
                guard var entry = try ContainerCopy.readAny(in: root), entry.group == group else { continue }
                // One that was renamed by hand is still the same.
                if entry.departure == nil { entry.directory = name }
                found.append(.init(root: root, name: name, style: .opaque, entry: entry))
            } catch {
                guard case .damaged(let reason) = error else { continue }
                damaged.append(
                    (name, .damagedCopy(root.display(ContainerLayout.metadata), of: group, because: reason)))
            }
        }
        guard found.count <= 1 else { throw .ambiguousContainer(found.map(\.root.path.string), of: group) }
        if let only = found.first { return only }
        if let first = damaged.first(where: { !claimed.contains($0.name) }) { throw first.error }
        return nil
    }

    private func opaqueNames(in containers: Directory) throws(AppGroupError) -> [String] {
        do throws(FileError) {
            return try containers.entries().filter { $0.kind == .directory && OpaqueName.isWellFormed($0.name) }
                .map(\.name)
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    /// The directories that other groups' registries have.
    private var claimed: Set<String> {
        let groups = (try? Directory.open(home.registryPath).entries()) ?? []
        return Set(
            groups.compactMap { entry in
                guard let other = try? AppGroup(entry.name) else { return nil }
                return (try? RegistryPlace(group: other, home: home).read())?.directory
            })
    }
}
