internal import Glibc
internal import SharedFiles
internal import SystemPackage

/// The canonical name of an item in every process: absolute, without links in its parents, the last segment unchanged.
///
/// The item need not exist. Two hard links of one file are two items; so are two mounts of one directory.
struct ItemPath: Sendable, Hashable {
    let string: String

    /// The maximum that the kernel accepts, without the NUL (PATH_MAX).
    static let maximumLength = 4095

    /// - Parameter resolvingLast: replaces a final link by its target, if that exists.
    /// - Throws: `invalidName`, or an error of examining the parents.
    init(_ path: String, resolvingLast: Bool = false) throws(FileError) {
        let bytes = path.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength, !bytes.contains(0) else {
            throw Self.invalid(path)
        }
        let item = FilePath(path)
        if resolvingLast || item.lastComponent?.kind != .regular, let real = try Self.real(path) {
            try self.init(resolved: real)
            return
        }
        // A path that ends in `..` has a name of its own only if it exists.
        guard let leaf = item.lastComponent, leaf.kind == .regular else { throw Self.invalid(path) }
        try self.init(resolved: Self.resolve(item.removingLastComponent(), of: path).appending(leaf.string).string)
    }

    /// Creates an item path from a path that another process sent.
    init?(claimed path: String) {
        let bytes = path.utf8
        guard bytes.first == UInt8(ascii: "/"), bytes.count <= Self.maximumLength, !bytes.contains(0) else {
            return nil
        }
        if bytes.count > 1 && bytes.last == UInt8(ascii: "/") { return nil }
        string = path
    }

    private init(resolved: String) throws(FileError) {
        guard let path = ItemPath(claimed: resolved) else { throw Self.invalid(resolved) }
        self = path
    }

    private static func invalid(_ path: String) -> FileError {
        FileError(.invalidName, operation: "coordinate", path: path)
    }

    /// Returns the real path of the existing part of a directory's path, with the rest appended unchanged.
    private static func resolve(_ directory: FilePath, of path: String) throws(FileError) -> FilePath {
        var existing = directory.isEmpty ? FilePath(".") : directory
        var missing: [String] = []
        while true {
            if let real = try real(existing.string) {
                return missing.reversed().reduce(FilePath(real)) { $0.appending($1) }
            }
            guard let segment = existing.lastComponent, segment.kind == .regular else { throw invalid(path) }
            missing.append(segment.string)
            existing.removeLastComponent()
            if existing.isEmpty { existing = FilePath(".") }
        }
    }

    /// Returns `nil` if the path does not exist.
    private static func real(_ path: String) throws(FileError) -> String? {
        guard let found = realpath(path, nil) else {
            if errno == ENOENT { return nil }
            throw FileError(errno: errno, operation: "coordinate", path: path)
        }
        defer { free(found) }
        // Two names that differ only in invalid UTF-8 would become one.
        guard let text = String(validatingCString: found) else { throw invalid(path) }
        return text
    }
}

extension ItemPath {
    /// Returns whether an item is inside this one, at any depth.
    func contains(_ other: ItemPath) -> Bool {
        if string == "/" { return other.string != "/" }
        let (mine, theirs) = (string.utf8, other.string.utf8)
        return theirs.count > mine.count && theirs[theirs.index(theirs.startIndex, offsetBy: mine.count)] == 0x2F
            && theirs.starts(with: mine)
    }

    /// Returns every directory above, from the nearest up to `/`, or up to `scope` if the item is inside it.
    func ancestors(upTo scope: ItemPath?) -> [ItemPath] {
        let end = scope.map { $0.contains(self) ? $0.string.utf8.count : 1 } ?? 1
        var found: [ItemPath] = []
        var rest = string.utf8[...]
        while rest.count > end, let slash = rest.lastIndex(of: UInt8(ascii: "/")) {
            rest = rest[..<slash]
            if let above = ItemPath(claimed: rest.isEmpty ? "/" : String(Substring(rest))) { found.append(above) }
        }
        return found
    }

    /// Returns the path after a move of this item or one of its parents; nil if the move does not affect it.
    func moved(from old: ItemPath, to new: ItemPath) -> ItemPath? {
        if self == old { return new }
        guard old.contains(self) else { return nil }
        let rest = string.utf8.dropFirst(old.string == "/" ? 0 : old.string.utf8.count)
        return ItemPath(claimed: (new.string == "/" ? "" : new.string) + String(Substring(rest)))
    }

    /// `true` if the path exists, even as a dangling link.
    var exists: Bool { attributes != nil }

    /// The attributes of the item; those of the link itself for a link.
    var attributes: FileAttributes? {
        var status = stat()
        return lstat(string, &status) == 0 ? FileAttributes(status) : nil
    }
}
