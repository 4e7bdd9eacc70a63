internal import CSodium

/// Ed25519 signatures (RFC 8032).
package enum Ed25519 {
    /// The size of a seed in bytes.
    package static let seedSize = 32
    /// The size of a signature in bytes.
    package static let signatureSize = 64

    /// A public key of 32 bytes.
    package struct PublicKey: Hashable, Sendable {
        /// The key's encoding.
        package let bytes: [UInt8]

        /// Creates a key from an encoding of exactly 32 bytes.
        ///
        /// - Throws: `CryptoError` `.parameterOutOfRange` for another size.
        package init(bytes: [UInt8]) throws(CryptoError) {
            guard bytes.count == 32 else { throw CryptoError(.parameterOutOfRange, "Ed25519 public key") }
            self.bytes = bytes
        }

        /// Creates a key from an encoding that a key pair can have: canonical, of the prime-order group, not its
        /// identity.
        ///
        /// - Throws: `CryptoError` `.parameterOutOfRange` for another size, `.lowOrderPoint` for any other encoding.
        package init(validating bytes: [UInt8]) throws(CryptoError) {
            try self.init(bytes: bytes)
            Sodium.start()
            guard csodium_ed25519_is_valid(bytes) == 1 else { throw CryptoError(.lowOrderPoint, "Ed25519 public key") }
        }

        /// Verifies a signature of `message`. Non-canonical encodings and points of small order are refused.
        ///
        /// - Throws: `CryptoError` `.authenticationFailed` for any failure, including a wrong size.
        package func verify(_ signature: [UInt8], of message: [UInt8]) throws(CryptoError) {
            Sodium.start()
            guard signature.count == signatureSize,
                csodium_ed25519_verify(signature, message, message.count, bytes) == 0
            else { throw CryptoError(.authenticationFailed, "Ed25519") }
        }
    }

    /// A signing key: its secret half never leaves guarded memory.
    package struct SigningKey: ~Copyable, Sendable {
        private let secret: SecretBytes
        /// The public half.
        package let publicKey: PublicKey

        /// Derives the pair from a seed of exactly 32 bytes.
        ///
        /// - Throws: `CryptoError` `.parameterOutOfRange` for another size.
        package init(seed: borrowing SecretBytes) throws(CryptoError) {
            guard seed.count == seedSize else { throw CryptoError(.parameterOutOfRange, "Ed25519 seed") }
            Sodium.start()
            var publicBytes = [UInt8](repeating: 0, count: 32)
            let pair = seed.withUnsafeBytes { seed in
                SecretBytes(count: 64) { secret in
                    _ = csodium_ed25519_keypair(&publicBytes, secret.bytePointer, seed.bytePointer)
                }
            }
            publicKey = try PublicKey(bytes: publicBytes)
            secret = pair
        }

        /// Returns the signature of `message`: 64 bytes, the same for the same message.
        package borrowing func sign(_ message: [UInt8]) -> [UInt8] {
            var signature = [UInt8](repeating: 0, count: signatureSize)
            secret.withUnsafeBytes { secret in
                _ = csodium_ed25519_sign(&signature, message, message.count, secret.bytePointer)
            }
            return signature
        }
    }
}

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
