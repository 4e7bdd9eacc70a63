internal import AppGroups
internal import SharedFiles

/// Searches a folder for projects, entitlements and profiles.
struct ProjectFinder {
    /// The absolute paths of projects, sorted by bytes.
    private(set) var projects: [String] = []
    private(set) var entitlements: [String] = []
    private(set) var profiles: [String] = []
    /// The notes on unread parts, as sentences.
    private(set) var notes: [String] = []

    private static let deepest = 24
    private static let mostEntries = 500_000
    private var entries = 0

    /// The directories with dependencies and build products.
    private static let skipped: Set<String> = [
        "Pods", "Carthage", "DerivedData", "node_modules", "SourcePackages", "vendor", "build",
    ]
    private static let skippedSuffixes = [
        ".app", ".appex", ".framework", ".xcframework", ".xcarchive", ".bundle", ".dSYM", ".xcassets", ".lproj",
    ]

    /// Adds the files of a directory at any depth. Links are not followed. Hidden directories, build products and
    /// copies of dependencies are skipped.
    mutating func search(_ path: String) throws(FileError) {
        try search(Directory.open(path), path, depth: 1)
    }

    /// Adds a file by its name. Returns `false` if the name is of no known kind.
    mutating func add(_ path: String) -> Bool {
        let leaf = ProjectPath.leaf(of: path)
        if leaf == "project.pbxproj" {
            projects.append(path)
        } else if leaf.hasSuffix(".entitlements") {
            entitlements.append(path)
        } else if leaf.hasSuffix(".mobileprovision") || leaf.hasSuffix(".provisionprofile") {
            profiles.append(path)
        } else {
            return false
        }
        return true
    }

    /// Adds the entitlements beside an `Info.plist`.
    mutating func add(beside info: String) throws(FileError) {
        let directory = ProjectPath.parent(of: info)
        let known = entitlements.count
        for entry in try Directory.open(directory).entries() where entry.kind == .regular {
            if entry.name.hasSuffix(".entitlements") { _ = add(ProjectPath.join(directory, entry.name)) }
        }
        if entitlements.count == known { note("\(info): its directory has no entitlements file.") }
    }

    /// Sorts the paths and removes duplicates, which occur if one given path contains another.
    mutating func finish() {
        projects = Self.unique(projects)
        entitlements = Self.unique(entitlements)
        profiles = Self.unique(profiles)
    }

    private static func unique(_ paths: [String]) -> [String] {
        Set(paths).sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private mutating func search(_ directory: Directory, _ path: String, depth: Int) throws(FileError) {
        for entry in try directory.entries() {
            entries += 1
            guard entries <= Self.mostEntries else {
                return note("Over \(Self.mostEntries) files: the rest was not examined.")
            }
            let child = ProjectPath.join(path, entry.name)
            switch entry.kind {
            case .directory where Self.isEntered(entry.name): enter(directory, entry.name, child, depth)
            case .regular: _ = add(child)
            // A link to a file counts as a file. A link to a directory is not followed, because it may lead upwards.
            case .symbolicLink where !isDirectory(child): _ = add(child)
            default: break
            }
        }
    }

    private mutating func enter(_ directory: Directory, _ name: String, _ path: String, _ depth: Int) {
        guard depth < Self.deepest else { return note("\(path): too deep; it was not examined.") }
        do throws(FileError) {
            try search(directory.directory(name), path, depth: depth + 1)
        } catch { note(error.sentence) }
    }

    private mutating func note(_ text: String) {
        if notes.count < 20, !notes.contains(text) { notes.append(text.printable) }
    }

    private func isDirectory(_ path: String) -> Bool {
        guard let real = try? ProjectFiles.realPath(path) else { return false }
        return (try? ProjectFiles.kind(of: real)) == .directory
    }

    private static func isEntered(_ name: String) -> Bool {
        !name.hasPrefix(".") && !skipped.contains(name) && !skippedSuffixes.contains { name.hasSuffix($0) }
    }
}
