internal import CryptoPrimitives

/// Seals whole blobs in memory.
package enum BlobSealer {
    /// Returns the sealed blob for `plaintext`: the header, then the chunks.
    ///
    /// - Parameters:
    ///   - plaintext: Any number of bytes; the caller wipes them. A signed blob ends with its `RecordTrailer`.
    ///   - description: The contents of the header.
    ///   - key: The group's active key.
    ///   - fixedSalt: Only for reproducible test vectors: a salt used twice under one key breaks both blobs.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, as description: BlobDescription, key: SealingKey, fixedSalt: Salt? = nil
    ) -> [UInt8] {
        sealWhole(plaintext, as: description, key: key, fixedSalt: fixedSalt).bytes
    }

    /// The same with its header, which a writer believes without another derivation of the key.
    package static func sealWhole(
        _ plaintext: UnsafeRawBufferPointer, as description: BlobDescription, key: SealingKey, fixedSalt: Salt? = nil
    ) -> SealedBlob {
        precondition(
            BlobOpener.isPossible(plaintextSize: plaintext.count, description.flags),
            "a tombstone has no contents, and a signed blob has room for its signature")
        let size = BlobLayout.blobSize(plaintextSize: plaintext.count)
        var header = description.header(key: key)
        let blob = [UInt8](unsafeUninitializedCapacity: size) { blob, count in
            let bytes = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(blob)[0..<size])
            let start = UnsafeMutableRawBufferPointer(rebasing: bytes[0..<BlobLayout.headerSize])
            withSealedHeader(description, key: key, fixedSalt: fixedSalt, into: start) { cipher in
                cipher.sealAll(
                    plaintext, into: UnsafeMutableRawBufferPointer(rebasing: bytes[BlobLayout.headerSize...]))
            }
            header.salt = Salt(bytes: Bytes32(UnsafeRawBufferPointer(rebasing: start[BlobLayout.saltOffset...])))
            header.commitment = Commitment(
                bytes: Bytes32(UnsafeRawBufferPointer(rebasing: start[BlobLayout.commitmentOffset...])))
            count = size
        }
        return SealedBlob(bytes: blob, header: VerifiedHeader(verified: header))
    }

    /// Writes a complete header and lends the cipher of its chunks; the single-use key is wiped afterwards.
    @inline(__always)
    static func withSealedHeader<Failure: Error>(
        _ description: BlobDescription, key: SealingKey, fixedSalt: Salt?, into bytes: UnsafeMutableRawBufferPointer,
        _ body: (ChunkCipher) throws(Failure) -> Void
    ) throws(Failure) {
        let unsealed = description.header(key: key)
        // A writer must not report success for a blob that every reader refuses.
        precondition(unsealed.suite == .xchacha20poly1305Blake2b, "a key of a suite that is not implemented")
        precondition(
            unsealed.isConsistent, "a blob's fields must not contradict each other (docs/spec/format.md, section 3)")
        unsealed.encode(into: bytes)
        let header = UnsafeRawBufferPointer(bytes)
        let salt =
            fixedSalt
            ?? KeyDerivation.freshSalt(
                header: UnsafeRawBufferPointer(rebasing: header[0..<BlobLayout.saltOffset]), key: key)
        bytes.storeBytes(of: salt.bytes, toByteOffset: BlobLayout.saltOffset, as: Bytes32.self)
        try ScratchMemory.withSecret(count: KeyDerivation.derivedSize) { derived throws(Failure) in
            KeyDerivation.derive(
                header: UnsafeRawBufferPointer(rebasing: header[0..<BlobLayout.commitmentOffset]), key: key,
                into: derived)
            UnsafeMutableRawBufferPointer(rebasing: bytes[BlobLayout.commitmentOffset...])
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: derived[32..<64]))
            try body(ChunkCipher(derived: UnsafeRawBufferPointer(derived), blob: header))
        }
    }
}

/// A blob that this process has just sealed.
package struct SealedBlob: Sendable {
    /// The whole file.
    package let bytes: [UInt8]
    package let header: VerifiedHeader
}

/// A writer's description of a blob before it is sealed; times are milliseconds since 1970.
package struct BlobDescription: Sendable {
    package var context: BlobContext
    package var flags: BlobFlags
    package var schemaVersion: UInt32
    package var sequence: UInt64
    package var sealedAt: UInt64
    /// The expiry; 0 for none.
    package var notAfter: UInt64
    package var codec: PayloadCodec
    /// The writer whose signature ends the plaintext; only with the flag `signed`.
    package var writer = WriterID.none

    /// Creates a record's description.
    package init(
        record context: BlobContext, flags: BlobFlags = [], schemaVersion: UInt32, sequence: UInt64, sealedAt: UInt64,
        notAfter: UInt64 = 0, codec: PayloadCodec = .json
    ) {
        self.context = context
        self.flags = flags
        self.schemaVersion = schemaVersion
        self.sequence = sequence
        self.sealedAt = sealedAt
        self.notAfter = notAfter
        self.codec = codec
    }

    /// Creates a stream's description, without version, sequence, expiry or codec.
    package init(stream context: BlobContext, sealedAt: UInt64) {
        self.init(record: context, schemaVersion: 0, sequence: 0, sealedAt: sealedAt, codec: .raw)
    }

    /// Creates a vault body's description.
    package init(vault context: BlobContext, sequence: UInt64, sealedAt: UInt64) {
        self.init(record: context, schemaVersion: 0, sequence: sequence, sealedAt: sealedAt, codec: .raw)
    }

    /// Returns the header with zeros for salt and commitment.
    func header(key: SealingKey) -> BlobHeader {
        BlobHeader(
            suite: key.suite, kind: context.kind, flags: flags, schemaVersion: schemaVersion, epoch: key.epoch,
            groupTag: context.groupTag, nameTag: context.nameTag, keyID: key.id, sequence: sequence,
            sealedAt: sealedAt, notAfter: notAfter, writer: writer, codec: codec, salt: Salt(bytes: .zero),
            commitment: Commitment(bytes: .zero))
    }
}
