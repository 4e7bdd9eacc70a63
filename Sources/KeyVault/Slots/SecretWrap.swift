internal import CryptoPrimitives

/// Wraps one secret under another: a random nonce, then XChaCha20-Poly1305 with everything around it as associated data.
enum SecretWrap {
    static let overhead = XChaCha20Poly1305.nonceSize + XChaCha20Poly1305.tagSize

    static func wrap(_ secret: borrowing SecretBytes, under key: borrowing SecretBytes, bound: [UInt8]) -> [UInt8] {
        let nonce = SecureRandom.bytes(count: XChaCha20Poly1305.nonceSize)
        let sealed = [UInt8](unsafeUninitializedCapacity: secret.count + XChaCha20Poly1305.tagSize) { output, count in
            count = secret.count + XChaCha20Poly1305.tagSize
            let output = UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(output)[0..<count])
            secret.withUnsafeBytes { secret in
                key.withUnsafeBytes { key in
                    nonce.withRawBytes { nonce in
                        bound.withRawBytes {
                            XChaCha20Poly1305.seal(secret, associated: $0, nonce: nonce, key: key, into: output)
                        }
                    }
                }
            }
        }
        return nonce + sealed
    }

    /// - Throws: `CryptoError` `.authenticationFailed` when the key or anything bound does not fit.
    static func unwrap(
        _ wrapped: ArraySlice<UInt8>, under key: borrowing SecretBytes, bound: [UInt8]
    ) throws(CryptoError) -> SecretBytes {
        guard wrapped.count >= overhead else { throw CryptoError(.authenticationFailed, "unwrap") }
        let nonce = Array(wrapped.prefix(XChaCha20Poly1305.nonceSize))
        let sealed = Array(wrapped.dropFirst(XChaCha20Poly1305.nonceSize))
        return try key.withUnsafeBytes { key throws(CryptoError) in
            try SecretBytes(count: wrapped.count - overhead) { output throws(CryptoError) in
                try nonce.withRawBytes { nonce throws(CryptoError) in
                    try bound.withRawBytes { bound throws(CryptoError) in
                        try sealed.withRawBytes { sealed throws(CryptoError) in
                            try XChaCha20Poly1305.open(sealed, associated: bound, nonce: nonce, key: key, into: output)
                        }
                    }
                }
            }
        }
    }
}
