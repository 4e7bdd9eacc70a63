package import CryptoPrimitives

/// A group's sealing key of one epoch: 32 secret bytes, shared by reference, never copied out.
package final class SealingKey: Sendable {
    /// The size of the secret in bytes.
    package static let size = 32

    /// The public name of the key.
    package let id: KeyID
    /// The epoch that the vault has for it, from 1.
    package let epoch: UInt32
    /// The suite of every blob under this key; a header that names another one is refused.
    package let suite: BlobSuite
    private let secret: SecretBytes

    /// Takes over the secret.
    ///
    /// - Throws: `SealingError` `.invalidArgument` when it does not have 32 bytes or the epoch is 0.
    package init(
        secret: consuming SecretBytes, epoch: UInt32, suite: BlobSuite = .xchacha20poly1305Blake2b
    ) throws(SealingError) {
        guard secret.count == Self.size, epoch > 0 else {
            throw SealingError(.invalidArgument, "make key", "A sealing key has 32 bytes and an epoch from 1.")
        }
        id = secret.withUnsafeBytes { KeyID(of: $0) }
        self.epoch = epoch
        self.suite = suite
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

    /// The minimum epoch: contents under keys of earlier epochs are refused as `retiredEpoch`.
    var minimumEpoch: UInt32 { get }

    /// The minimum epoch that applies to a key, for sources in which classes of keys are retired separately.
    func minimumEpoch(for key: SealingKey) -> UInt32
}

extension SealingKeySource {
    /// The minimum epoch of all keys.
    @inline(__always)
    package func minimumEpoch(for key: SealingKey) -> UInt32 { minimumEpoch }
}

extension SealingKey: SealingKeySource {
    /// Itself, when the id fits.
    package func sealingKey(for id: KeyID) -> SealingKey? { id == self.id ? self : nil }

    /// A single key is in force.
    package var minimumEpoch: UInt32 { 0 }
}

extension KeyID {
    /// The id of a key: BLAKE2b-128 keyed by it, of the empty input.
    package init(of key: UnsafeRawBufferPointer) {
        self.init(
            bytes: Bytes16(filling: { output in
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(start: nil, count: 0), key: key, personalization: .keyID, into: output)
            }))
    }
}
