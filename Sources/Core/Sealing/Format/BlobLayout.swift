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
