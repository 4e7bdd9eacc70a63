internal import CSodium

/// X25519 key agreement (RFC 7748).
package enum X25519 {
    /// The size of every key and of the shared secret, in bytes.
    package static let keySize = 32

    /// A public key of 32 bytes.
    package struct PublicKey: Hashable, Sendable {
        /// The point's encoding.
        package let bytes: [UInt8]

        /// Creates a key from an encoding of exactly 32 bytes.
        ///
        /// - Throws: `CryptoError` `.parameterOutOfRange` for another size.
        package init(bytes: [UInt8]) throws(CryptoError) {
            guard bytes.count == keySize else { throw CryptoError(.parameterOutOfRange, "X25519 public key") }
            self.bytes = bytes
        }
    }

    /// A private key in guarded memory.
    package struct PrivateKey: ~Copyable, Sendable {
        private let secret: SecretBytes
        /// The public half.
        package let publicKey: PublicKey

        /// Creates a key from a secret scalar of exactly 32 bytes.
        ///
        /// - Throws: `CryptoError` `.parameterOutOfRange` for another size.
        package init(_ secret: consuming SecretBytes) throws(CryptoError) {
            guard secret.count == keySize else { throw CryptoError(.parameterOutOfRange, "X25519 private key") }
            Sodium.start()
            var publicBytes = [UInt8](repeating: 0, count: keySize)
            secret.withUnsafeBytes { secret in
                _ = csodium_x25519_public(&publicBytes, secret.bytePointer)
            }
            publicKey = try PublicKey(bytes: publicBytes)
            self.secret = secret
        }

        /// Creates a random key.
        package static func random() throws(CryptoError) -> PrivateKey {
            try PrivateKey(SecretBytes.random(count: keySize))
        }

        /// Returns the secret shared with the holder of `peer`. Hash it before use.
        ///
        /// - Throws: `CryptoError` `.lowOrderPoint` if the peer's key would make the secret predictable.
        package borrowing func sharedSecret(with peer: PublicKey) throws(CryptoError) -> SecretBytes {
            try secret.withUnsafeBytes { secret throws(CryptoError) in
                try SecretBytes(count: keySize) { shared throws(CryptoError) in
                    guard csodium_x25519_shared(shared.bytePointer, secret.bytePointer, peer.bytes) == 0 else {
                        throw CryptoError(.lowOrderPoint, "X25519")
                    }
                }
            }
        }
    }
}
