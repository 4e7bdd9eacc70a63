/// What a writer says about a blob before it is sealed; times are milliseconds since 1970.
package struct BlobDescription: Sendable {
    package var context: BlobContext
    package var flags: BlobFlags
    package var schemaVersion: UInt32
    package var sequence: UInt64
    package var sealedAt: UInt64
    /// 0 means no end.
    package var notAfter: UInt64
    package var codec: PayloadCodec
    /// The writer whose signature ends the plaintext; with the flag `signed` only.
    package var writer = WriterID.none

    /// A record's description.
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

    /// A stream's description: no version, sequence, expiry or codec.
    package init(stream context: BlobContext, sealedAt: UInt64) {
        self.init(record: context, schemaVersion: 0, sequence: 0, sealedAt: sealedAt, codec: .raw)
    }

    /// A vault body's description.
    package init(vault context: BlobContext, sequence: UInt64, sealedAt: UInt64) {
        self.init(record: context, schemaVersion: 0, sequence: sequence, sealedAt: sealedAt, codec: .raw)
    }

    /// The header with salt and commitment still zero.
    func header(key: SealingKey) -> BlobHeader {
        BlobHeader(
            suite: key.suite, kind: context.kind, flags: flags, schemaVersion: schemaVersion, epoch: key.epoch,
            groupTag: context.groupTag, nameTag: context.nameTag, keyID: key.id, sequence: sequence,
            sealedAt: sealedAt, notAfter: notAfter, writer: writer, codec: codec, salt: Salt(bytes: .zero),
            commitment: Commitment(bytes: .zero))
    }
}
