/// Paths in a project's files, processed without access to the disk.
enum ProjectPath {
    /// Returns a path relative to a directory; absolute paths are kept. `.` and `..` are resolved in the text.
    static func join(_ base: String, _ path: String) -> String {
        normalised(path.hasPrefix("/") ? path : base + "/" + path)
    }

    /// Returns the path without empty segments, `.`, and resolvable `..`.
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

    /// Returns the path for messages, shortened because a file may contain one of megabytes.
    static func shortened(_ path: String) -> String {
        path.utf8.count <= longestShown ? path : String(path.unicodeScalars.prefix(longestShown)) + "…"
    }

    private static let longestShown = 512

    /// Returns the part before the last `/`.
    static func parent(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "." }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    /// Returns the part after the last `/`.
    static func leaf(of path: String) -> String {
        path.lastIndex(of: "/").map { String(path[path.index(after: $0)...]) } ?? path
    }

    /// Returns the leaf without its last extension.
    static func stem(of path: String) -> String {
        let leaf = leaf(of: path)
        guard let dot = leaf.lastIndex(of: "."), dot != leaf.startIndex else { return leaf }
        return String(leaf[..<dot])
    }

    /// Returns the path relative to a directory, or unchanged if it is outside.
    static func relative(_ path: String, to directory: String) -> String {
        if path == directory { return "." }
        let prefix = directory.hasSuffix("/") ? directory : directory + "/"
        return path.hasPrefix(prefix) ? String(path.dropFirst(prefix.count)) : path
    }

    /// Returns whether a path is a directory or inside it.
    static func isInside(_ path: String, _ directory: String) -> Bool {
        path == directory || directory == "/" || path.hasPrefix(directory + "/")
    }

    /// Returns the deepest directory that contains all directories.
    static func commonDirectory(of directories: [String]) -> String {
        guard var common = directories.first else { return "/" }
        for directory in directories { while !isInside(directory, common) { common = parent(of: common) } }
        return common
    }
}
