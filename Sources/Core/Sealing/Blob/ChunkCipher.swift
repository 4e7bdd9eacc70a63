internal import CryptoPrimitives

/// Seals and opens single chunks of one blob with XChaCha20-Poly1305: the key is the blob's single-use key, the nonce
/// the chunk's index and last mark, the associated data the whole header. Chunks are independent of each other.
struct ChunkCipher {
    /// The blob's single-use key of 32 bytes, which the caller wipes.
    let subkey: UnsafeRawBufferPointer
    /// The whole header of 176 bytes.
    let header: UnsafeRawBufferPointer

    /// - Parameters:
    ///   - derived: Single-use key and commitment from `KeyDerivation`.
    ///   - blob: The blob, or at least its header.
    init(derived: UnsafeRawBufferPointer, blob: UnsafeRawBufferPointer) {
        subkey = UnsafeRawBufferPointer(rebasing: derived[0..<32])
        header = UnsafeRawBufferPointer(rebasing: blob[0..<BlobLayout.headerSize])
    }

    @inline(__always)
    func seal(
        _ plaintext: UnsafeRawBufferPointer, index: UInt64, isLast: Bool, into output: UnsafeMutableRawBufferPointer
    ) {
        withNonce(index: index, isLast: isLast) { nonce in
            XChaCha20Poly1305.seal(plaintext, associated: header, nonce: nonce, key: subkey, into: output)
        }
    }

    /// - Throws: `SealingError` `.tampered`. In that case `output` contains no plaintext.
    @inline(__always)
    func open(
        _ sealed: UnsafeRawBufferPointer, index: UInt64, isLast: Bool, into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        try withNonce(index: index, isLast: isLast) { nonce throws(SealingError) in
            do {
                try XChaCha20Poly1305.open(sealed, associated: header, nonce: nonce, key: subkey, into: output)
            } catch {
                throw SealingError(.tampered, "open", "Chunk \(index) does not fit its tag.")
            }
        }
    }

    /// Lends the nonce: index (8 bytes, little-endian), 15 zeros, 1 for the last chunk and 0 for every other.
    @inline(__always)
    private func withNonce<Failure: Error>(
        index: UInt64, isLast: Bool, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        var nonce = (index.littleEndian, UInt64(0), isLast ? (UInt64(1) << 56).littleEndian : 0)
        try withUnsafeBytes(of: &nonce) { bytes throws(Failure) in try body(bytes) }
    }

    /// Seals a whole plaintext into consecutive chunks.
    @inline(__always)
    func sealAll(_ plaintext: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) {
        let last = BlobLayout.chunkCount(plaintextSize: plaintext.count) - 1
        for index in 0...last {
            let start = index * BlobLayout.chunkSize
            let end = min(start + BlobLayout.chunkSize, plaintext.count)
            let place = index * BlobLayout.sealedChunkSize
            seal(
                UnsafeRawBufferPointer(rebasing: plaintext[start..<end]), index: UInt64(index), isLast: index == last,
                into: UnsafeMutableRawBufferPointer(rebasing: output[place..<place + end - start + BlobLayout.tagSize]))
        }
    }

    /// Opens consecutive chunks into a whole plaintext.
    @inline(__always)
    func openAll(
        _ sealed: UnsafeRawBufferPointer, plan: BlobLayout.ChunkPlan, into output: UnsafeMutableRawBufferPointer
    ) throws(SealingError) {
        for index in 0..<plan.chunkCount {
            let start = index * BlobLayout.sealedChunkSize
            let end = min(start + BlobLayout.sealedChunkSize, sealed.count)
            let place = index * BlobLayout.chunkSize
            try open(
                UnsafeRawBufferPointer(rebasing: sealed[start..<end]), index: UInt64(index),
                isLast: index == plan.chunkCount - 1,
                into: UnsafeMutableRawBufferPointer(rebasing: output[place..<place + end - start - BlobLayout.tagSize]))
        }
    }
}

// Protected by immutability: nothing writes to either buffer while a cipher uses it.
extension ChunkCipher: @unchecked Sendable {}
