internal import CryptoPrimitives

/// The end of a handshake that a process is.
enum NoiseRole: UInt8, Sendable {
    /// Sends the first message: the process that connects.
    case initiator = 1
    /// The process that listens.
    case responder = 2
}

/// The handshake `Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b` of the Noise Protocol Framework, revision 34.
///
/// ```
/// -> psk, e
/// <- e, ee
/// ```
///
/// An end that reads a message has authenticated it: only a holder of the pre-shared key can have made it. A recorded
/// first message can be sent again; the sender then cannot compute the keys of the transport.
struct NoiseHandshake: ~Copyable {
    static let protocolName = "Noise_NNpsk0_25519_ChaChaPoly_BLAKE2b"
    /// The size of a handshake message without its payload: a public key and a tag.
    static let overhead = X25519.keySize + ChaCha20Poly1305.tagSize

    private let role: NoiseRole
    private let ephemeral: X25519.PrivateKey
    private var remote: X25519.PublicKey?
    private var symmetric: NoiseSymmetricState

    /// - Parameters:
    ///   - presharedKey: 32 bytes.
    ///   - prologue: Data that both ends must have in common; it is not sent.
    ///   - ephemeral: A key pair that is used once; random but in tests.
    init(
        _ role: NoiseRole, presharedKey: borrowing SecretBytes, prologue: [UInt8],
        ephemeral: consuming X25519.PrivateKey
    ) {
        self.role = role
        self.ephemeral = ephemeral
        symmetric = NoiseSymmetricState(Self.protocolName)
        symmetric.mixHash(prologue)
        // The token "psk" is the first of the first message for both ends.
        presharedKey.withUnsafeBytes { symmetric.mixKeyAndHash($0) }
    }

    /// The hash of everything that both ends have seen: 64 bytes that no other handshake has.
    var hash: [UInt8] { symmetric.hash }

    /// Returns this end's message: the first one of the initiator, the second one of the responder.
    ///
    /// - Throws: `CryptoError` `.lowOrderPoint` if the other end's key would make the secret predictable.
    mutating func write(_ payload: [UInt8] = []) throws(CryptoError) -> [UInt8] {
        let key = ephemeral.publicKey.bytes
        symmetric.mixHash(key)
        symmetric.mixKey(key)
        if role == .responder { try mixSharedSecret() }
        return key + (try symmetric.encryptAndHash(payload))
    }

    /// Reads the other end's message and returns its payload.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed` for a message of a process without the pre-shared key or with
    ///   another prologue, and for one that is too short; `.lowOrderPoint`.
    mutating func read(_ message: [UInt8]) throws(CryptoError) -> [UInt8] {
        guard message.count >= Self.overhead else { throw CryptoError(.authenticationFailed, "handshake") }
        let key = try X25519.PublicKey(bytes: Array(message.prefix(X25519.keySize)))
        remote = key
        symmetric.mixHash(key.bytes)
        symmetric.mixKey(key.bytes)
        if role == .initiator { try mixSharedSecret() }
        return try symmetric.decryptAndHash(Array(message.dropFirst(X25519.keySize)))
    }

    private mutating func mixSharedSecret() throws(CryptoError) {
        guard let remote else { throw CryptoError(.authenticationFailed, "handshake") }
        let secret = try ephemeral.sharedSecret(with: remote)
        secret.withUnsafeBytes { symmetric.mixKey($0) }
    }

    /// Ends the handshake after both messages.
    consuming func transport() -> NoiseTransport {
        symmetric.split(role)
    }
}

/// The keys of a connection after its handshake, one for each direction.
struct NoiseTransport: ~Copyable {
    var sending: NoiseCipher
    var receiving: NoiseCipher
}

/// A key and the number of messages that it has sealed or opened: the CipherState of Noise.
struct NoiseCipher: ~Copyable, Sendable {
    private let key: SecretBytes
    private var count: UInt64 = 0

    /// - Parameter key: 32 bytes.
    init(_ key: consuming SecretBytes) { self.key = key }

