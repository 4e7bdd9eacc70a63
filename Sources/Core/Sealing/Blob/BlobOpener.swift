package import CryptoPrimitives

/// Opens whole blobs in memory and checks in the format's order: size, shape, place, chunk sizes, key, suite, epoch,
/// commitment, retirement, contents.
package enum BlobOpener {
    /// An opened blob: the verified header and the contents, which are wiped at the end of its lifetime.
    package struct Opened: ~Copyable {
        package let header: VerifiedHeader
        /// The contents, without the trailer of a signed blob.
        package let plaintext: PlaintextBuffer
        /// The unverified signature of a signed blob, or `nil` for an unsigned one.
        package let trailer: RecordTrailer?
    }

    /// The number of bytes by which a signed blob may exceed an unsigned one of the same contents: the trailer, and the
    /// tag of a chunk that it may begin.
    package static let signedAllowance = RecordTrailer.size + BlobLayout.tagSize

    /// Opens a blob.
    ///
    /// - Parameters:
    ///   - blob: The whole file.
    ///   - context: The place where the blob was found; `nil` accepts any place (for inspection only).
    ///   - keys: The source of keys by id.
    ///   - limit: The largest accepted blob in bytes. A signed one may be `signedAllowance` larger, because limits
    ///     count contents.
    /// - Throws: `SealingError`, without releasing plaintext.
    /// - Throws: `SealingError`; no plaintext is released then.
    package static func open(
        _ blob: UnsafeRawBufferPointer, context: BlobContext?, keys: some SealingKeySource, limit: Int
    ) throws(SealingError) -> Opened {
        guard blob.count <= limit || isSigned(blob, within: limit) else {
            throw SealingError(.tooLarge, "open", "\(blob.count) bytes; the limit is \(limit).")
        }
        let header = try shape(blob, context: context)
        let chunks = UnsafeRawBufferPointer(rebasing: blob[BlobLayout.headerSize...])
        let plan = try plan(for: header, sealedSize: chunks.count)
        return try withCipher(blob, header: header, keys: keys, acceptingRetired: false) {
            verified, cipher throws(SealingError) in
            var plaintext = PlaintextBuffer(count: plan.plaintextSize)
            try plaintext.withUnsafeMutableBytes { output throws(SealingError) in
                try cipher.openAll(chunks, plan: plan, into: output)
            }
            guard header.flags.contains(.signed) else {
                return Opened(header: verified, plaintext: plaintext, trailer: nil)
            }
            let trailer = try plaintext.withUnsafeBytes { bytes throws(SealingError) in
                try RecordTrailer(endOf: bytes)
            }
            plaintext.removeLast(RecordTrailer.size)
            return Opened(header: verified, plaintext: plaintext, trailer: trailer)
        }
    }

    /// Returns whether a blob larger than a limit claims to be signed and exceeds the limit by no more than a
    /// signature.
    private static func isSigned(_ blob: UnsafeRawBufferPointer, within limit: Int) -> Bool {
        blob.count - signedAllowance <= limit && blob.count >= BlobLayout.headerSize
            && BlobFlags(rawValue: blob[7]).contains(.signed)
    }

    /// Verifies the header alone: all checks except retirement and the contents. `blob` may be just its first 176
    /// bytes.
    ///
    /// - Throws: `SealingError`, from `.malformed` to `.wrongCommitment`.
    package static func verifyHeader(
        _ blob: UnsafeRawBufferPointer, context: BlobContext?, keys: some SealingKeySource
    ) throws(SealingError) -> VerifiedHeader {
        let header = try shape(blob, context: context)
        return try withCipher(blob, header: header, keys: keys, acceptingRetired: true) { verified, _ in verified }
    }

    /// Lends a verified header and the cipher of the chunks; the single-use key is wiped afterwards.
    @inline(__always)
    private static func withCipher<Result: ~Copyable>(
        _ blob: UnsafeRawBufferPointer, header: BlobHeader, keys: some SealingKeySource, acceptingRetired: Bool,
        _ body: (VerifiedHeader, ChunkCipher) throws(SealingError) -> Result
    ) throws(SealingError) -> Result {
        try ScratchMemory.withSecret(count: KeyDerivation.derivedSize) { derived throws(SealingError) in
            let verified = try verify(
                header, in: blob, keys: keys, acceptingRetired: acceptingRetired, derived: derived)
            return try body(verified, ChunkCipher(derived: UnsafeRawBufferPointer(derived), blob: blob))
        }
    }

    /// Finds the key, derives the single-use key into `derived`, and checks suite, epoch, commitment and retirement.
    @inline(__always)
    static func verify(
        _ header: BlobHeader, in blob: UnsafeRawBufferPointer, keys: some SealingKeySource,
        acceptingRetired: Bool = false, derived: UnsafeMutableRawBufferPointer
    ) throws(SealingError) -> VerifiedHeader {
        guard let key = keys.sealingKey(for: header.keyID) else {
            throw SealingError(
                .unknownKey, "open", "It was sealed under key \(header.keyID), which the vault does not hold.")
        }
        guard header.suite == key.suite else {
            throw SealingError(
                .wrongSuite, "open", "Suite \(header.suite.rawValue) for a key of suite \(key.suite.rawValue).")
        }
        guard header.epoch == key.epoch else {
            throw SealingError(.wrongEpoch, "open", "Epoch \(header.epoch) for a key of epoch \(key.epoch).")
        }
        KeyDerivation.derive(
            header: UnsafeRawBufferPointer(rebasing: blob[0..<BlobLayout.commitmentOffset]), key: key, into: derived)
        let isCommitted = ConstantTime.areEqual(
            UnsafeRawBufferPointer(rebasing: derived[32..<64]),
            UnsafeRawBufferPointer(rebasing: blob[BlobLayout.commitmentOffset..<BlobLayout.headerSize]))
        guard isCommitted else {
            throw SealingError(.wrongCommitment, "open", "The header is not authentic under key \(header.keyID).")
        }
        let minimum = keys.minimumEpoch(for: key)
        guard acceptingRetired || key.epoch >= minimum else {
            throw SealingError(
                .retiredEpoch, "open",
                "It has epoch \(key.epoch); a rotation to epoch \(minimum) was completed.")
        }
        return VerifiedHeader(verified: header)
    }

    /// Returns the division of the bytes after a header into chunks.
    ///
    /// - Parameter isWhole: True if these are all bytes after the header, false if they are one of several batches.
    static func plan(
        for header: BlobHeader, sealedSize: Int, isWhole: Bool = true
    ) throws(SealingError) -> BlobLayout.ChunkPlan {
        let plan = try BlobLayout.ChunkPlan(sealedSize: sealedSize)
        guard isPossible(plaintextSize: plan.plaintextSize, header.flags, isWhole: isWhole) else {
            throw SealingError(
                .malformed, "open", "A tombstone with contents, or a signed blob without room for its signature.")
        }
        return plan
    }

    /// Returns whether a plaintext may have that size: a tombstone has no contents, and a signed blob ends with its
    /// trailer.
    @inline(__always)
    static func isPossible(plaintextSize: Int, _ flags: BlobFlags, isWhole: Bool = true) -> Bool {
        // Not as one set of both: such a literal is built for each blob.
        if !flags.contains(.tombstone), !flags.contains(.signed) { return true }
        let trailer = flags.contains(.signed) ? RecordTrailer.size : 0
        if flags.contains(.tombstone) { return isWhole && plaintextSize == trailer }
        return !isWhole || plaintextSize >= trailer
    }

    /// Checks shape and place before any key is used.
    @inline(__always)
    static func shape(_ blob: UnsafeRawBufferPointer, context: BlobContext?) throws(SealingError) -> BlobHeader {
        let header = try BlobHeader(parsing: blob)
        guard let context else { return header }
        guard header.kind == context.kind else {
            throw SealingError(.wrongKind, "open", "It is a \(header.kind), not a \(context.kind).")
        }
        guard header.groupTag == context.groupTag else {
            throw SealingError(.wrongGroup, "open", "It was sealed for another app group (tag \(header.groupTag)).")
        }
        guard header.nameTag == context.nameTag else {
            throw SealingError(.wrongName, "open", "It was sealed under another name (tag \(header.nameTag)).")
        }
        return header
    }
}

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
                throw SealingError(.tampered, "open", "Chunk \(index) does not match its tag.")
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
