internal import CryptoPrimitives

/// The fixed header of a sealed blob, format 1: values in memory, 176 bytes on disk.
///
/// It does no input, output or cryptography. A header that parses serialises to the same bytes: unknown numbers, set
/// reserved bytes and contradicting fields are refused (`docs/spec/format.md`, section 3).
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
    /// The counter that each write increments, from 1; 0 for streams.
    package var sequence: UInt64
    /// The time of sealing in milliseconds since 1970.
    package var sealedAt: UInt64
    /// The expiry in milliseconds since 1970; 0 for none.
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

/// A header before verification. It may be displayed, but not trusted.
package struct UnverifiedHeader: Hashable, Sendable {
    /// The header as the bytes claim it.
    package let claimed: BlobHeader

    /// Parses the header without verification.
    package init(parsing bytes: [UInt8]) throws(SealingError) { claimed = try BlobHeader(parsing: bytes) }
}

/// A header whose commitment matches the vault's key, so that every field has the writer's value. Only an opener
/// creates one.
package struct VerifiedHeader: Hashable, Sendable {
    /// The header from the writer.
    package let header: BlobHeader

    init(verified header: BlobHeader) { self.header = header }
}

/// The format's sizes and offsets, in bytes, and the arithmetic of chunks (`docs/spec/format.md`, sections 2 and 5).
package enum BlobLayout {
    package static let magic: StaticString = "SEAL"
    package static let format: UInt8 = 1
    /// The size of a header from magic to commitment.
    package static let headerSize = 176
    package static let groupTagOffset = 16
    /// The offset of the salt, which is hashed over all bytes before it.
    package static let saltOffset = 112
    /// The offset of the commitment, which is hashed over all bytes before it.
    package static let commitmentOffset = 144
    package static let chunkSize = 65_536
    package static let tagSize = 16
    package static let sealedChunkSize = chunkSize + tagSize

    /// The limit on a blob's chunks: 2^32, so 256 TiB of plaintext. Their indices fit a `u32`, and the upper four bytes
    /// of the index in the nonce are always zero.
    package static let maximumChunkCount = 1 << 32

    /// Returns the number of chunks for the plaintext: at least one, even if empty.
    package static func chunkCount(plaintextSize: Int) -> Int {
        max(1, (plaintextSize + chunkSize - 1) / chunkSize)
    }

    /// Returns the size of the whole blob for that many bytes of plaintext.
    package static func blobSize(plaintextSize: Int) -> Int {
        headerSize + plaintextSize + chunkCount(plaintextSize: plaintextSize) * tagSize
    }

    /// The division of the bytes after a header into chunks.
    package struct ChunkPlan: Hashable, Sendable {
        package let chunkCount: Int
        package let plaintextSize: Int

        /// Splits `sealedSize` bytes.
        ///
        /// - Throws: `SealingError` `.malformed` if no plaintext has that sealed size: less than one tag, an empty
        ///   chunk after another, or more chunks than the limit.
        package init(sealedSize: Int) throws(SealingError) {
            let full = sealedSize / sealedChunkSize
            let rest = sealedSize % sealedChunkSize
            let restIsValid = rest > tagSize || (rest == tagSize && full == 0) || (rest == 0 && full > 0)
            chunkCount = full + (rest > 0 ? 1 : 0)
            guard sealedSize >= tagSize, restIsValid, chunkCount <= maximumChunkCount else {
                throw SealingError(
                    .malformed, "read chunks", "\(sealedSize) bytes after the header are not a sequence of chunks.")
            }
            plaintextSize = sealedSize - chunkCount * tagSize
        }
    }
}

/// The kind of a blob. Unknown numbers are refused.
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

/// The number of a cryptographic suite (`docs/spec/format.md`, section 2). A keyring may contain keys of suites that
/// this version does not implement.
package struct BlobSuite: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8
    @inline(__always)
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// XChaCha20-Poly1305 with BLAKE2b, the only implemented suite.
    package static let xchacha20poly1305Blake2b = BlobSuite(rawValue: 1)
}

/// The flags of a header. A set bit outside `known` is refused.
@usableFromInline
package struct BlobFlags: OptionSet, Hashable, Sendable {
    @usableFromInline package let rawValue: UInt8
    @inlinable
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The record was deleted at this sequence; the contents are empty.
    package static let tombstone = BlobFlags(rawValue: 1)
    /// The blob was written without a sync: it survives a crash of the process, but not of the machine.
    package static let unsynced = BlobFlags(rawValue: 2)
    /// The plaintext ends with a writer's signature (`RecordTrailer`), and the header names the writer.
    package static let signed = BlobFlags(rawValue: 4)
    /// The flags that this version supports.
    package static let known: BlobFlags = [.tombstone, .unsynced, .signed]
}

/// The encoding of a payload.
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