    /// Writes the sealed form, 16 bytes longer than the plaintext.
    ///
    /// - Throws: `CryptoError` `.parameterOutOfRange` after 2^64 - 1 messages.
    mutating func seal(
        _ plaintext: UnsafeRawBufferPointer, associated: [UInt8] = [], into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        try withNonce { (nonce, key) throws(CryptoError) in
            associated.withUnsafeBytes {
                ChaCha20Poly1305.seal(plaintext, associated: $0, nonce: nonce, key: key, into: output)
            }
        }
    }

    /// Writes the plaintext, 16 bytes shorter than the sealed form. A message that does not open is not counted.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed`, also for a message that was left out, repeated or exchanged.
    mutating func open(
        _ sealed: UnsafeRawBufferPointer, associated: [UInt8] = [], into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        try withNonce { (nonce, key) throws(CryptoError) in
            try associated.withRawBytes { associated throws(CryptoError) in
                try ChaCha20Poly1305.open(sealed, associated: associated, nonce: nonce, key: key, into: output)
            }
        }
    }

    /// The nonce: four bytes of zero, then the count, little-endian.
    private mutating func withNonce(
        _ body: (UnsafeRawBufferPointer, UnsafeRawBufferPointer) throws(CryptoError) -> Void
    ) throws(CryptoError) {
        guard count < .max else { throw CryptoError(.parameterOutOfRange, "messages of a connection") }
        let (low, high) = (UInt32(truncatingIfNeeded: count), UInt32(truncatingIfNeeded: count >> 32))
        let words = (UInt32(0), low.littleEndian, high.littleEndian)
        try withUnsafeBytes(of: words) { nonce throws(CryptoError) in
            try key.withUnsafeBytes { key throws(CryptoError) in try body(nonce, key) }
        }
        count += 1
    }
}

/// The SymmetricState of Noise: the chaining key, the hash of the handshake, and the present key.
private struct NoiseSymmetricState: ~Copyable {
    /// HASHLEN and BLOCKLEN of BLAKE2b.
    static let hashSize = 64
    static let blockSize = 128

    private(set) var hash: [UInt8]
    private var chainingKey: SecretBytes
    private var cipher: NoiseCipher?

    init(_ protocolName: String) {
        let name = Array(protocolName.utf8)
        precondition(name.count <= Self.hashSize, "a longer name is hashed")
        let start = name + [UInt8](repeating: 0, count: Self.hashSize - name.count)
        hash = start
        chainingKey = SecretBytes(count: Self.hashSize) { $0.copyBytes(from: start) }
    }

    mutating func mixHash(_ data: [UInt8]) { hash = BLAKE2b.hash(hash + data, count: Self.hashSize) }

    mutating func mixKey(_ input: [UInt8]) { input.withUnsafeBytes { mixKey($0) } }

    mutating func mixKey(_ input: UnsafeRawBufferPointer) {
        let output = NoiseKeyDerivation.outputs(2, of: chainingKey, input)
        chainingKey = output.part(0, Self.hashSize)
        cipher = NoiseCipher(output.part(1, ChaCha20Poly1305.keySize))
    }

    mutating func mixKeyAndHash(_ input: UnsafeRawBufferPointer) {
        let output = NoiseKeyDerivation.outputs(3, of: chainingKey, input)
        chainingKey = output.part(0, Self.hashSize)
        output.part(1, Self.hashSize).withUnsafeBytes { mixHash(Array($0)) }
        cipher = NoiseCipher(output.part(2, ChaCha20Poly1305.keySize))
    }

    mutating func encryptAndHash(_ plaintext: [UInt8]) throws(CryptoError) -> [UInt8] {
        var sealed = [UInt8](repeating: 0, count: plaintext.count + ChaCha20Poly1305.tagSize)
        try plaintext.withRawBytes { plaintext throws(CryptoError) in
            var span = sealed.mutableSpan
            try span.withUnsafeMutableBytes { output throws(CryptoError) in
                try cipher?.seal(plaintext, associated: hash, into: output)
            }
        }
        mixHash(sealed)
        return sealed
    }

