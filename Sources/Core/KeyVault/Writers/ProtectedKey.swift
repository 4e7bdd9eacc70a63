internal import CryptoPrimitives
internal import Sealing

/// A secret key under a passphrase (docs/spec/writers.md, section "Protected keys").
///
/// Argon2id, then one keyed hash gives the key of the box and a commitment. A form opens under only one passphrase, and
/// the error does not distinguish another passphrase from a changed form.
struct ProtectedKey: Sendable {
    /// Version 1, reserved 3, passes 4, memory 4, salt 16, public key 32, commitment 32, box 48.
    static let size = 140
    private static let headSize = 60
    private static let boxOffset = 92
    private static let version: UInt8 = 1
    /// The minimum cost of a protected form: 2 passes over 19 MiB.
    static let leastPasses: UInt32 = 2, leastMemoryKiB: UInt32 = 19 * 1024

    private let bytes: [UInt8]
    private let costs: Argon2id.Parameters

    /// Parses a protected form; derives no key yet.
    ///
    /// - Throws: `CryptoError` `.malformedEncoding`, `.parameterOutOfRange` for costs out of bounds.
    init(_ bytes: [UInt8]) throws(CryptoError) {
        guard bytes.count == Self.size, bytes[0] == Self.version, bytes[1..<4].allSatisfy({ $0 == 0 }) else {
            throw CryptoError(.malformedEncoding, "protected key")
        }
        func number(at offset: Int) -> UInt32 {
            bytes[offset..<offset + 4].reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        costs = Argon2id.Parameters(passes: number(at: 4), memoryKiB: number(at: 8))
        try Self.check(costs)
        self.bytes = bytes
    }

    /// Protects a secret key.
    ///
    /// - Throws: `CryptoError` `.parameterOutOfRange` for costs below the minimum, `.outOfMemory`.
    init(
        _ secret: borrowing SecretBytes, publicKey: [UInt8], kind: KeyTextKind, passphrase: Passphrase,
        costs: PassphraseCosts
    ) throws(CryptoError) {
        try Self.check(costs.parameters)
        var head: [UInt8] = [Self.version, 0, 0, 0]
        head.appendInteger(costs.parameters.passes)
        head.appendInteger(costs.parameters.memoryKiB)
        head += SecureRandom.bytes(count: Argon2id.saltSize)
        head += publicKey
        self.costs = costs.parameters
        let derived = try Self.derive(head, kind, passphrase, costs.parameters)
        let box = Self.seal(secret, head, derived)
        let commitment = derived.withUnsafeBytes { Array($0[32..<64]) }
        bytes = head + commitment + box
    }

    /// Returns the secret key.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed` for another passphrase or a changed form; `.outOfMemory`.
    func secret(kind: KeyTextKind, passphrase: Passphrase) throws(CryptoError) -> SecretBytes {
        let head = Array(bytes[0..<Self.headSize])
        let derived = try Self.derive(head, kind, passphrase, costs)
        let fits = derived.withUnsafeBytes { derived in
            bytes.withRawBytes { bytes in
                ConstantTime.areEqual(
                    UnsafeRawBufferPointer(rebasing: derived[32..<64]),
                    UnsafeRawBufferPointer(rebasing: bytes[Self.headSize..<Self.boxOffset]))
            }
        }
        guard fits else { throw CryptoError(.authenticationFailed, "protected key") }
        return try derived.withUnsafeBytes { derived throws(CryptoError) in
            try SecretBytes(count: KeyTextKind.secretSize) { output throws(CryptoError) in
                try bytes.withRawBytes { bytes throws(CryptoError) in
                    try Self.nonce.withRawBytes { nonce throws(CryptoError) in
                        try XChaCha20Poly1305.open(
                            UnsafeRawBufferPointer(rebasing: bytes[Self.boxOffset...]),
                            associated: UnsafeRawBufferPointer(rebasing: bytes[0..<Self.headSize]), nonce: nonce,
                            key: UnsafeRawBufferPointer(rebasing: derived[0..<32]), into: output)
                    }
                }
            }
        }
    }

    /// The public key that the form states; it must match the secret.
    var publicKey: [UInt8] { Array(bytes[28..<Self.headSize]) }

    /// Writes the text, `KeyTextKind.protectedSize` characters.
    func encode(_ kind: KeyTextKind, into text: UnsafeMutableRawBufferPointer) {
        bytes.withUnsafeBytes { kind.protected.encode($0, into: text) }
    }

    // Zero is safe, because the key of the box is used once: equal keys need equal salts, passphrases and public keys,
    // and so equal secrets.
    private static let nonce = [UInt8](repeating: 0, count: XChaCha20Poly1305.nonceSize)

    private static func check(_ costs: Argon2id.Parameters) throws(CryptoError) {
        try costs.validate()
        guard costs.passes >= leastPasses, costs.memoryKiB >= leastMemoryKiB else {
            throw CryptoError(.parameterOutOfRange, "protected key")
        }
    }

    /// Derives the key of the box (32 bytes), then the commitment (32 bytes).
    private static func derive(
        _ head: [UInt8], _ kind: KeyTextKind, _ passphrase: Passphrase, _ costs: Argon2id.Parameters
    ) throws(CryptoError) -> SecretBytes {
        let salt = Array(head[12..<28])
        let stretched = try salt.withRawBytes { salt throws(CryptoError) in
            try Argon2id.deriveKey(passphrase: passphrase.bytes, salt: salt, parameters: costs, count: 32)
        }
        // The hash covers the prefix, so that forms of different kinds never match.
        let prefix = UnsafeBufferPointer(
            start: kind.protected.prefix.utf8Start, count: kind.protected.prefix.utf8CodeUnitCount)
        let input = Array(prefix) + [0] + head
        return SecretBytes(count: 64) { output in
            stretched.withUnsafeBytes { key in
                input.withRawBytes { BLAKE2b.hash($0, key: key, personalization: .protectedKey, into: output) }
            }
        }
    }

    private static func seal(
        _ secret: borrowing SecretBytes, _ head: [UInt8], _ derived: borrowing SecretBytes
    ) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: size - boxOffset) { output, count in
            secret.withUnsafeBytes { secret in
                derived.withUnsafeBytes { derived in
                    head.withRawBytes { head in
                        nonce.withRawBytes { nonce in
                            XChaCha20Poly1305.seal(
                                secret, associated: head, nonce: nonce,
                                key: UnsafeRawBufferPointer(rebasing: derived[0..<32]),
                                into: UnsafeMutableRawBufferPointer(
                                    rebasing: UnsafeMutableRawBufferPointer(output)[0..<48]))
                        }
                    }
                }
            }
            count = size - boxOffset
        }
    }
}

extension VaultError {
    /// Returns the error for a protected form that does not open.
    init(opening error: CryptoError, _ kind: KeyTextKind, _ subject: String) {
        switch error.code {
        case .authenticationFailed:
            self.init(
                .wrongPassphrase, "open", subject, "The passphrase does not open it.",
                advice: "Try again; nothing was changed.")
        case .outOfMemory:
            self.init(.outOfMemory, "open", subject, "Memory for the password hash is not available.")
        default: self = kind.malformed("Its costs are outside the bounds.", subject)
        }
    }
}
