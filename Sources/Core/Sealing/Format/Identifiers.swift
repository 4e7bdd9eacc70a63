/// Names a key without telling anything about it: BLAKE2b-128 keyed by the key itself.
package struct KeyID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}

/// Names an app group inside a header: BLAKE2b-128 of its identifier.
package struct GroupTag: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}

/// Names a blob's place inside its group: BLAKE2b-128 of group, kind and name.
package struct NameTag: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}

/// The id of the program that signed a blob; all zero in unsigned ones.
package struct WriterID: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes16
    package init(bytes: Bytes16) { self.bytes = bytes }
    package static let none = WriterID(bytes: .zero)
    package var description: String { bytes.hexadecimal }
}

/// What makes a blob's single-use key single-use; never repeated under one group key.
package struct Salt: Hashable, Sendable {
    package let bytes: Bytes32
    package init(bytes: Bytes32) { self.bytes = bytes }
}

/// Ties a header to one key: a second key that opens the same blob cannot be found.
package struct Commitment: Hashable, Sendable, CustomStringConvertible {
    package let bytes: Bytes32
    package init(bytes: Bytes32) { self.bytes = bytes }
    package var description: String { bytes.hexadecimal }
}
