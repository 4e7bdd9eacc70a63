package import CryptoPrimitives
internal import Glibc
internal import Synchronization

/// A group's sealing key of one epoch: 32 secret bytes, shared by reference, never copied out.
package final class SealingKey: Sendable {
    /// The size of the secret in bytes.
    package static let size = 32

    /// The public name of the key.
    package let id: KeyID
    /// The epoch of the key in the vault, from 1.
    package let epoch: UInt32
    /// The suite of every blob under this key. A header with another suite is refused.
    package let suite: BlobSuite
    private let secret: SecretBytes

    /// Takes ownership of the secret.
    ///
    /// - Throws: `SealingError` `.invalidArgument` if it does not have 32 bytes or the epoch is 0.
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

    /// Creates a random key for an epoch.
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

/// A source of keys by id. Keys are never found by trial.
package protocol SealingKeySource: Sendable {
    /// Returns the key with that id, or `nil` if it is not available (unknown or destroyed).
    func sealingKey(for id: KeyID) -> SealingKey?

    /// The minimum epoch. Contents under keys of earlier epochs are refused as `retiredEpoch`.
    var minimumEpoch: UInt32 { get }

    /// Returns the minimum epoch that applies to a key, for sources that retire classes of keys separately.
    func minimumEpoch(for key: SealingKey) -> UInt32
}

extension SealingKeySource {
    /// Returns the minimum epoch of all keys.
    @inline(__always)
    package func minimumEpoch(for key: SealingKey) -> UInt32 { minimumEpoch }
}

extension SealingKey: SealingKeySource {
    /// Returns the key itself if the id matches.
    package func sealingKey(for id: KeyID) -> SealingKey? { id == self.id ? self : nil }

    /// The minimum epoch 0, because a single key is always valid.
    package var minimumEpoch: UInt32 { 0 }
}

extension KeyID {
    /// Creates the id of a key: BLAKE2b-128 of the empty input, keyed by it.
    package init(of key: UnsafeRawBufferPointer) {
        self.init(
            bytes: Bytes16(filling: { output in
                BLAKE2b.hash(
                    UnsafeRawBufferPointer(start: nil, count: 0), key: key, personalization: .keyID, into: output)
            }))
    }
}

/// The derivation of a blob's key, commitment and salt from the group key (`docs/spec/format.md`, section 4).
enum KeyDerivation {
    /// The size of single-use key and commitment.
    static let derivedSize = 64

    /// Writes the blob's single-use key (32 bytes) and its commitment (32 bytes) into `output`.
    ///
    /// `header` contains all bytes before the commitment, so a changed field gives another key and another commitment.
    @inline(__always)
    static func derive(header: UnsafeRawBufferPointer, key: SealingKey, into output: UnsafeMutableRawBufferPointer) {
        precondition(header.count == BlobLayout.commitmentOffset && output.count == derivedSize)
        key.withUnsafeBytes { BLAKE2b.hash(header, key: $0, personalization: .subkey, into: output) }
    }

    /// Returns a salt that no fork, snapshot or clone of this process repeats.
    ///
    /// Random bytes alone would repeat in a restored virtual machine, the counter alone in a forked child, and the
    /// clock alone within its resolution. The hash includes the header, so equal salts require equal contexts as well.
    @inline(__always)
    static func freshSalt(header: UnsafeRawBufferPointer, key: SealingKey) -> Salt {
        precondition(header.count == BlobLayout.saltOffset)
        return ScratchMemory.withSecret(count: 48 + BlobLayout.saltOffset) { input in
            SecureRandom.fill(UnsafeMutableRawBufferPointer(rebasing: input[0..<32]))
            let count = counter.add(1, ordering: .relaxed).newValue
            input.storeBytes(of: count.littleEndian, toByteOffset: 32, as: UInt64.self)
            input.storeBytes(of: nanoseconds().littleEndian, toByteOffset: 40, as: UInt64.self)
            UnsafeMutableRawBufferPointer(rebasing: input[48...]).copyMemory(from: header)
            return Salt(
                bytes: Bytes32(filling: { output in
                    key.withUnsafeBytes {
                        BLAKE2b.hash(UnsafeRawBufferPointer(input), key: $0, personalization: .salt, into: output)
                    }
                }))
        }
    }

    private static let counter = Atomic<UInt64>(0)

    private static func nanoseconds() -> UInt64 {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return UInt64(bitPattern: Int64(now.tv_sec)) &* 1_000_000_000 &+ UInt64(bitPattern: Int64(now.tv_nsec))
    }
}

/// The uses of BLAKE2b in the blob format. The strings are those of `docs/spec/format.md`, sections 4, 6 and 7.
extension Personalization {
    static let groupTag = Personalization("SealedState.grp1")
    static let nameTag = Personalization("SealedState.nam1")
    static let keyID = Personalization("SealedState.kid1")
    static let salt = Personalization("SealedState.slt1")
    static let subkey = Personalization("SealedState.sub1")
    static let streamChunk = Personalization("SealedState.sch1")
    static let streamDigest = Personalization("SealedState.sdg1")
    static let writerID = Personalization("SealedState.wid1")
    static let recordContents = Personalization("SealedState.rct1")
    static let recordSignature = Personalization("SealedState.rsg1")
}
