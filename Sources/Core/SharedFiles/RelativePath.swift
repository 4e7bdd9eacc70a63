/// The rules for paths below a directory, checked before the kernel resolves them.
///
/// The kernel would refuse most of these as well. Checked here: NUL, which would cut the C string short, and the empty
/// and `.` segments, which would give one file several names (and so several locks).
enum RelativePath {
    /// Rejects absolute paths and `..` as `unsafePath`; empty and `.` segments and NUL as `invalidName`.
    static func check(_ path: String, _ operation: String, in directory: Directory) throws(FileError) {
        // Reads contiguous bytes directly, since every call with a path comes through here.
        switch path.utf8.withContiguousStorageIfAvailable(fault) ?? fault(in: path.utf8) {
        case .none: return
        case .absolute:
            throw FileError(
                .unsafePath, operation: operation, path: path, advice: "Use a path relative to its directory.")
        case .upward: throw FileError(.unsafePath, operation: operation, path: directory.display(path))
        case .malformed: throw FileError(.invalidName, operation: operation, path: directory.display(path))
        }
    }

    private enum Fault {
        case none, absolute, upward, malformed
    }

    private static func fault(in path: some Sequence<UInt8>) -> Fault {
        var isFirst = true
        var length = 0
        var dots = 0
        for byte in path {
            switch byte {
            case UInt8(ascii: "/"):
                let fault = isFirst ? .absolute : fault(ofSegment: length, dots)
                if fault != .none { return fault }
                (length, dots) = (-1, 0)
            case UInt8(ascii: "."): dots += 1
            case 0: return .malformed
            default: break
            }
            length += 1
            isFirst = false
        }
        return fault(ofSegment: length, dots)
    }

    /// Checks a segment by its length and the number of its dots: empty, `.` and `..` are rejected.
    private static func fault(ofSegment length: Int, _ dots: Int) -> Fault {
        guard length == dots && length <= 2 else { return .none }
        return length == 2 ? .upward : .malformed
    }

    /// Returns the part before the last `/`, if any, and the part after it.
    static func split(_ path: String) -> (parent: String?, leaf: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (nil, path) }
        return (String(path[..<slash]), String(path[path.utf8.index(after: slash)...]))
    }
}

/// A name within one directory that is safe to create: one segment, with room for the affixes of temporary files.
package struct LeafName: Sendable, Hashable {
    /// The name.
    package let string: String

    /// Longest name in bytes: 255 of the file system less the `.`, `.`, 16 hex digits and `.new` of a temporary name.
    package static let maximumLength = 255 - 22

    /// Checks a name. Rejected as `invalidName`: empty, `.`, `..`, with `/` or NUL, or too long.
    package init(_ string: String) throws(FileError) {
        let bytes = string.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength, string != ".", string != "..",
            !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0)
        else { throw FileError(.invalidName, operation: "use the name", path: string) }
        self.string = string
    }

    /// The name of a complete new value between `linkat` and `renameat`. Fixed, so a crash leaves at most one.
    var pendingName: String { ".\(string).new" }

    /// Returns a new name for an incomplete value, for file systems without `O_TMPFILE`.
    func randomName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return ".\(string).\(String(repeating: "0", count: 16 - digits.count))\(digits).new"
    }

    /// Returns whether a name has the form that `randomName` makes for this leaf.
    func isRandomName(_ name: String) -> Bool {
        guard name.hasPrefix(".\(string)."), name.hasSuffix(".new"), name.utf8.count == string.utf8.count + 22 else {
            return false
        }
        return name.utf8.dropFirst(string.utf8.count + 2).dropLast(4).allSatisfy(\.isLowerHexDigit)
    }
}

extension UInt8 {
    /// The byte is a hexadecimal digit as this package writes them in names: `0` to `9`, `a` to `f`.
    package var isLowerHexDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "f") ~= self
    }
}
