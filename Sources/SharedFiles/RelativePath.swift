/// The rules for paths below a directory, checked before the kernel sees them.
///
/// The kernel would refuse most of these as well. Checked here: NUL, which would cut the C string short, and the
/// empty and `.` segments, which would give one file several names (and so several locks).
enum RelativePath {
    /// Refuses absolute paths and `..` as `unsafePath`; empty and `.` segments and NUL as `invalidName`.
    static func check(_ path: String, _ operation: String, in directory: Directory) throws(FileError) {
        if path.utf8.first == UInt8(ascii: "/") {
            throw FileError(
                .unsafePath, operation: operation, path: path, advice: "Use a path relative to its directory.")
        }
        var length = 0
        var dots = 0
        for byte in path.utf8 {
            if byte == UInt8(ascii: "/") {
                try checkSegment(length, dots, path, operation, directory)
                (length, dots) = (0, 0)
            } else {
                if byte == 0 { throw FileError(.invalidName, operation: operation, path: directory.display(path)) }
                length += 1
                if byte == UInt8(ascii: ".") { dots += 1 }
            }
        }
        try checkSegment(length, dots, path, operation, directory)
    }

    private static func checkSegment(
        _ length: Int, _ dots: Int, _ path: String, _ operation: String, _ directory: Directory
    ) throws(FileError) {
        if length == dots && length <= 2 {
            let code: FileError.Code = length == 2 ? .unsafePath : .invalidName
            throw FileError(code, operation: operation, path: directory.display(path))
        }
    }

    /// The part before the last `/`, if any, and the part after it.
    static func split(_ path: String) -> (parent: String?, leaf: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (nil, path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }
}
