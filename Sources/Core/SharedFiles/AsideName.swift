/// The name that a file has between losing its own and being removed: `.NAME.INODE.moving`.
///
/// The inode tells it from a program's own file of such a name: only the file with that number was set aside under it.
package struct AsideName: Sendable, Hashable {
    /// The file's own name.
    package let leaf: String
    /// The file's number.
    package let inode: UInt64

    /// As it stands in the directory.
    package var text: String { ".\(leaf).\(inode)\(Self.suffix)" }

    /// Of a file that is to be set aside; nil where the name would be too long.
    init?(of leaf: String, inode: UInt64) {
        self.leaf = leaf
        self.inode = inode
        if text.utf8.count > LeafName.maximumLength { return nil }
    }

    /// Of a file that has such a name; nil for any other file.
    package init?(_ text: String, of facts: FileAttributes) {
        guard facts.kind == .regular, text.hasPrefix("."), text.hasSuffix(".\(facts.inode)\(Self.suffix)") else {
            return nil
        }
        let leaf = text.dropFirst().dropLast(".\(facts.inode)\(Self.suffix)".count)
        guard !leaf.isEmpty, text.count > leaf.count + 1 else { return nil }
        self.leaf = String(leaf)
        inode = facts.inode
    }

    private static let suffix = ".moving"
}
