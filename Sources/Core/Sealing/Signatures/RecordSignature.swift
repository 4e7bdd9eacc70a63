package import CryptoPrimitives

/// The 16-byte prefix of every signed message, so that a signature by one kind of key is never valid for another.
package struct SigningContext: Sendable, Hashable {
    /// The prefix as 16 bytes of ASCII.
    package let bytes: [UInt8]

    private init(_ text: StaticString) {
        precondition(text.utf8CodeUnitCount == 16, "a signing context has 16 bytes")
        bytes = Array(UnsafeBufferPointer(start: text.utf8Start, count: 16))
    }

    /// The context of messages of writer keys: records.
    package static let writer = SigningContext("SealedState.wrk1")
    /// The context of messages of team keys: rosters, successions, certificates.
    package static let team = SigningContext("SealedState.tmk1")

    /// Returns the message to sign: the context, then the hash of the signed contents (64 bytes).
    package func message(_ digest: [UInt8]) -> [UInt8] { bytes + digest }
}

/// The last 80 bytes of a signed blob's plaintext: roster version, eight zero bytes, signature.
///
/// The trailer is sealed with the contents, because a signature in plaintext would confirm guesses of them.
package struct RecordTrailer: Hashable, Sendable {
    /// The size in bytes.
    package static let size = 80
    private static let signatureOffset = 16

    /// The version of the writer's roster.
    package let rosterVersion: UInt64
    /// The Ed25519 signature (RFC 8032) of 64 bytes.
    package let signature: [UInt8]

    package init(rosterVersion: UInt64, signature: [UInt8]) {
        precondition(signature.count == Ed25519.signatureSize, "an Ed25519 signature has 64 bytes")
        self.rosterVersion = rosterVersion
        self.signature = signature
    }

    /// Parses the last 80 bytes of a plaintext.
    ///
    /// - Throws: `SealingError` `.malformed` for less; `.unsupportedFormat` if a reserved byte is not zero.
    package init(endOf plaintext: UnsafeRawBufferPointer) throws(SealingError) {
        guard plaintext.count >= Self.size else {
            throw SealingError(.malformed, "open", "A signed blob without room for its signature.")
        }
        let bytes = UnsafeRawBufferPointer(rebasing: plaintext[(plaintext.count - Self.size)...])
        guard bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self) == 0 else {
            throw SealingError(.unsupportedFormat, "open", "Reserved bytes before the signature are not zero.")
        }
        rosterVersion = UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self))
        signature = Array(bytes[Self.signatureOffset...])
    }

    /// The 80 bytes.
    package var encoded: [UInt8] {
        withUnsafeBytes(of: (rosterVersion.littleEndian, UInt64(0))) { Array($0) } + signature
    }
}

/// The fields that a writer's signature of a record covers (docs/spec/format.md, section "Signed records").
///
/// Suite, epoch, key id, salt and commitment are excluded, so that a rotation can reseal a record without its writer.
package struct SignedRecord: Sendable {
    private let group: String
    private let name: String
    private let kind: BlobKind
    private let flags: BlobFlags
    private let codec: PayloadCodec
    private let schemaVersion: UInt32
    private let sequence: UInt64
    private let sealedAt: UInt64
    private let notAfter: UInt64
    private let writer: WriterID

    /// - Parameters:
    ///   - header: The blob's verified header.
    ///   - group: The app group's identifier.
    ///   - name: The record's whole name.
    package init(_ header: BlobHeader, group: String, name: String) {
        self.group = group
        self.name = name
        kind = header.kind
        flags = header.flags
        codec = header.codec
        schemaVersion = header.schemaVersion
        sequence = header.sequence
        sealedAt = header.sealedAt
        notAfter = header.notAfter
        writer = header.writer
    }

    /// Creates the fields of a blob that is about to be sealed.
    package init(_ description: BlobDescription, group: String, name: String) {
        self.group = group
        self.name = name
        kind = description.context.kind
        flags = description.flags
        codec = description.codec
        schemaVersion = description.schemaVersion
        sequence = description.sequence
        sealedAt = description.sealedAt
        notAfter = description.notAfter
        writer = description.writer
    }

    /// Returns the hash to sign: 64 bytes.
    ///
    /// - Parameter contents: The plaintext without the trailer.
    package func digest(rosterVersion: UInt64, contents: UnsafeRawBufferPointer) -> [UInt8] {
        var input = [UInt8]()
        input.reserveCapacity(160 + group.utf8.count + name.utf8.count)
        input.appendText(group)
        input.appendText(name)
        input.append(kind.rawValue)
        input.append(flags.rawValue)
        input.append(codec.rawValue)
        input.appendInteger(schemaVersion)
        input.appendInteger(sequence)
        input.appendInteger(sealedAt)
        input.appendInteger(notAfter)
        writer.bytes.withUnsafeBytes { input.append(contentsOf: $0) }
        input.appendInteger(rosterVersion)
        input.appendInteger(UInt64(contents.count))
        let hash = Bytes32(filling: { BLAKE2b.hash(contents, personalization: .recordContents, into: $0) })
        hash.withUnsafeBytes { input.append(contentsOf: $0) }
        return BLAKE2b.hash(input, personalization: .recordSignature, count: 64)
    }
}

extension WriterID {
    /// Creates the id of a writer: a hash of its public key.
    package init(publicKey: Ed25519.PublicKey) {
        self.init(
            bytes: Bytes16(filling: { output in
                publicKey.bytes.withUnsafeBytes { BLAKE2b.hash($0, personalization: .writerID, into: output) }
            }))
    }
}

extension Array where Element == UInt8 {
    /// Appends a length as 4 little-endian bytes, then the UTF-8 bytes.
    package mutating func appendText(_ text: String) {
        appendInteger(UInt32(text.utf8.count))
        append(contentsOf: text.utf8)
    }

    /// Appends an integer in little-endian order.
    package mutating func appendInteger<Value: FixedWidthInteger>(_ value: Value) {
        Swift.withUnsafeBytes(of: value.littleEndian) { append(contentsOf: $0) }
    }
}
