internal import Glibc
internal import SharedFiles

/// Reads the files of a project. Links are followed, as in Xcode. Only regular files are read, so that a checked-in
/// FIFO cannot block.
enum ProjectFiles {
    /// The size limit of a `project.pbxproj`. The largest ones have some 10 MB.
    static let projectLimit = 64 << 20
    /// The size limit of all other files.
    static let limit = 1 << 20

    static func read(_ path: String, limit: Int = limit) throws(FileError) -> [UInt8] {
        let real = try realPath(path)
        return try Directory.open(ProjectPath.parent(of: real)).read(ProjectPath.leaf(of: real), limit: limit)
    }

    /// Returns the absolute path without links.
    static func realPath(_ path: String) throws(FileError) -> String {
        guard isPossible(path) else {
            throw FileError(errno: ENAMETOOLONG, operation: "open", path: ProjectPath.shortened(path))
        }
        guard let real = realpath(path, nil) else { throw FileError(errno: errno, operation: "open", path: path) }
        defer { free(real) }
        return String(cString: real)
    }

    /// Returns the kind of the file at a real path.
    static func kind(of real: String) throws(FileError) -> FileKind {
        if real == "/" { return .directory }
        return try Directory.open(ProjectPath.parent(of: real)).attributes(ProjectPath.leaf(of: real)).kind
    }

    /// Returns whether the system could accept a path. Other paths are not looked up, because a file may contain one of
    /// megabytes.
    static func isPossible(_ path: String) -> Bool {
        let bytes = path.utf8
        return bytes.count < Int(PATH_MAX) && !bytes.contains(0)
            && bytes.count { $0 == UInt8(ascii: "/") } <= deepest
    }

    private static let deepest = 255

    /// Returns the path in the spelling of the disk, because macOS ignores case in file names and Linux does not.
    /// Returns `nil` if no spelling of it exists.
    static func spelling(of path: String) -> String? {
        guard isPossible(path) else { return nil }
        if (try? realPath(path)) != nil { return path }
        var known = "/"
        for segment in path.split(separator: "/") {
            guard let found = spelling(of: segment, in: known) else { return nil }
            known = found
        }
        return known
    }

    private static func spelling(of segment: Substring, in directory: String) -> String? {
        let path = ProjectPath.join(directory, String(segment))
        if (try? realPath(path)) != nil { return path }
        let wanted = segment.lowercased()
        let names = (try? Directory.open(directory + "/.").entries().map(\.name)) ?? []
        return names.first { $0.lowercased() == wanted }.map { ProjectPath.join(directory, $0) }
    }
}
