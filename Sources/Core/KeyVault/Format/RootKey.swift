internal import CryptoPrimitives
internal import Glibc
internal import Sealing
internal import Synchronization

/// Personalisation strings of keys that are derived from a compartment's root (`docs/spec/vault.md`, section 3).
extension Personalization {
    static let rootCommitment = Personalization("SealedState.vct2")
    static let headerKey = Personalization("SealedState.vhk2")
    static let headerCode = Personalization("SealedState.vhc2")
    static let partKey = Personalization("SealedState.vpk2")
    static let secretsKey = Personalization("SealedState.vsw2")
    static let sealingKeysKey = Personalization("SealedState.vkw2")
    static let itemKeysKey = Personalization("SealedState.viw2")
    static let tokenKeysKey = Personalization("SealedState.vtw2")
    static let ticketKey = Personalization("SealedState.ult2")
    static let watermarkCommitment = Personalization("SealedState.vwc2")
    static let nameTagsKey = Personalization("SealedState.vnk2")
    static let wrappingNonce = Personalization("SealedState.vno2")
    static let channelKey = Personalization("SealedState.chk1")
}

/// The root of a compartment: 32 random bytes from which every other key of the compartment is derived.
///
/// A class, so that its users share one copy in guarded memory.
final class RootKey: Sendable {
    static let size = 32

    private let secret: SecretBytes
    /// A public value that only this root has.
    let commitment: Bytes32

    /// - Parameter secret: 32 bytes.
    init(_ secret: consuming SecretBytes) {
        precondition(secret.count == Self.size, "a root has 32 bytes")
        commitment = secret.withUnsafeBytes { Self.commitment(of: $0) }
        self.secret = secret
    }

    convenience init(copying bytes: UnsafeRawBufferPointer) { self.init(SecretBytes(copying: bytes)) }

    /// Creates a random root.
    static func random() -> RootKey { RootKey(SecretBytes.random(count: size)) }

    static func commitment(of root: UnsafeRawBufferPointer) -> Bytes32 {
        Bytes32(filling: { BLAKE2b.hash(.none, key: root, personalization: .rootCommitment, into: $0) })
    }

    /// Lends the bytes, for wrapping them in a slot, in the person compartment or in a ticket.
    func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result { try secret.withUnsafeBytes(body) }

    /// Lends a key that is derived from the root, and wipes it afterwards.
    func withKey<Result: ~Copyable, Failure: Error>(
        _ use: Personalization, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withUnsafeBytes { root throws(Failure) in
            try ScratchMemory.withSecret(count: Self.size) { key throws(Failure) in
                BLAKE2b.hash(.none, key: root, personalization: use, into: key)
                return try body(UnsafeRawBufferPointer(key))
            }
        }
    }

    /// Returns the code of a file's head, over everything before the code.
    func headerCode(of head: UnsafeRawBufferPointer) -> Bytes32 {
        withKey(.headerKey) { key in
            Bytes32(filling: { BLAKE2b.hash(head, key: key, personalization: .headerCode, into: $0) })
        }
    }

    /// Returns the key that seals the parts of a compartment during a period.
    func partKey(_ role: CompartmentRole, period: UInt32) -> SealingKey? {
        var input = ByteWriter()
        input.append(role.rawValue)
        input.append(period)
        let derived = secret.withUnsafeBytes { root in
            SecretBytes(count: SealingKey.size) { key in
                input.bytes.withRawBytes { BLAKE2b.hash($0, key: root, personalization: .partKey, into: key) }
            }
        }
        return try? SealingKey(secret: derived, epoch: period)
    }

    /// Wraps a secret under a key that is derived from the root.
    func wrap(_ secret: UnsafeRawBufferPointer, for use: Personalization, bound: [UInt8]) -> [UInt8] {
        withKey(use) { SecretWrap.wrap(secret, under: $0, bound: bound) }
    }

    /// Unwraps a secret into `output`, which has the secret's size.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed`.
    func unwrap(
        _ wrapped: ArraySlice<UInt8>, for use: Personalization, bound: [UInt8],
        into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        try withKey(use) { key throws(CryptoError) in
            try SecretWrap.unwrap(wrapped, under: key, bound: bound, into: output)
        }
    }
}

extension UnsafeRawBufferPointer {
    /// The empty input of hashes that depend only on their key.
    static var none: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }
}

/// Wraps one secret under another: a nonce, then XChaCha20-Poly1305 with the context as associated data.
enum SecretWrap {
    static let overhead = XChaCha20Poly1305.nonceSize + XChaCha20Poly1305.tagSize

    /// - Parameters:
    /// - key: 32 bytes; a long-lived key.
    ///   - bound: Associated data.
    static func wrap(_ secret: UnsafeRawBufferPointer, under key: UnsafeRawBufferPointer, bound: [UInt8]) -> [UInt8] {
        let size = overhead + secret.count
        return [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
            let output = UnsafeMutableRawBufferPointer(UnsafeMutableBufferPointer(rebasing: buffer[..<size]))
            let nonce = UnsafeMutableRawBufferPointer(rebasing: output[..<XChaCha20Poly1305.nonceSize])
            fillNonce(nonce, secret, key, bound)
            bound.withRawBytes {
                XChaCha20Poly1305.seal(
                    secret, associated: $0, nonce: UnsafeRawBufferPointer(nonce), key: key,
                    into: UnsafeMutableRawBufferPointer(rebasing: output[XChaCha20Poly1305.nonceSize...]))
            }
            count = size
        }
    }