extension BlobHeader {
    /// Reads a header from the first 176 bytes of `bytes`.
    ///
    /// - Throws: `SealingError` `.malformed` or `.unsupportedFormat`, naming the field.
    package init(parsing bytes: UnsafeRawBufferPointer) throws(SealingError) {
        guard bytes.count >= BlobLayout.headerSize else {
            throw .malformed("\(bytes.count) bytes are less than a header (\(BlobLayout.headerSize)).")
        }
        try Self.checkPreamble(bytes)
        let kind = try Self.kind(bytes[6])
        let codecWord: UInt64 = bytes.integer(at: 104)
        self.init(
            kind: kind,
            flags: try Self.flags(bytes[7]),
            schemaVersion: bytes.integer(at: 8),
            epoch: bytes.integer(at: 12),
            groupTag: GroupTag(bytes: bytes.bytes16(at: 16)),
            nameTag: NameTag(bytes: bytes.bytes16(at: 32)),
            keyID: KeyID(bytes: bytes.bytes16(at: 48)),
            sequence: bytes.integer(at: 64),
            sealedAt: bytes.integer(at: 72),
            notAfter: bytes.integer(at: 80),
            writer: WriterID(bytes: bytes.bytes16(at: 88)),
            codec: try Self.codec(codecWord),
            salt: Salt(bytes: Bytes32(UnsafeRawBufferPointer(rebasing: bytes[112..<144]))),
            commitment: Commitment(bytes: Bytes32(UnsafeRawBufferPointer(rebasing: bytes[144..<176]))))
        try checkConsistency()
    }

    /// Reads a header from an array.
    package init(parsing bytes: [UInt8]) throws(SealingError) {
        self = try bytes.withRawBytes { bytes throws(SealingError) in try BlobHeader(parsing: bytes) }
    }

    private static func checkPreamble(_ bytes: UnsafeRawBufferPointer) throws(SealingError) {
        let magic = UnsafeRawPointer(BlobLayout.magic.utf8Start).loadUnaligned(as: UInt32.self)
        guard bytes.loadUnaligned(as: UInt32.self) == magic else {
            throw .malformed("It does not begin with the magic SEAL.")
        }
        guard bytes[4] == BlobLayout.format else {
            throw .unsupported("format \(bytes[4]); known: \(BlobLayout.format).")
        }
        guard bytes[5] == BlobSuite.xchacha20poly1305Blake2b.rawValue else {
            throw .unsupported("suite \(bytes[5]); known: 1.")
        }
    }

    private static func kind(_ byte: UInt8) throws(SealingError) -> BlobKind {
        guard let kind = BlobKind(rawValue: byte) else { throw .unsupported("kind \(byte); known: 1, 2, 3.") }
        return kind
    }

    private static func flags(_ byte: UInt8) throws(SealingError) -> BlobFlags {
        guard BlobFlags.known.rawValue & byte == byte else { throw .unsupported("flags \(byte); known bits: 1, 2, 4.") }
        return BlobFlags(rawValue: byte)
    }

    /// Parses the codec and the seven reserved bytes after it, as one little-endian word.
    private static func codec(_ word: UInt64) throws(SealingError) -> PayloadCodec {
        guard word < 256, let codec = PayloadCodec(rawValue: UInt8(word)) else {
            throw .unsupported("codec or reserved bytes \(word); known codecs: 0, 1, 2, reserved bytes zero.")
        }
        return codec
    }

    /// True if the fields are consistent by the checks of a reader.
    var isConsistent: Bool {
        do throws(SealingError) {
            try checkConsistency()
            return true
        } catch { return false }
    }

    private func checkConsistency() throws(SealingError) {
        guard epoch > 0 else { throw .malformed("The epoch is 0; epochs count from 1.") }
        guard flags.contains(.signed) == (writer != .none) else {
            throw .malformed("A writer id without a signature, or a signature without a writer id.")
        }
        guard (kind == .stream) == (sequence == 0) else { throw .malformed("Sequence \(sequence) in a \(kind).") }
        guard kind == .record || (flags.isEmpty && schemaVersion == 0 && codec == .raw && notAfter == 0) else {
            throw .malformed("Flags, schema version, expiry or codec are set in a \(kind).")
        }
        guard !flags.contains(.tombstone) || codec == .raw else { throw .malformed("A tombstone with a codec.") }
    }
}

extension SealingError {
    fileprivate static func malformed(_ detail: String) -> SealingError {
        SealingError(.malformed, "read header", detail)
    }
    fileprivate static func unsupported(_ detail: String) -> SealingError {
        SealingError(.unsupportedFormat, "read header", "It has \(detail)")
    }
}

extension UnsafeRawBufferPointer {
    @inline(__always)
    fileprivate func integer<Value: FixedWidthInteger>(at offset: Int) -> Value {
        Value(littleEndian: loadUnaligned(fromByteOffset: offset, as: Value.self))
    }

    @inline(__always)
    fileprivate func bytes16(at offset: Int) -> Bytes16 { Bytes16(UnsafeRawBufferPointer(rebasing: self[offset...])) }
}
