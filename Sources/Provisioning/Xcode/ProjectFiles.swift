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
        guard let real = realpath(path, nil) else { throw FileError(errno: errno, operation: "open", path: path) }
        defer { free(real) }
        return String(cString: real)
    }

    /// What lies at a real path.
    static func kind(of real: String) throws(FileError) -> FileKind {
        if real == "/" { return .directory }
        return try Directory.open(ProjectPath.parent(of: real)).attributes(ProjectPath.leaf(of: real)).kind
    }

    /// The path as the disk spells it: macOS finds a file whatever the case of its letters, Linux does not. Nil where
    /// nothing has that name in any spelling.
    static func spelling(of path: String) -> String? {
        if (try? realPath(path)) != nil { return path }
        let parent = ProjectPath.parent(of: path)
        guard parent != path, let known = spelling(of: parent) else { return nil }
        let wanted = ProjectPath.leaf(of: path).lowercased()
        let names = (try? Directory.open(known + "/.").entries().map(\.name)) ?? []
        return names.first { $0.lowercased() == wanted }.map { ProjectPath.join(known, $0) }
    }
}
