internal import AppGroups
internal import Glibc
internal import KeyVault
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// The files that no move may take: those that open what it seals. A file that contains a key, sealed with that key,
/// could never be opened again.
struct PlaintextImportExclusions {
    private let container: String
    private let homes: [String]
    private let excluded: [FileNumber]

    private struct FileNumber {
        let device, inode: UInt64
    }

    /// - Parameter needed: Paths of files that the move reads: keys and golden records.
    init(of store: SealedStore, _ options: PlaintextImportOptions, needing needed: [String] = []) {
        container = Self.real(store.container.root.path.string)
        let home = store.home
        let memories =
            [home.watermarksPath, home.otherWatermarksPath].compactMap { $0 } + home.placesPaths + home.rostersPaths
            + [home.lastGoodPath]
        homes =
            ([home.containersPath, home.registryPath, home.trashPath, home.vaultsPath, home.keysPath] + memories)
            .map { Self.real($0.string) }
        let paths = [store.vault.path] + needed + options.excluded.sorted()
        excluded = paths.compactMap { Self.number(of: $0) }
    }

    /// Returns the path of a file below the group's container, or `nil` outside it.
    func containerPath(of path: String) -> String? {
        guard Self.isInside(path, in: container), path != container else { return nil }
        return String(Substring(path.utf8.dropFirst(container.utf8.count + 1)))
    }

    /// Refuses a file that is needed for opening others, and any file in the groups' home outside the group's own data.
    ///
    /// - Throws: `StoreError` `.sourceUnusable`.
    func require(_ source: PlaintextSource) throws(StoreError) {
        if isExcluded(source.facts) { throw StoreError.unusable(source.name, Self.neededReason, advice: Self.advice) }
        if let inside = containerPath(of: source.path) {
            guard !Self.isOwn(inside), !ContainerLayout.isDatabase(inside) else {
                throw StoreError.unusable(source.name, Self.ownReason, advice: Self.advice)
            }
            return
        }
        guard let home = homes.first(where: { Self.isInside(source.path, in: $0) }) else { return }
        throw Self.inHome(source.name, home)
    }

    /// Refuses a directory that contains, is or is inside a part of the groups' home other than the group's own
    /// container.
    func require(directory path: String) throws(StoreError) {
        let path = Self.real(path)
        guard path != container else { return }
        guard let home = homes.first(where: { Self.isInside(path, in: $0) || Self.isInside($0, in: path) }) else {
            return
        }
        throw Self.inHome(path, home)
    }

    /// Returns whether it is one of the files that the move itself needs.
    func isExcluded(_ facts: FileAttributes) -> Bool {
        excluded.contains { $0.device == facts.device && $0.inode == facts.inode }
    }

    /// Returns whether a path below a directory is a file of the database of the group's own records.
    func isRecordDatabase(_ path: String, in root: Directory) -> Bool {
        ContainerLayout.isDatabase(path) && Self.real(root.path.string) == container
    }

    static let neededReason = "It is the vault, or a file that the import itself needs."
    static let ownReason = "It is a file of the library."
    private static let advice = "Name plaintext files of programs."

    /// Returns whether the path belongs to the library itself, or to the system that a container came from.
    ///
    /// - Parameter path: Below a container.
    static func isOwn(_ path: String) -> Bool {
        let first = String(path.prefix { $0 != "/" })
        return own.contains(first) || ContainerLayout.isReserve(first) || first.hasPrefix(".com.apple.")
    }

    private static let own: Set = [
        ContainerLayout.lockFile, ContainerLayout.leaseFile, ContainerLayout.metadata, ContainerLayout.notifications,
        ContainerLayout.coordination, ContainerLayout.ipc, ContainerLayout.sockets, ContainerLayout.roster,
        ContainerLayout.backend,
    ]

    private static func inHome(_ source: String, _ home: String) -> StoreError {
        .unusable(
            source, "It contains, or is inside, \(home), the directory of the groups' keys and state.", advice: advice
        )
    }

    private static func isInside(_ path: String, in directory: String) -> Bool {
        // Compared by bytes, as the file system does.
        path == directory || path.utf8.starts(with: (directory == "/" ? directory : directory + "/").utf8)
    }

    private static func real(_ path: String) -> String { PlaintextSource.real(path) ?? path }

    private static func number(of path: String) -> FileNumber? {
        var status = stat()
        guard stat(path, &status) == 0 else { return nil }
        return FileNumber(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
    }
}

extension RecordPlan {
    /// The paths of the files that the move reads besides the source.
    var neededPaths: [String] {
        guard case .file(let path) = key?.source else { return [conversion.golden].compactMap { $0 } }
        return [path, conversion.golden].compactMap { $0 }
    }
}
