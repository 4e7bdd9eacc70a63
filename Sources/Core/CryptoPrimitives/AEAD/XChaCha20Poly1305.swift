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
