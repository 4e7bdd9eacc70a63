/// The fixed header of a sealed blob, format 1: values in memory, 176 bytes on disk.
///
/// It does no input, output or cryptography. Whatever parses serialises to the same bytes, and nothing else parses:
/// unknown numbers, set reserved bytes and contradicting fields are refused (`docs/format.md`, section 3).
package struct BlobHeader: Hashable, Sendable {
    package var suite = BlobSuite.xchacha20poly1305Blake2b
    package var kind: BlobKind
    package var flags: BlobFlags
    /// The record's schema version; 0 for streams and vaults.
    package var schemaVersion: UInt32
    /// The epoch of the key, from 1.
    package var epoch: UInt32
    package var groupTag: GroupTag
    package var nameTag: NameTag
    package var keyID: KeyID
    /// +1 for each write, from 1; 0 for streams.
    package var sequence: UInt64
    /// Milliseconds since 1970.
    package var sealedAt: UInt64
    /// Milliseconds since 1970; 0 means no end.
    package var notAfter: UInt64
    package var writer: WriterID
    package var codec: PayloadCodec
    package var salt: Salt
    package var commitment: Commitment

    /// Writes the 176 bytes.
    package func encode(into buffer: UnsafeMutableRawBufferPointer) {
        precondition(buffer.count == BlobLayout.headerSize)
        buffer.copyMemory(from: UnsafeRawBufferPointer(start: BlobLayout.magic.utf8Start, count: 4))
        buffer[4] = BlobLayout.format
        buffer[5] = suite.rawValue
        buffer[6] = kind.rawValue
        buffer[7] = flags.rawValue
        buffer.store(schemaVersion, at: 8)
        buffer.store(epoch, at: 12)
        buffer.store(groupTag.bytes, at: 16)
        buffer.store(nameTag.bytes, at: 32)
        buffer.store(keyID.bytes, at: 48)
        buffer.store(sequence, at: 64)
        buffer.store(sealedAt, at: 72)
        buffer.store(notAfter, at: 80)
        buffer.store(writer.bytes, at: 88)
        buffer.store(UInt64(codec.rawValue), at: 104)
        buffer.store(salt.bytes, at: 112)
        buffer.store(commitment.bytes, at: 144)
    }

    /// The 176 bytes.
    package var encoded: [UInt8] {
        [UInt8](unsafeUninitializedCapacity: BlobLayout.headerSize) { buffer, count in
            encode(into: UnsafeMutableRawBufferPointer(buffer))
            count = BlobLayout.headerSize
        }
    }
}

extension UnsafeMutableRawBufferPointer {
    /// Stores an integer in little-endian order.
    @inline(__always)
    fileprivate func store<Value: FixedWidthInteger>(_ value: Value, at offset: Int) {
        storeBytes(of: value.littleEndian, toByteOffset: offset, as: Value.self)
    }

    @inline(__always)
    fileprivate func store(_ value: Bytes16, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: Bytes16.self)
    }

    @inline(__always)
    fileprivate func store(_ value: Bytes32, at offset: Int) {
        storeBytes(of: value, toByteOffset: offset, as: Bytes32.self)
    }
}
