/// Paths as a project's files write them; nothing here asks the disk.
enum ProjectPath {
    /// A path seen from a directory; an absolute one stays as it is. `.` and `..` are taken out of the text.
    static func join(_ base: String, _ path: String) -> String {
        normalised(path.hasPrefix("/") ? path : base + "/" + path)
    }

    /// Without empty segments, `.`, and `..` where there is something before it.
    static func normalised(_ path: String) -> String {
        var segments: [Substring] = []
        for segment in path.split(separator: "/") where segment != "." {
            if segment == "..", let last = segments.last, last != ".." {
                segments.removeLast()
            } else if segment != ".." || !path.hasPrefix("/") {
                segments.append(segment)
            }
        }
        let joined = segments.joined(separator: "/")
        return path.hasPrefix("/") ? "/" + joined : joined.isEmpty ? "." : joined
    }

    /// For messages: a file may hold a path of megabytes.
    static func shortened(_ path: String) -> String {
        path.utf8.count <= longestShown ? path : String(path.unicodeScalars.prefix(longestShown)) + "…"
    }

    private static let longestShown = 512

    /// What is before the last `/`.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// What is after the last `/`.
    static func leaf(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// The leaf without its last extension.
    static func stem(of path: String) -> String {
        let leaf = leaf(of: path)
        guard let dot = leaf.lastIndex(of: "."), dot != leaf.startIndex else { return leaf }
        return String(leaf[..<dot])
    }

    /// The path below a directory; as it is where it lies elsewhere.
    static func relative(_ path: String, to directory: String) -> String {
        if path == directory { return "." }
        let prefix = directory.hasSuffix("/") ? directory : directory + "/"
        return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
    }

    /// Whether a path lies in a directory, or is that.
    static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || directory == "/" || path.hasPrefix(directory + "/")
    }

    /// The deepest directory that has all of them in it.
    static func commonDirectory(of directories: [String]) -> String {
        guard var common = directories.first else { return "/" }
        for directory in directories { while !isInside(directory, common) { common = parent(of: common) } }
        return common
    }
}
