internal import Glibc
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

/// A search for a group's opaque container by the copies in containers.
struct ContainerSearch {
    let group: AppGroup
    let home: GroupsHome

    /// Returns the only container whose copy names the group; nil if none does.
    ///
    /// - Throws: ``AppGroupError`` `ambiguousContainer` for several; for an unlisted container that may be the group's:
    ///   `damagedRegistry` if its copy is damaged, `file` if it cannot be examined.
    func only(in containers: Directory) throws(AppGroupError) -> ContainerFinder.Found? {
        let (found, failedEntries) = try look(in: containers)
        guard found.count <= 1 else { throw .ambiguousContainer(found.map(\.root.path.string), of: group) }
        if let only = found.first { return only }
        if failedEntries.isEmpty { return nil }
        let claimed = self.claimed
        if let first = failedEntries.first(where: { !claimed.contains($0.name) }) { throw first.error }
        return nil
    }

    /// Returns every container whose copy names the group. Skips those that cannot be examined.
    func all(in containers: Directory) throws(AppGroupError) -> [ContainerFinder.Found] {
        try look(in: containers).found
    }

    /// Returns whether this user has such a private container.
    func hasPrivateOne(in containers: Directory) -> Bool {
        guard let found = try? all(in: containers) else { return false }
        return found.contains { found in
            guard let facts = try? found.root.attributes(".") else { return false }
            return facts.uid == geteuid() && facts.sharing == .ownerOnly
        }
    }

    private typealias FailedEntry = (name: String, error: AppGroupError)

    private func look(
        in containers: Directory
    ) throws(AppGroupError) -> (found: [ContainerFinder.Found], failedEntries: [FailedEntry]) {
        var (found, failedEntries): ([ContainerFinder.Found], [FailedEntry]) = ([], [])
        for name in try opaqueNames(in: containers) {
            do throws(AppGroupError) {
                if let one = try container(name, in: containers) { found.append(one) }
            } catch {
                failedEntries.append((name, error))
            }
        }
        return (found, failedEntries)
    }

    /// Returns nil for a container of another group, and for another user's private one.
    private func container(_ name: String, in containers: Directory) throws(AppGroupError) -> ContainerFinder.Found? {
        do throws(ContainerCopy.CopyFault) {
            let root: Directory
            do throws(FileError) { root = try containers.directory(name) } catch { throw .file(error) }
            guard var entry = try ContainerCopy.readAny(in: root), entry.group == group else { return nil }
            // A container that was renamed by hand is still the same.
            if entry.departure == nil { entry.directory = name }
            return .init(root: root, name: name, style: .opaque, entry: entry)
        } catch {
            switch error {
            case .damaged(let reason):
                throw .damagedCopy(
                    containers.display("\(name)/\(ContainerLayout.metadata)"), of: group, because: reason)
            case .file(let error):
                if error.code == .notFound || belongsToAnotherUser(name, error, in: containers) { return nil }
                throw AppGroupError(error, openingContainerOf: group)
            }
        }
    }

    private func belongsToAnotherUser(_ name: String, _ error: FileError, in containers: Directory) -> Bool {
        guard error.code == .permissionDenied, let facts = try? containers.attributes(name) else { return false }
        return facts.uid != geteuid()
    }

    private func opaqueNames(in containers: Directory) throws(AppGroupError) -> [String] {
        do throws(FileError) {
            return try containers.entries()
                .filter { [.directory, .unknown].contains($0.kind) && OpaqueName.isWellFormed($0.name) }.map(\.name)
        } catch {
            throw AppGroupError(error, openingContainerOf: group)
        }
    }

    /// The directories in other groups' registries.
    private var claimed: Set<String> {
        let groups = (try? Directory.open(home.registryPath).entries()) ?? []
        return Set(
            groups.compactMap { entry in
                guard let other = try? AppGroup(entry.name), other != group else { return nil }
                return (try? RegistryPlace(group: other, home: home).read())?.directory
            })
    }
}

/// The name of an opaque container's directory: a random UUID (RFC 9562, version 4) in capitals, as on iOS.
///
/// No app group has such an identifier: its first component has eight characters and a hyphen.
enum OpaqueName {
    static func random() -> String {
        var generator = SystemRandomNumberGenerator()
        var bytes = (0..<16).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        bytes[6] = bytes[6] & 0x0F | 0x40
        bytes[8] = bytes[8] & 0x3F | 0x80
        var name = ""
        for byte in bytes {
            if hyphens.contains(name.utf8.count) { name += "-" }
            name += digits[Int(byte >> 4)] + digits[Int(byte & 15)]
        }
        return name
    }

    /// Returns whether a name has the form, regardless of its origin.
    static func isWellFormed(_ name: String) -> Bool {
        let bytes = Array(name.utf8)
        return bytes.count == 36
            && bytes.enumerated().allSatisfy { offset, byte in
                hyphens.contains(offset) ? byte == UInt8(ascii: "-") : isDigit(byte)
            }
    }

    private static let hyphens: Set = [8, 13, 18, 23]
    private static let digits = "0123456789ABCDEF".map(String.init)

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "F")).contains(byte)
    }
}
