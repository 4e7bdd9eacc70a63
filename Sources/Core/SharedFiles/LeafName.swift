/// A name within one directory that is safe to create: one segment, with room for the affixes of temporary files.
package struct LeafName: Sendable, Hashable {
    /// The name.
    package let string: String

    /// Longest name in bytes: 255 of the file system less the `.`, `.`, 16 hex digits and `.new` of a temporary name.
    package static let maximumLength = 255 - 22

    /// Checks a name. Refused as `invalidName`: empty, `.`, `..`, with `/` or NUL, or too long.
    package init(_ string: String) throws(FileError) {
        let bytes = string.utf8
        guard !bytes.isEmpty, bytes.count <= Self.maximumLength, string != ".", string != "..",
            !bytes.contains(UInt8(ascii: "/")), !bytes.contains(0)
        else { throw FileError(.invalidName, operation: "use the name", path: string) }
        self.string = string
    }

    /// The name a complete new value has between `linkat` and `renameat`. Fixed, so a crash leaves at most one.
    var pendingName: String { ".\(string).new" }

    /// A fresh name for a value that is still being written, where files without a name are not supported.
    func randomName() -> String {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return ".\(string).\(String(repeating: "0", count: 16 - digits.count))\(digits).new"
    }

    /// Whether a name is what `randomName` makes for this leaf.
    func isRandomName(_ name: String) -> Bool {
        guard name.hasPrefix(".\(string)."), name.hasSuffix(".new"), name.utf8.count == string.utf8.count + 22 else {
            return false
        }
        return name.utf8.dropFirst(string.utf8.count + 2).dropLast(4).allSatisfy {
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains($0)
        }
    }
}
