internal import SharedFiles

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
