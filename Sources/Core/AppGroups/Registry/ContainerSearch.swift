internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// A search for a group's opaque container by the copies in containers.
struct ContainerSearch {
    let group: AppGroup
    let home: GroupsHome

    /// Returns the only container whose copy names the group; nil if none does.
    ///
    /// - Throws: ``AppGroupError`` `ambiguousContainer` for several; for an unlisted container that may be the group's:
    ///   `damagedRegistry` if its copy is damaged, `file` if it cannot be examined.
    func only(in containers: Directory) throws(AppGroupError) -> ContainerFinder.Found? {
        let (found, doubts) = try look(in: containers)
        guard found.count <= 1 else { throw .ambiguousContainer(found.map(\.root.path.string), of: group) }
        if let only = found.first { return only }
        if doubts.isEmpty { return nil }
        let claimed = self.claimed
        if let first = doubts.first(where: { !claimed.contains($0.name) }) { throw first.error }
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

    private typealias Doubt = (name: String, error: AppGroupError)

    private func look(
        in containers: Directory
    ) throws(AppGroupError) -> (found: [ContainerFinder.Found], doubts: [Doubt]) {
        var (found, doubts): ([ContainerFinder.Found], [Doubt]) = ([], [])
        for name in try opaqueNames(in: containers) {
            do throws(AppGroupError) {
                if let one = try container(name, in: containers) { found.append(one) }
            } catch {
                doubts.append((name, error))
            }
        }
        return (found, doubts)
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
                if error.code == .notFound || isAnothers(name, error, in: containers) { return nil }
                throw AppGroupError(error, openingContainerOf: group)
            }
        }
    }

    private func isAnothers(_ name: String, _ error: FileError, in containers: Directory) -> Bool {
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