    mutating func decryptAndHash(_ sealed: [UInt8]) throws(CryptoError) -> [UInt8] {
        var plaintext = [UInt8](repeating: 0, count: sealed.count - ChaCha20Poly1305.tagSize)
        try sealed.withRawBytes { sealed throws(CryptoError) in
            var span = plaintext.mutableSpan
            try span.withUnsafeMutableBytes { output throws(CryptoError) in
                try cipher?.open(sealed, associated: hash, into: output)
            }
        }
        mixHash(sealed)
        return plaintext
    }

    /// Returns the keys of the two directions; the initiator sends with the first.
    func split(_ role: NoiseRole) -> NoiseTransport {
        let empty = UnsafeRawBufferPointer(start: nil, count: 0)
        let output = NoiseKeyDerivation.outputs(2, of: chainingKey, empty)
        let isInitiator = role == .initiator
        return NoiseTransport(
            sending: NoiseCipher(output.part(isInitiator ? 0 : 1, ChaCha20Poly1305.keySize)),
            receiving: NoiseCipher(output.part(isInitiator ? 1 : 0, ChaCha20Poly1305.keySize)))
    }
}

/// The function HKDF of Noise (section 4.3) with HMAC (RFC 2104) over BLAKE2b.
private enum NoiseKeyDerivation {
    private static let hashSize = NoiseSymmetricState.hashSize
    private static let blockSize = NoiseSymmetricState.blockSize

    /// Returns 64 bytes for each output.
    static func outputs(
        _ count: Int, of chainingKey: borrowing SecretBytes, _ input: UnsafeRawBufferPointer
    ) -> SecretBytes {
        let temporary = SecretBytes(count: hashSize) { output in
            chainingKey.withUnsafeBytes { code([input], key: $0, into: output) }
        }
        return SecretBytes(count: count * hashSize) { output in
            temporary.withUnsafeBytes { key in
                for index in 0..<count {
                    let previous = output[max(0, index - 1) * hashSize..<index * hashSize]
                    withUnsafeBytes(of: UInt8(index + 1)) { number in
                        code(
                            [UnsafeRawBufferPointer(rebasing: previous), number], key: key,
                            into: UnsafeMutableRawBufferPointer(
                                rebasing: output[index * hashSize..<(index + 1) * hashSize]))
                    }
                }
            }
        }
    }

    /// Writes the HMAC of the parts, one after the other; the key has 64 bytes.
    private static func code(
        _ parts: [UnsafeRawBufferPointer], key: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer
    ) {
        let size = parts.reduce(0) { $0 + $1.count }
        ScratchMemory.withSecret(count: blockSize + hashSize) { outer in
            pad(key, 0x5C, into: outer)
            ScratchMemory.withSecret(count: blockSize + size) { inner in
                pad(key, 0x36, into: inner)
                var offset = blockSize
                for part in parts {
                    UnsafeMutableRawBufferPointer(rebasing: inner[offset..<offset + part.count]).copyMemory(from: part)
                    offset += part.count
                }
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(inner), personalization: nil,
                    into: UnsafeMutableRawBufferPointer(rebasing: outer[blockSize...]))
            }
            BLAKE2b.hash(UnsafeRawBufferPointer(outer), personalization: nil, into: output)
        }
    }

    private static func pad(
        _ key: UnsafeRawBufferPointer, _ byte: UInt8, into block: UnsafeMutableRawBufferPointer
    ) {
        for index in 0..<blockSize { block[index] = byte ^ (index < key.count ? key[index] : 0) }
    }
}

extension SecretBytes {
    /// Returns the first bytes of one of the outputs of 64 bytes.
    fileprivate borrowing func part(_ index: Int, _ count: Int) -> SecretBytes {
        withUnsafeBytes { SecretBytes(copying: UnsafeRawBufferPointer(rebasing: $0[index * 64..<index * 64 + count])) }
    }
}
