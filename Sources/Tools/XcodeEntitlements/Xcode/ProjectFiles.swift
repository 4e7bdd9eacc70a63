internal import Glibc
internal import SharedFiles

/// Reads the files that make up a project. Links are followed, as Xcode does; only a regular file is read, and nothing
/// waits for a FIFO that somebody checked in.
enum ProjectFiles {
    /// Of a `project.pbxproj`: the largest ones have some 10 MB.
    static let projectLimit = 64 << 20
    /// Of everything else.
    static let limit = 1 << 20

    static func read(_ path: String, limit: Int = limit) throws(FileError) -> [UInt8] {
        let real = try realPath(path)
        return try Directory.open(ProjectPath.parent(of: real)).read(ProjectPath.leaf(of: real), limit: limit)
    }

    /// Where a path leads: absolute, without links.
    static func realPath(_ path: String) throws(FileError) -> String {
        guard isPossible(path) else {
            throw FileError(errno: ENAMETOOLONG, operation: "open", path: ProjectPath.shortened(path))
        }
        guard let real = realpath(path, nil) else { throw FileError(errno: errno, operation: "open", path: path) }
        defer { free(real) }
        return String(cString: real)
    }

    /// What lies at a real path.
    static func kind(of real: String) throws(FileError) -> FileKind {
        if real == "/" { return .directory }
        return try Directory.open(ProjectPath.parent(of: real)).attributes(ProjectPath.leaf(of: real)).kind
    }

    /// Whether the system could take a path at all. For any other the disk is not asked: a file may hold one of megabytes.
    static func isPossible(_ path: String) -> Bool {
        let bytes = path.utf8
        return bytes.count < Int(PATH_MAX) && !bytes.contains(0)
            && bytes.count { $0 == UInt8(ascii: "/") } <= deepest
    }

    private static let deepest = 255

    /// The path as the disk spells it: macOS finds a file whatever the case of its letters, Linux does not. Nil where
    /// nothing has that name in any spelling.
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
