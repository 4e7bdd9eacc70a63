internal import CryptoPrimitives

/// The place that a blob is bound to: its group, its kind and its name.
package struct BlobContext: Hashable, Sendable {
    package let kind: BlobKind
    package let groupTag: GroupTag
    package let nameTag: NameTag

    /// Computes both tags; two hashes, so callers keep it for as long as they use the name.
    ///
    /// - Parameters:
    ///   - group: The app group's identifier.
    ///   - kind: What lies there.
    ///   - name: The record's name; empty for streams.
    package init(group: String, kind: BlobKind, name: String) {
        self.kind = kind
        groupTag = GroupTag(bytes: Self.tag(.groupTag, Self.lengthPrefixed(group)))
        nameTag = NameTag(
            bytes: Self.tag(.nameTag, Self.lengthPrefixed(group) + [kind.rawValue] + Self.lengthPrefixed(name)))
    }

    /// A length as 4 bytes, little-endian, then the UTF-8 bytes: two inputs never run into each other.
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
