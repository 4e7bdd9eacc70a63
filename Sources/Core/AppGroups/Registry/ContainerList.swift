internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The groups of a home, by the content of `Containers` and `Registry`.
public struct ContainerList: Sendable {
    private let home: GroupsHome

    /// Creates the list of a home, without reading it yet.
    public init(home: GroupsHome) { self.home = home }

    /// A group, as far as this process can examine it.
    public struct Item: Sendable {
        /// The group.
        public let group: AppGroup
        /// The path of its container; nil if it has none, or it can't be determined.
        public let path: String?
        /// The style of its existing or next container.
        public let style: ContainerStyle?
        /// The members, by application identifier.
        public let members: [GroupMember]
        /// The container's quota in bytes; nil for no quota.
        public let quota: Int64?
        /// The error that makes its container or registry unusable.
        public let error: AppGroupError?
    }

    /// A directory with the name of an opaque container and without a known group.
    public struct Unidentified: Sendable {
        /// The path of the directory.
        public let path: String
        /// The error of its copy of the registry.
        public let error: AppGroupError
    }

    /// Returns every group with a container or a registry that this user may see, sorted.
    ///
    /// - Throws: ``AppGroupError`` `file` if `Containers` or `Registry` can't be read.
    public func groups() throws(AppGroupError) -> [AppGroup] { try survey().groups }

    /// Returns the known facts of each group; omits a group with only an empty registry.
    ///
    /// - Throws: as ``groups()``.
    public func items() throws(AppGroupError) -> [Item] { try groups().compactMap(item) }

    /// Returns the directories that may be containers of any group, and that no registry lists. Omits those of other
    /// users that this user may not examine.
    ///
    /// - Throws: as ``groups()``.
    public func unidentified() throws(AppGroupError) -> [Unidentified] {
        let survey = try survey()
        guard !survey.unidentified.isEmpty else { return [] }
        let registered = Set(survey.groups.compactMap { try? RegistryPlace(group: $0, home: home).read()?.directory })
        return survey.unidentified.filter { !registered.contains($0.key) }.map(\.value).sorted { $0.path < $1.path }
    }

    /// Returns the known facts of one group; nil if nothing is known.
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

    private func survey() throws(AppGroupError) -> (groups: [AppGroup], unidentified: [String: Unidentified]) {
        let names = try names(in: home.containersPath)
        var found = Set((names + (try self.names(in: home.registryPath))).compactMap { try? AppGroup($0) })
        var unidentified: [String: Unidentified] = [:]
        for name in names where OpaqueName.isWellFormed(name) {
            do throws(AppGroupError) {
                if let group = try owner(of: name) { found.insert(group) }
            } catch {
                unidentified[name] = Unidentified(path: home.containersPath.appending(name).string, error: error)
            }
        }
        return (found.sorted { $0.identifier < $1.identifier }, unidentified)
    }

    /// Returns the group of a container; nil for a directory that is gone, or another user's closed one.
    private func owner(of name: String) throws(AppGroupError) -> AppGroup? {
        let path = home.containersPath.appending(name)
        do throws(ContainerCopy.CopyFault) {
            let root: Directory
            do throws(FileError) { root = try Directory.open(path) } catch { throw .file(error) }
            guard let entry = try ContainerCopy.readAny(in: root) else { throw .damaged("it is missing") }
            return entry.group
        } catch {
            let copy = path.appending(ContainerLayout.metadata).string
            switch error {
            case .damaged(let reason): throw .unidentified(copy, because: reason)
            case .file(let error):
                if error.code == .notFound || (error.code == .permissionDenied && isOfAnotherUser(name)) { return nil }
                throw AppGroupError(error, listing: path.string)
            }
        }
    }

    private func isOfAnotherUser(_ name: String) -> Bool {
        guard let owner = try? Directory.open(home.containersPath).attributes(name).uid else { return false }
        return owner != geteuid()
    }

    private func names(in path: FilePath) throws(AppGroupError) -> [String] {
        do throws(FileError) {
            return try Directory.open(path).entries().filter { $0.kind == .directory }.map(\.name)
        } catch {
            if error.code == .notFound { return [] }
            throw AppGroupError(error, listing: path.string)
        }
    }
}

extension AppGroupError {
    fileprivate init(_ error: FileError, listing path: String) {
        self.init(
            code: .file, operation: "list the groups", subject: path, reason: "cannot \(error.operation)",
            advice: error.advice, underlying: error)
    }

    fileprivate static func unidentified(_ path: String, because reason: String) -> Self {
        Self(
            code: .damagedRegistry, operation: "identify the container's group", subject: path, reason: reason,
            advice: "Correct it, or move the directory away: ls -l \(path.shellQuoted)")
    }
}
