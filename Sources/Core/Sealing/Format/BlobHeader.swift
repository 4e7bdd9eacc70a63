/// The fixed header of a sealed blob, format 1: values in memory, 176 bytes on disk.
///
/// It does no input, output or cryptography. Whatever parses serialises to the same bytes, and nothing else parses:
/// unknown numbers, set reserved bytes and contradicting fields are refused (`docs/format.md`, section 3).
package struct BlobHeader: Hashable, Sendable {
    package var suite = BlobSuite.xchacha20poly1305Blake2b
    package var kind: BlobKind
    package var flags: BlobFlags
    /// The record's schema version; 0 for streams and vaults.
    package var schemaVersion: UInt32
    /// The epoch of the key, from 1.
    package var epoch: UInt32
    package var groupTag: GroupTag
    package var nameTag: NameTag
    package var keyID: KeyID
    /// +1 for each write, from 1; 0 for streams.
    package var sequence: UInt64
    /// Milliseconds since 1970.
    package var sealedAt: UInt64
    /// Milliseconds since 1970; 0 means no end.
    package var notAfter: UInt64
    package var writer: WriterID
    package var codec: PayloadCodec
    package var salt: Salt
    package var commitment: Commitment

    /// Writes the 176 bytes.
    package func encode(into buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count == BlobLayout.headerSize)
        buffer.copyMemory(from: UnsafeRawBufferPointer(start: BlobLayout.magic.utf8Start, count: 4))
        buffer[4] = BlobLayout.format
        buffer[5] = suite.rawValue
        buffer[6] = kind.rawValue
        buffer[7] = flags.rawValue
        buffer.store(schemaVersion, at: 8)
        buffer.store(epoch, at: 12)
        buffer.store(groupTag.bytes, at: 16)
        buffer.store(nameTag.bytes, at: 32)
        buffer.store(keyID.bytes, at: 48)
        buffer.store(sequence, at: 64)
        buffer.store(sealedAt, at: 72)
        buffer.store(notAfter, at: 80)
        buffer.store(writer.bytes, at: 88)
        buffer.store(UInt64(codec.rawValue), at: 104)
        buffer.store(salt.bytes, at: 112)
        buffer.store(commitment.bytes, at: 144)
    }

    /// The 176 bytes.
    package var encoded: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: BlobLayout.headerSize) { buffer, count in
            encode(into: UnsafeMutableRawBufferPointer(buffer))
            count = BlobLayout.headerSize
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Stores an integer in little-endian order.
    @inline(__always)
    fileprivate func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }

    @inline(__always)
    fileprivate func store(_ value: Bytes16, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: Bytes16.self)
    }

    @inline(__always)
    fileprivate func store(_ value: Bytes32, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: Bytes32.self)
    }
}

/// A header as it was read: nobody has vouched for it. It may be shown, never believed.
package struct UnverifiedHeader: Hashable, Sendable {
    /// What the bytes say.
    package let claimed: BlobHeader

    /// Reads the shape only.
    package init(parsing bytes: [UInt8]) throws(SealingError) { claimed = try BlobHeader(parsing: bytes) }
}

/// A header whose commitment fits the vault's key: every field is what the writer wrote. Only an opener and a sealer
/// make one.
package struct VerifiedHeader: Hashable, Sendable {
    /// What the writer wrote.
    package let header: BlobHeader

    init(verified header: BlobHeader) { self.header = header }
}

/// The format's sizes and offsets, in bytes, and the arithmetic of chunks (`docs/format.md`, sections 2 and 5).
package enum BlobLayout {
    package static let magic: StaticString = "SEAL"
    package static let format: UInt8 = 1
    /// Magic to commitment.
    package static let headerSize = 176
    package static let groupTagOffset = 16
    /// What the salt is hashed over: everything before it.
    package static let saltOffset = 112
    /// What the commitment is hashed over: everything before it.
    package static let commitmentOffset = 144
    package static let chunkSize = 65_536
    package static let tagSize = 16
    package static let sealedChunkSize = chunkSize + tagSize

    /// The most chunks of a blob: 2^32, so 256 TiB of plaintext. Their indices fit a `u32`; the upper four bytes of the index
    /// in the nonce are always zero.
    package static let maximumChunkCount = 1 << 32

    /// The number of chunks that `plaintext` bytes take: at least one, the empty last one included.
    package static func chunkCount(plaintextSize: Int) -> Int {
        max(1, (plaintextSize + chunkSize - 1) / chunkSize)
    }

    /// The size of the whole blob for that many bytes of plaintext.
    package static func blobSize(plaintextSize: Int) -> Int {
        headerSize + plaintextSize + chunkCount(plaintextSize: plaintextSize) * tagSize
    }

    /// How the bytes behind a header split into chunks.
    package struct ChunkPlan: Hashable, Sendable {
        package let chunkCount: Int
        package let plaintextSize: Int

        /// Splits `sealedSize` bytes.
        ///
        /// - Throws: `SealingError` `.malformed` when no plaintext has that sealed size: less than one tag, an empty chunk
        ///   behind another, or more chunks than a blob may have.
        package init(sealedSize: Int) throws(SealingError) {
            let full = sealedSize / sealedChunkSize
            let rest = sealedSize % sealedChunkSize
            let restIsValid = rest > tagSize || (rest == tagSize && full == 0) || (rest == 0 && full > 0)
            chunkCount = full + (rest > 0 ? 1 : 0)
            guard sealedSize >= tagSize, restIsValid, chunkCount <= maximumChunkCount else {
                throw SealingError(
                    .malformed, "read chunks", "\(sealedSize) bytes behind the header are no row of chunks.")
            }
            plaintextSize = sealedSize - chunkCount * tagSize
        }
    }
}

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
