internal import Glibc
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

    /// A directory with the name of an opaque container of which nothing says whose it is.
    public struct Unidentified: Sendable {
        /// Where it lies.
        public let path: String
        /// Why its copy of the registry does not tell.
        public let error: AppGroupError
    }

    /// Every group that has a container or a registry which this user may see, in order.
    ///
    /// - Throws: ``AppGroupError`` `file` where `Containers` or `Registry` can't be read.
    public func groups() throws(AppGroupError) -> [AppGroup] { try survey().groups }

    /// What is known of each of them; a group of which nothing is left but an empty registry is left out.
    ///
    /// - Throws: as ``groups()``.
    public func items() throws(AppGroupError) -> [Item] { try groups().compactMap(item) }

    /// The directories that may be containers of any group, and that no registry has. Those of other users that this one
    /// may not look at are left out.
    ///
    /// - Throws: as ``groups()``.
    public func unidentified() throws(AppGroupError) -> [Unidentified] {
        let survey = try survey()
        guard !survey.unidentified.isEmpty else { return [] }
        let registered = Set(survey.groups.compactMap { try? RegistryPlace(group: $0, home: home).read()?.directory })
        return survey.unidentified.filter { !registered.contains($0.key) }.map(\.value).sorted { $0.path < $1.path }
    }

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

    /// Whose container a directory is; nil for one that is gone, or another user's who keeps it closed.
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
            code: .damagedRegistry, operation: "tell whose container this is", subject: path, reason: reason,
            advice: "Mend it, or keep the directory out of the way: ls -l \(path.shellQuoted)")
    }
}