    /// - Throws: `CryptoError` `.authenticationFailed` if the key or the associated data does not match; `output` then
    ///   contains no plaintext.
    static func unwrap(
        _ wrapped: ArraySlice<UInt8>, under key: UnsafeRawBufferPointer, bound: [UInt8],
        into output: UnsafeMutableRawBufferPointer
    ) throws(CryptoError) {
        guard wrapped.count == overhead + output.count else {
            throw CryptoError(.authenticationFailed, "unwrap")
        }
        try wrapped.span.withUnsafeBytes { wrapped throws(CryptoError) in
            try bound.withRawBytes { bound throws(CryptoError) in
                try XChaCha20Poly1305.open(
                    UnsafeRawBufferPointer(rebasing: wrapped[XChaCha20Poly1305.nonceSize...]), associated: bound,
                    nonce: UnsafeRawBufferPointer(rebasing: wrapped[..<XChaCha20Poly1305.nonceSize]), key: key,
                    into: output)
            }
        }
    }

    /// Derives the nonce from fresh input, the secret, the key and the associated data, because a long-lived key uses
    /// many nonces. Even after a fork, a restored machine image or a failed random source, a nonce repeats only for the
    /// same secret in the same place.
    private static func fillNonce(
        _ nonce: UnsafeMutableRawBufferPointer, _ secret: UnsafeRawBufferPointer, _ key: UnsafeRawBufferPointer,
        _ bound: [UInt8]
    ) {
        ScratchMemory.withSecret(count: FreshInput.size + 4 + bound.count + secret.count) { input in
            FreshInput.fill(UnsafeMutableRawBufferPointer(rebasing: input[..<FreshInput.size]))
            input.storeBytes(of: UInt32(bound.count).littleEndian, toByteOffset: FreshInput.size, as: UInt32.self)
            let start = FreshInput.size + 4
            UnsafeMutableRawBufferPointer(rebasing: input[start..<start + bound.count]).copyBytes(from: bound)
            UnsafeMutableRawBufferPointer(rebasing: input[(start + bound.count)...]).copyMemory(from: secret)
            BLAKE2b.hash(UnsafeRawBufferPointer(input), key: key, personalization: .wrappingNonce, into: nonce)
        }
    }
}

/// Wrapped secrets of 32 bytes, in any number.
enum WrappedSecrets {
    static let size = 32

    /// Unwraps secrets into one guarded allocation.
    ///
    /// - Parameters:
    ///   - passingDamage: Whether entries that `unwrap` refuses are left out.
    ///   - unwrap: Writes the secret of an entry.
    /// - body: Takes ownership of an entry's secret.
    /// - Throws: `VaultError` `.outOfMemory`, and what the closures throw.
    static func open<Entry>(
        _ entries: [Entry], passingDamage: Bool,
        unwrap: (Entry, UnsafeMutableRawBufferPointer) throws(VaultError) -> Void,
        _ body: (Entry, consuming SecretBytes) throws(VaultError) -> Void
    ) throws(VaultError) {
        var opened: [Int] = []
        let region = SecretRegion(
            try SecretBytes(count: entries.count * size) { memory throws(VaultError) in
                for (index, entry) in entries.enumerated() {
                    let start = index * size
                    do throws(VaultError) {
                        try unwrap(entry, UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + size]))
                        opened.append(index)
                    } catch {
                        guard passingDamage else { throw error }
                    }
                }
            })
        for index in opened { try body(entries[index], region.secret(at: index * size, count: size)) }
    }
}

/// Input that does not repeat after a fork, a clone or a restored image of this process: random bytes, a counter and a
/// clock.
enum FreshInput {
    static let size = 48
    private static let counter = Atomic<UInt64>(0)

    static func fill(_ buffer: UnsafeMutableRawBufferPointer) {
        SecureRandom.fill(UnsafeMutableRawBufferPointer(rebasing: buffer[0..<32]))
        let count = counter.add(1, ordering: .relaxed).newValue
        buffer.storeBytes(of: count.littleEndian, toByteOffset: 32, as: UInt64.self)
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        let clock = UInt64(bitPattern: Int64(now.tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(now.tv_nsec))
        buffer.storeBytes(of: clock.littleEndian, toByteOffset: 40, as: UInt64.self)
    }
}

extension SecretBytes {
    /// Returns a key derived from this one: 32 bytes of BLAKE2b with a personalisation of its own.
    borrowing func derived(_ use: Personalization) -> SecretBytes {
        withUnsafeBytes { key in
            SecretBytes(count: 32) { BLAKE2b.hash(.none, key: key, personalization: use, into: $0) }
        }
    }

    /// Returns a copy in a guarded allocation of its own.
    borrowing func copied() -> SecretBytes { withUnsafeBytes { SecretBytes(copying: $0) } }
}
