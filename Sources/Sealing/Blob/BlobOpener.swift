package import CryptoPrimitives

/// Opens whole blobs held in memory, checking in the design's order: size, shape, group, name, key, epoch, commitment,
/// contents.
package enum BlobOpener {
    /// An opened blob: a header to believe and the plaintext, which is wiped when this ends.
    package struct Opened: ~Copyable {
        package let header: VerifiedHeader
        package let plaintext: PlaintextBuffer
    }

    /// Opens a blob.
    ///
    /// - Parameters:
    ///   - blob: The whole file.
    ///   - context: The place it was found in; nil accepts any place (for inspection only).
    ///   - keys: Where keys are looked up by id.
    ///   - limit: The largest blob in bytes that is looked at.
    /// - Throws: `SealingError`; no plaintext is released then.
    package static func open(
        _ blob: UnsafeRawBufferPointer, context: BlobContext?, keys: some SealingKeySource, limit: Int
    ) throws(SealingError) -> Opened {
        guard blob.count <= limit else {
            throw SealingError(.tooLarge, "open", "\(blob.count) bytes; the limit is \(limit).")
        }
        let header = try shape(blob, context: context)
        let chunks = UnsafeRawBufferPointer(rebasing: blob[BlobLayout.headerSize...])
        let plan = try plan(for: header, sealedSize: chunks.count)
        return try withCipher(blob, header: header, keys: keys) { verified, cipher throws(SealingError) in
            var plaintext = PlaintextBuffer(count: plan.plaintextSize)
            try plaintext.withUnsafeMutableBytes { output throws(SealingError) in
                try cipher.openAll(chunks, plan: plan, into: output)
            }
            return Opened(header: verified, plaintext: plaintext)
        }
    }

    /// Verifies the header alone: everything but the contents. `blob` may be just its first 176 bytes.
    ///
    /// - Throws: `SealingError`, from `.malformed` to `.wrongCommitment`.
    package static func verifyHeader(
        _ blob: UnsafeRawBufferPointer, context: BlobContext?, keys: some SealingKeySource
    ) throws(SealingError) -> VerifiedHeader {
        let header = try shape(blob, context: context)
        return try withCipher(blob, header: header, keys: keys) { verified, _ in verified }
    }

    /// Lends a verified header and the cipher of the chunks; the single-use key is wiped afterwards.
    @inline(__always)
    private static func withCipher<Result: ~Copyable>(
        _ blob: UnsafeRawBufferPointer, header: BlobHeader, keys: some SealingKeySource,
        _ body: (VerifiedHeader, ChunkCipher) throws(SealingError) -> Result
    ) throws(SealingError) -> Result {
        try ScratchMemory.withSecret(count: KeyDerivation.derivedSize) { derived throws(SealingError) in
            let verified = try verify(header, in: blob, keys: keys, derived: derived)
            return try body(verified, ChunkCipher(derived: UnsafeRawBufferPointer(derived), blob: blob))
        }
    }

    /// Finds the key, derives the single-use key into `derived`, and checks epoch and commitment.
    @inline(__always)
    static func verify(
        _ header: BlobHeader, in blob: UnsafeRawBufferPointer, keys: some SealingKeySource,
        derived: UnsafeMutableRawBufferPointer
    ) throws(SealingError) -> VerifiedHeader {
        guard let key = keys.sealingKey(for: header.keyID) else {
            throw SealingError(
                .unknownKey, "open", "It was sealed under key \(header.keyID), which the vault does not hold.")
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
            throw SealingError(.wrongCommitment, "open", "The header does not fit key \(header.keyID).")
        }
        return VerifiedHeader(verified: header)
    }

    /// How the bytes behind a header split into chunks; a tombstone has one, and it is empty.
    static func plan(for header: BlobHeader, sealedSize: Int) throws(SealingError) -> BlobLayout.ChunkPlan {
        let plan = try BlobLayout.ChunkPlan(sealedSize: sealedSize)
        guard !header.flags.contains(.tombstone) || plan.plaintextSize == 0 else {
            throw SealingError(.malformed, "open", "A tombstone with contents.")
        }
        return plan
    }

    /// Shape and place, before any key is touched.
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
