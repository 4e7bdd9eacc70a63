internal import AppGroups
internal import SharedFiles
internal import SystemPackage

/// What becomes of one name of a container in a snapshot.
enum SnapshotChoice {
    case directory
    case file
    /// Of use to running programs only; nobody misses it.
    case passOver
    case leaveOut(String)
    /// It belongs into the copy, and cannot be read.
    case unreadable(FileError)

    /// The library's own, which a container that is restored gets anew.
    private static let machinery: Set<String> = [
        ContainerLayout.lockFile, ContainerLayout.leaseFile, ContainerLayout.metadata, ContainerLayout.coordination,
        ContainerLayout.ipc, ContainerLayout.sockets, ContainerLayout.notifications,
    ]
    private static let caches = "Library/Caches"

    init(_ entry: WalkEntry, includesCaches: Bool) {
        let top = entry.path.prefix { $0 != "/" }
        let leaf = FilePath(entry.path).lastComponent?.string ?? entry.path
        if Self.machinery.contains(String(top)) || Array(entry.path.utf8) == Array(".".utf8) && entry.error == nil {
            self = .passOver
        } else if top == ContainerLayout.quarantine || ContainerLayout.isReserve(top) {
            self = .passOver
        } else if !includesCaches, entry.path.hasPrefix(Self.caches + "/") {
            self = .passOver
        } else if let error = entry.error {
            // Removed since it was listed.
            self = error.code == .notFound ? .passOver : .unreadable(error)
        } else if String(validating: entry.nameBytes, as: UTF8.self) == nil {
            self = .leaveOut("its name is no UTF-8")
        } else {
            self = Self.choice(entry, leaf)
        }
    }

    private static func choice(_ entry: WalkEntry, _ leaf: String) -> SnapshotChoice {
        switch entry.kind {
        case .directory: .directory
        case .regular: TemporaryLeaf(leaf) != nil ? .leaveOut("a value that a writer has not finished") : .file
        case .symbolicLink: .leaveOut("a link")
        default: .leaveOut("no file: \(entry.kind.rawValue)")
        }
    }
}
