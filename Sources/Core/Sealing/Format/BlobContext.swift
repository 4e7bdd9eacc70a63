internal import CryptoPrimitives

/// The place that a blob is bound to: its group, its kind and its name.
package struct BlobContext: Hashable, Sendable {
    package let kind: BlobKind
    package let groupTag: GroupTag
    package let nameTag: NameTag

    /// Creates a context and computes both tags. This takes two hashes, so callers keep it for as long as they use the
    /// name.
    ///
    /// - Parameters:
    ///   - group: The app group's identifier.
    ///   - kind: The kind of blob that belongs there.
    ///   - name: The name of a record or a named stream; empty for a nameless stream.
    package init(group: String, kind: BlobKind, name: String) {
        self.kind = kind
        groupTag = GroupTag(bytes: Self.tag(.groupTag, Self.lengthPrefixed(group)))
        nameTag = NameTag(
            bytes: Self.tag(.nameTag, Self.lengthPrefixed(group) + [kind.rawValue] + Self.lengthPrefixed(name)))
    }

    /// Creates the context of a blob of unknown name from its header, as a survey does to verify a named stream.
    ///
    /// A blob that opens in it is authentic and belongs to the group. Its place is not checked.
    package init(group: String, kind: BlobKind, nameTag: NameTag) {
        self.kind = kind
        groupTag = GroupTag(bytes: Self.tag(.groupTag, Self.lengthPrefixed(group)))
        self.nameTag = nameTag
    }

    /// Returns the length as 4 little-endian bytes, then the UTF-8 bytes, so that two inputs never run into each other.
    private static func lengthPrefixed(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        return withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { Array($0) } + bytes
    }

    private static func tag(_ use: Personalization, _ input: [UInt8]) -> Bytes16 {
        Bytes16(filling: { output in
            input.withUnsafeBytes { BLAKE2b.hash($0, personalization: use, into: output) }
        })
    }
}
