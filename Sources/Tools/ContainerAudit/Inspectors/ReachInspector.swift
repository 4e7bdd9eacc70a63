internal import Glibc
internal import SharedFiles

/// Checks read access for every user of the machine.
///
/// A mode grants access to a file only if every directory above is accessible to others, including those above the
/// container. A directory that is not closes everything below it. The container itself is therefore the one place to
/// fix, and the one finding.
struct ReachInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        let mode = seen.scope.rootAttributes.mode
        // Write access for all has its own finding and remedy.
        guard mode & (S_IROTH | S_IXOTH) != 0, mode & S_IWOTH == 0,
            Ancestry.isReachableByOthers(to: seen.scope.realPath)
        else { return [] }
        let (readable, open) = mode & S_IXOTH != 0 ? Self.files(seen) : (0, [])
        let place = FindingPlace(".", in: seen.scope)
        return [
            AuditCheck.worldReadable.finding(
                at: place, Self.sentence(mode, readable, open), severity: open.isEmpty ? nil : .medium)
        ]
    }

    /// Returns the number of files that all users can read, and the unsealed ones among them.
    private static func files(_ seen: SeenContainer) -> (readable: Int, open: [String]) {
        var readable = 0
        var open: [String] = []
        var files = seen.files[...]
        for entry in seen.entries {
            // Both lists are in the same order, and the list of files contains no directories.
            guard let file = files.first, file.path == entry.path.printable else { continue }
            files.removeFirst()
            guard entry.isReachable, let facts = entry.attributes, facts.kind == .regular, facts.mode & S_IROTH != 0
            else { continue }
            readable += 1
            if file.isPlaintext { open.append(file.path) }
        }
        return (readable, open)
    }

    private static func sentence(_ mode: mode_t, _ readable: Int, _ open: [String]) -> String {
        let own = "Its mode is \(mode.octal)."
        guard readable > 0 else { return own }
        let below = "\(own) All users can read \(readable.counted("file")) in it"
        return open.isEmpty ? "\(below)." : "\(below), of which \(open.count) not sealed: \(open.listed(4))."
    }
}

/// The directories above a container.
enum Ancestry {
    /// Returns whether an unprivileged user can reach a path. A directory that cannot be examined counts as closed.
    ///
    /// - Parameter path: The absolute path without links. The file at the path is not judged.
    static func isReachableByOthers(to path: String) -> Bool {
        var above = path[...]
        while let slash = above.lastIndex(of: "/") {
            above = above[..<slash]
            var facts = stat()
            guard stat(above.isEmpty ? "/" : String(above), &facts) == 0, facts.st_mode & S_IXOTH != 0 else {
                return false
            }
        }
        return true
    }
}
