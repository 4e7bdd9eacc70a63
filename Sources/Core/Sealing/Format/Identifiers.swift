internal import CryptoPrimitives

/// The public identifier of a key: BLAKE2b-128 keyed by the key itself.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}

/// The identifier of an app group in a header: BLAKE2b-128 of the group's identifier.
package struct GroupTag: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}

/// The identifier of a blob's place in its group: BLAKE2b-128 of group, kind and name.
package struct NameTag: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}

/// The id of the program that signed a blob; all zero for an unsigned one.
package struct WriterID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package static let none = WriterID(bytes: .zero)
    package var description: String { bytes.hexadecimal }
}

/// The salt that makes a blob's key single-use, never repeated under one group key.
package struct Salt: Hashable, Sendable {
    package let bytes: Bytes32
    package init(bytes: Bytes32) { self.bytes = bytes }
}

/// The binding of a header to one key: a second key that opens the same blob cannot be found.
package struct Commitment: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes32
    package init(bytes: Bytes32) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}

/// Sixteen bytes in two words, so that ids and tags are compared and hashed without heap allocation.
package struct Bytes16: Hashable, Sendable {
    var low: UInt64
    var high: UInt64

    /// Sixteen zero bytes.
    package static let zero = Bytes16(low: 0, high: 0)

    init(low: UInt64, high: UInt64) {
        self.low = low
        self.high = high
    }

    /// Creates a value from the first 16 bytes of `bytes`, which must have at least that many.
    package init(_ bytes: UnsafeRawBufferPointer) {
        low = bytes.loadUnaligned(fromByteOffset: 0, as: UInt64.self)
        high = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    }

    /// Creates a value from the 16 bytes that `fill` writes.
    @inline(__always)
    package init(filling fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self = .zero
        withUnsafeMutableBytes(of: &self) { fill($0) }
    }

    /// Lends the bytes in memory order.
    @inline(__always)
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: self, body)
    }

    /// The bytes as 32 lowercase hexadecimal digits.
    package var hexadecimal: String { withUnsafeBytes { $0.hexadecimal } }
}

/// Thirty-two bytes in four words.
package struct Bytes32: Hashable, Sendable {
    var first: Bytes16
    var second: Bytes16

    /// Thirty-two zero bytes.
    package static let zero = Bytes32(first: .zero, second: .zero)

    init(first: Bytes16, second: Bytes16) {
        self.first = first
        self.second = second
    }

    /// Creates a value from the first 32 bytes of `bytes`, which must have at least that many.
    package init(_ bytes: UnsafeRawBufferPointer) {
        first = Bytes16(bytes)
        second = Bytes16(UnsafeRawBufferPointer(rebasing: bytes[16...]))
    }

    /// Creates a value from the 32 bytes that `fill` writes.
    @inline(__always)
    package init(filling fill: (UnsafeMutableRawBufferPointer) -> Void) {
        self = .zero
        withUnsafeMutableBytes(of: &self) { fill($0) }
    }

    /// Lends the bytes in memory order.
    @inline(__always)
    package func withUnsafeBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        Swift.withUnsafeBytes(of: self, body)
    }

    /// The bytes as 64 lowercase hexadecimal digits.
    package var hexadecimal: String { withUnsafeBytes { $0.hexadecimal } }
}

extension UnsafeRawBufferPointer {
    /// Lower-case hexadecimal of public bytes: a `String` cannot be wiped.
    package var hexadecimal: String {
        String(unsafeUninitializedCapacity: 2 * count) { text in
            Hexadecimal.encode(self, into: UnsafeMutableRawBufferPointer(.init(rebasing: text[..<(2 * count)])))
            return 2 * count
        }
    }
}

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
        var input: [UInt8] = []
        input.reserveCapacity(9 + group.utf8.count + name.utf8.count)
        Self.append(group, to: &input)
        groupTag = GroupTag(bytes: Self.tag(.groupTag, input))
        input.append(kind.rawValue)
        Self.append(name, to: &input)
        nameTag = NameTag(bytes: Self.tag(.nameTag, input))
    }

    /// Creates the context of a blob of unknown name from its header, as a survey does to verify a named stream.
    ///
    /// A blob that opens in it is authentic and belongs to the group. Its place is not checked.
    package init(group: String, kind: BlobKind, nameTag: NameTag) {
        self.kind = kind
        var input: [UInt8] = []
        Self.append(group, to: &input)
        groupTag = GroupTag(bytes: Self.tag(.groupTag, input))
        self.nameTag = nameTag
    }

    /// Appends the length as 4 little-endian bytes, then the UTF-8 bytes, so that two inputs never run into each other.
    private static func append(_ text: String, to input: inout [UInt8]) {
        withUnsafeBytes(of: UInt32(text.utf8.count).littleEndian) { input.append(contentsOf: $0) }
        input.append(contentsOf: text.utf8)
    }

    private static func tag(_ use: Personalization, _ input: [UInt8]) -> Bytes16 {
        Bytes16(filling: { output in
            input.withUnsafeBytes { BLAKE2b.hash($0, personalization: use, into: output) }
        })
    }
}
