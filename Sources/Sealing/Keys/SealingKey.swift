package import CryptoPrimitives

/// A group's sealing key of one epoch: 32 secret bytes, shared by reference, never copied out.
package final class SealingKey: Sendable {
    /// The size of the secret in bytes.
    package static let size = 32

    /// The public name of the key.
    package let id: KeyID
    /// The epoch that the vault has for it, from 1.
    package let epoch: UInt32
    private let secret: SecretBytes

    /// Takes over the secret.
    ///
    /// - Throws: `SealingError` `.invalidArgument` when it does not have 32 bytes or the epoch is 0.
    package init(secret: consuming SecretBytes, epoch: UInt32) throws(SealingError) {
        guard secret.count == Self.size, epoch > 0 else {
            throw SealingError(.invalidArgument, "make key", "A sealing key has 32 bytes and an epoch from 1.")
        }
        id = secret.withUnsafeBytes { key in
            KeyID(
                bytes: Bytes16(filling: { output in
                    BLAKE2b.hash(
                        UnsafeRawBufferPointer(start: nil, count: 0), key: key, personalization: .keyID, into: output)
                }))
        }
        self.epoch = epoch
        self.secret = secret
    }

    /// A fresh key for an epoch.
    package static func random(epoch: UInt32) throws(SealingError) -> SealingKey {
        try SealingKey(secret: SecretBytes.random(count: size), epoch: epoch)
    }

    /// Lends the secret to code of this package that wraps or derives from it.
    @inline(__always)
    package func withUnsafeBytes<Result: ~Copyable, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try secret.withUnsafeBytes(body)
    }
}

/// Finds keys by id; a key is never found by trial.
package protocol SealingKeySource: Sendable {
    /// The key with that id, or nil when it is not held (unknown or destroyed).
    func sealingKey(for id: KeyID) -> SealingKey?
}

extension SealingKey: SealingKeySource {
    /// Itself, when the id fits.
    package func sealingKey(for id: KeyID) -> SealingKey? { id == self.id ? self : nil }
}
