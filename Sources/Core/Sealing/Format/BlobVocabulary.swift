/// What a blob holds; unknown numbers are refused.
package enum BlobKind: UInt8, Sendable, CaseIterable, CustomStringConvertible {
    case record = 1
    case stream = 2
    case vault = 3

    package var description: String {
        switch self {
        case .record: "record"
        case .stream: "stream"
        case .vault: "vault"
        }
    }
}

/// The number of a cryptographic suite (`docs/format.md`, section 2); a keyring may hold keys of suites that this version
/// does not implement.
package struct BlobSuite: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    @inline(__always)
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// XChaCha20-Poly1305 with BLAKE2b: the only suite that is implemented.
    package static let xchacha20poly1305Blake2b = BlobSuite(rawValue: 1)
}

/// A header's flags; a set bit outside `known` is refused.
@usableFromInline
package struct BlobFlags: OptionSet, Hashable, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The record was deleted at this sequence; the contents are empty.
    package static let tombstone = BlobFlags(rawValue: 1)
    /// Written without a sync: it survives the process, not the machine.
    package static let unsynced = BlobFlags(rawValue: 2)
    /// The plaintext ends with a writer's signature (`RecordTrailer`), and the header names the writer.
    package static let signed = BlobFlags(rawValue: 4)
    /// What this version understands.
    package static let known: BlobFlags = [.tombstone, .unsynced, .signed]
}

/// How a payload's bytes are to be read.
package enum PayloadCodec: UInt8, Sendable, CustomStringConvertible {
    case raw = 0
    case json = 1
    case binaryPropertyList = 2

    package var description: String {
        switch self {
        case .raw: "raw"
        case .json: "json"
        case .binaryPropertyList: "bplist"
        }
    }
}
