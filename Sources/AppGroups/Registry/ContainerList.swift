internal import SharedFiles
internal import SystemPackage

/// The groups of a home, by what lies in `Containers` and `Registry`.
public struct ContainerList: Sendable {
    private let home: GroupsHome

    /// The list of a home. Nothing is read yet.
    public init(home: GroupsHome) { self.home = home }

    /// One group, as far as this process can tell.
    public struct Item: Sendable {
        /// The group.
        public let group: AppGroup
        /// Where its container lies; nil where it has none, or that can't be told.
        public let path: String?
        /// What kind of container it has, or would get.
        public let style: ContainerStyle?
        /// The members, by application identifier.
        public let members: [GroupMember]
        /// The most bytes that the container may hold; nil for any number.
        public let quota: Int64?
        /// Why its container or registry can't be used.
        public let error: AppGroupError?
    }

    /// Every group that has a container or a registry which this user may see, in order.
    public var groups: [AppGroup] {
        let names = self.names(in: home.containersPath)
        var found = Set((names + self.names(in: home.registryPath)).compactMap { try? AppGroup($0) })
        for name in names where OpaqueName.isWellFormed(name) {
            guard let root = try? Directory.open(home.containersPath.appending(name)),
                let entry = try? ContainerCopy.readAny(in: root)
            else { continue }
            found.insert(entry.group)
        }
        return found.sorted { $0.identifier < $1.identifier }
    }

    /// What is known of each of them; a group of which nothing is left but an empty registry is left out.
    public func items() -> [Item] { groups.compactMap(item) }

    /// What is known of one group; nil where nothing is.
    public func item(_ group: AppGroup) -> Item? {
        do throws(AppGroupError) {
            let entry = try GroupRegistry(group, in: home).entry()
            let found = try ContainerFinder(group: group, home: home).find()
            if entry == nil && found == nil { return nil }
            return Item(
                group: group, path: found?.root.path.string, style: found?.style ?? entry?.style,
                members: entry?.members ?? [], quota: entry?.quota, error: nil)
        } catch {
            let entry = try? GroupRegistry(group, in: home).entry()
            return Item(
                group: group, path: nil, style: entry?.style, members: entry?.members ?? [], quota: entry?.quota,
                error: error)
        }
    }

    private func names(in path: FilePath) -> [String] {
        let entries = (try? Directory.open(path).entries()) ?? []
        return entries.filter { $0.kind == .directory }.map(\.name)
    }
}
