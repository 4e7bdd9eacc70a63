internal import CryptoPrimitives

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
