internal import AppGroups
internal import SharedFiles

/// Looks for everything below a folder that says what programs share.
struct ProjectFinder {
    /// Absolute paths, sorted by bytes.
    private(set) var projects: [String] = []
    private(set) var entitlements: [String] = []
    private(set) var profiles: [String] = []
    /// What was not looked at, as sentences.
    private(set) var notes: [String] = []

    private static let deepest = 24
    private static let mostEntries = 500_000
    private var entries = 0

    /// Copies of other people's projects, and what tools make.
    private static let skipped: Set<String> = [
        "Pods", "Carthage", "DerivedData", "node_modules", "SourcePackages", "vendor", "build",
    ]
    private static let skippedSuffixes = [
        ".app", ".appex", ".framework", ".xcframework", ".xcarchive", ".bundle", ".dSYM", ".xcassets", ".lproj",
    ]

    /// Adds what lies in a directory, at any depth. Links are not followed; hidden directories, build products and copies of
    /// dependencies are left out.
    mutating func search(_ path: String) throws(FileError) {
        try search(Directory.open(path), path, depth: 1)
    }

    /// Adds one file by what its name says; false where that says nothing.
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

    /// Adds the entitlements that an `Info.plist` tells of: those beside it.
    mutating func add(beside info: String) throws(FileError) {
        let directory = ProjectPath.parent(of: info)
        let known = entitlements.count
        for entry in try Directory.open(directory).entries() where entry.kind == .regular {
            if entry.name.hasSuffix(".entitlements") { _ = add(ProjectPath.join(directory, entry.name)) }
        }
        if entitlements.count == known { note("\(info): no entitlements lie beside it.") }
    }

    /// Files that were found twice, since one path given lies in another, are there once.
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
                return note("Over \(Self.mostEntries) files: the rest was left out.")
            }
            let child = ProjectPath.join(path, entry.name)
            switch entry.kind {
            case .directory where Self.isEntered(entry.name): enter(directory, entry.name, child, depth)
            case .regular: _ = add(child)
            // A link is a file where it leads to one; to a directory it is not followed, since it may lead upwards.
            case .symbolicLink where !isDirectory(child): _ = add(child)
            default: break
            }
        }
    }

    private mutating func enter(_ directory: Directory, _ name: String, _ path: String, _ depth: Int) {
        guard depth < Self.deepest else { return note("\(path): too deep; it was left out.") }
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
