internal import CSodium

/// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03) of libsodium, with a 24-byte nonce and a 16-byte tag after the text.
package enum XChaCha20Poly1305 {
    /// The key's size in bytes.
    package static let keySize = 32
    /// The nonce's size in bytes.
    package static let nonceSize = 24
    /// The tag's size in bytes.
    package static let tagSize = 16

    /// Writes ciphertext and tag into `output`, which is `tagSize` longer than `plaintext`.
    ///
    /// A nonce is never used twice under one key; here every key is used for one blob and the nonce counts its chunks.
    @inline(__always)
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(output.count == plaintext.count + tagSize && nonce.count == nonceSize && key.count == keySize)
        Sodium.start()
        _ = csodium_xchacha20poly1305_seal(
            output.bytePointer, plaintext.bytePointer, plaintext.count, associated.bytePointer, associated.count,
            nonce.bytePointer, key.bytePointer)
    }

    /// Checks the tag and only then writes the plaintext into `output`, which is `tagSize` shorter than `sealed`.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed`. In that case `output` contains no plaintext.
    @inline(__always)
    package static func open(
        _ sealed: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        precondition(output.count + tagSize == sealed.count && nonce.count == nonceSize && key.count == keySize)
        Sodium.start()
        let status = csodium_xchacha20poly1305_open(
            output.bytePointer, sealed.bytePointer, sealed.count, associated.bytePointer, associated.count,
            nonce.bytePointer, key.bytePointer)
        guard status == 0 else { throw CryptoError(.authenticationFailed, "XChaCha20-Poly1305") }
    }
}

/// ChaCha20-Poly1305 (RFC 8439) of libsodium, with a 12-byte nonce and a 16-byte tag after the text: for connections,
/// whose keys are used once and whose nonces count.
package enum ChaCha20Poly1305 {
    /// The key's size in bytes.
    package static let keySize = 32
    /// The tag's size in bytes.
    package static let tagSize = 16

    /// Writes ciphertext and tag into `output`, which is `tagSize` longer than `plaintext`.
    ///
    /// - Parameter nonce: 12 bytes, never used twice under one key.
    package static func seal(
        _ plaintext: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        precondition(output.count == plaintext.count + tagSize && nonce.count == 12 && key.count == keySize)
        Sodium.start()
        _ = csodium_chacha20poly1305_seal(
            output.bytePointer, plaintext.bytePointer, plaintext.count, associated.bytePointer, associated.count,
            nonce.bytePointer, key.bytePointer)
    }

    /// Checks the tag and only then writes the plaintext into `output`, which is `tagSize` shorter than `sealed`.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed`. In that case `output` contains no plaintext.
    package static func open(
        _ sealed: UnsafeRawBufferPointer, associated: UnsafeRawBufferPointer, nonce: UnsafeRawBufferPointer,
        key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        precondition(output.count + tagSize == sealed.count && nonce.count == 12 && key.count == keySize)
        Sodium.start()
        let status = csodium_chacha20poly1305_open(
            output.bytePointer, sealed.bytePointer, sealed.count, associated.bytePointer, associated.count,
            nonce.bytePointer, key.bytePointer)
        guard status == 0 else { throw CryptoError(.authenticationFailed, "ChaCha20-Poly1305") }
    }
}

/// AES-256-GCM (NIST SP 800-38D) of libsodium, for opening data that other programs sealed. It is not used for sealing:
/// its nonces are too short to be random for long, and it is not key-committing.
package enum AES256GCM {
    /// The key's size in bytes.
    package static let keySize = 32
    /// The nonce's size in bytes.
    package static let nonceSize = 12
    /// The tag's size in bytes.
    package static let tagSize = 16
    /// The difference in size between the combined form and the plaintext.
    package static let overhead = nonceSize + tagSize

    private static let name = "AES-256-GCM"

    /// True if the processor has the instructions that libsodium's implementation requires.
    package static var isAvailable: Bool {
        Sodium.start()
        return csodium_aes256gcm_available() == 1
    }

    /// Opens the combined form, nonce ‖ ciphertext ‖ tag, as in CryptoKit's `AES.GCM.SealedBox.combined`.
    ///
    /// - Parameters:
    ///   - combined: The whole sealed form.
    ///   - associated: The associated data; empty unless the sealer used some.
    ///   - key: 32 bytes.
    ///   - output: `overhead` bytes shorter than `combined`.
    /// - Throws: `CryptoError` `.unavailable` on a processor without the instructions; `.parameterOutOfRange` for less
    ///   than nonce and tag; `.authenticationFailed`, in which case `output` contains no plaintext.
    package static func open(
        combined: UnsafeRawBufferPointer,
        associated: UnsafeRawBufferPointer = UnsafeRawBufferPointer(start: nil, count: 0),
        key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        guard isAvailable else { throw CryptoError(.unavailable, name) }
        guard combined.count >= overhead else { throw CryptoError(.parameterOutOfRange, name) }
        precondition(output.count + overhead == combined.count && key.count == keySize)
        let nonce = UnsafeRawBufferPointer(rebasing: combined[..<nonceSize])
        let sealed = UnsafeRawBufferPointer(rebasing: combined[nonceSize...])
        let status = csodium_aes256gcm_open(
            output.bytePointer, sealed.bytePointer, sealed.count, associated.bytePointer, associated.count,
            nonce.bytePointer, key.bytePointer)
        guard status == 0 else { throw CryptoError(.authenticationFailed, name) }
    }
}
