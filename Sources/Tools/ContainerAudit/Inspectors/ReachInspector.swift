internal import Glibc
internal import SharedFiles

/// What every user of the machine can read of a container.
///
/// A mode opens a file only where every directory above lets others through, those above the container included: one that
/// does not closes all that lies below. So the container itself is the one place to mend, and the one finding.
struct ReachInspector: ContainerInspector {
    func conclude(_ seen: SeenContainer) -> [Finding] {
        let mode = seen.scope.rootAttributes.mode
        // Where everybody may write, that is said with its own remedy.
        guard mode & (S_IROTH | S_IXOTH) != 0, mode & S_IWOTH == 0, Ancestry.letsOthersThrough(to: seen.scope.realPath)
        else { return [] }
        let (readable, open) = mode & S_IXOTH != 0 ? Self.files(seen) : (0, [])
        let place = FindingPlace(".", in: seen.scope)
        return [
            AuditCheck.worldReadable.finding(
                at: place, Self.sentence(mode, readable, open), severity: open.isEmpty ? nil : .medium)
        ]
    }

    /// How many files everybody can read, and those among them that are not sealed.
    private static func files(_ seen: SeenContainer) -> (readable: Int, open: [String]) {
        var readable = 0
        var open: [String] = []
        var files = seen.files[...]
        for entry in seen.entries {
            // Both are in the same order, and the list of files has no directories.
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
        let below = "\(own) Everybody can read \(readable.counted("file")) in it"
        return open.isEmpty ? "\(below)." : "\(below), of which \(open.count) not sealed: \(open.listed(4))."
    }
}

/// The directories above a container.
enum Ancestry {
    /// Whether a user of no rights gets as far as a path. A directory that cannot be examined lets nobody through.
    ///
    /// - Parameter path: Absolute, free of links; what lies there is not judged.
    static func letsOthersThrough(to path: String) -> Bool {
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
