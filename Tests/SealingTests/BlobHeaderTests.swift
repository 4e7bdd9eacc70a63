import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@Suite struct BlobHeaderTests {
    @Test func writtenValuesAreReadBack() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<2000 {
            let header = try randomHeader(&random)
            #expect(try BlobHeader(parsing: header.encoded) == header)
        }
    }

    /// Random bytes in every field, a quarter of them with a known preamble. Parsed headers write back to the same
    /// bits.
    @Test func parsedHeadersWriteBackToTheSameBytes() throws {
        var random = SeededGenerator(seed: 2)
        var parsed = 0
        for _ in 0..<20_000 {
            var bytes = try randomHeader(&random).encoded
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                bytes[Int.random(in: 0..<176, using: &random)] = UInt8(truncatingIfNeeded: random.next() >> 8) & 7
            }
            guard let header = try? BlobHeader(parsing: bytes) else { continue }
            parsed += 1
            #expect(header.encoded == bytes)
        }
        // The test would also pass if nothing parsed.
        #expect(parsed > 5000 && parsed < 20_000)
    }

    @Test func theFieldsHaveTheDocumentedOffsets() throws {
        let vector = try BlobVector(named: "good-record-largest-numbers")
        let header = try BlobHeader(parsing: vector.blob)
        #expect(header.kind == .record && header.codec == .json && header.flags.isEmpty)
        #expect(header.schemaVersion == .max && header.epoch == .max)
        #expect(header.sequence == .max && header.sealedAt == .max && header.notAfter == .max)
        let tags = header.groupTag.description + header.nameTag.description + header.keyID.description
        #expect(tags == hexadecimal(vector.blob[16..<64]))
        #expect(header.salt.bytes.hexadecimal == hexadecimal(vector.blob[112..<144]))
        #expect(header.commitment.description == hexadecimal(vector.blob[144..<176]))
    }

    @Test func aClaimIsNotAVerifiedHeader() throws {
        let vector = try BlobVector(named: "r19-unknown-key")
        #expect(try UnverifiedHeader(parsing: vector.blob).claimed.sequence == 1)
        #expect(BlobReading.whole.read(vector.blob, of: vector).code == "unknownKey")
    }

    /// Returns a random header that a writer may create: consistent, as `docs/spec/format.md`, section 3, requires.
    private func randomHeader(_ random: inout SeededGenerator) throws -> BlobHeader {
        var header = try BlobHeader(parsing: try BlobVector(named: "good-record-raw").blob)
        let kinds: [BlobKind] = [.record, .record, .stream, .vault]
        header.kind = kinds.randomElement(using: &random) ?? .record
        header.epoch = UInt32.random(in: 1 ... .max, using: &random)
        header.groupTag = GroupTag(bytes: bytes16(&random))
        header.nameTag = NameTag(bytes: bytes16(&random))
        header.keyID = KeyID(bytes: bytes16(&random))
        header.sequence = header.kind == .stream ? 0 : UInt64.random(in: 1 ... .max, using: &random)
        header.sealedAt = random.next()
        header.salt = Salt(bytes: bytes32(&random))
        header.commitment = Commitment(bytes: bytes32(&random))
        let isRecord = header.kind == .record
        header.flags = isRecord ? BlobFlags(rawValue: UInt8.random(in: 0...3, using: &random)) : []
        header.schemaVersion = isRecord ? UInt32.random(in: 0 ... .max, using: &random) : 0
        header.notAfter = isRecord ? random.next() : 0
        let codecs: [PayloadCodec] = [.raw, .json, .binaryPropertyList]
        let mayHaveCodec = isRecord && !header.flags.contains(.tombstone)
        header.codec = mayHaveCodec ? codecs.randomElement(using: &random) ?? .raw : .raw
        return header
    }

    private func hexadecimal(_ bytes: ArraySlice<UInt8>) -> String { bytes.withUnsafeBytes { $0.hexadecimal } }
    private func bytes16(_ random: inout SeededGenerator) -> Bytes16 {
        random.bytes(16).withUnsafeBytes { Bytes16($0) }
    }
    private func bytes32(_ random: inout SeededGenerator) -> Bytes32 {
        random.bytes(32).withUnsafeBytes { Bytes32($0) }
    }
}
