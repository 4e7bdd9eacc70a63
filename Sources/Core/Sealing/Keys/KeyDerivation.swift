internal import CryptoPrimitives
internal import Glibc
internal import Synchronization

/// How one blob's key, commitment and salt come from the group key (`docs/format.md`, section 4).
enum KeyDerivation {
    /// Single-use key, then commitment.
    static let derivedSize = 64

    /// Writes the blob's single-use key (32 bytes) and its commitment (32 bytes) into `output`.
    ///
    /// `header` is everything before the commitment: a changed field gives another key and another commitment.
    @inline(__always)
    static func derive(header: UnsafeRawBufferPointer, key: SealingKey, into output: UnsafeMutableRawBufferPointer) {
        precondition(header.count == BlobLayout.commitmentOffset && output.count == derivedSize)
        key.withUnsafeBytes { BLAKE2b.hash(header, key: $0, personalization: .subkey, into: output) }
    }

    /// A salt that no fork, snapshot or clone of this process makes twice.
    ///
    /// Random bytes alone would repeat in a restored virtual machine; the counter alone in a forked child; the clock
    /// alone within its resolution. The hash also takes in the header, so equal salts need equal contexts as well.
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
