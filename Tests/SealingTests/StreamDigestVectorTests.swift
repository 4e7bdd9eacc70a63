import CryptoPrimitives
import Sealing
import TestSupport
import Testing

/// An entry of the section `streamDigest` of `Fixtures/vectors/manifest.json`, written by the second implementation.
struct StreamDigestVector: Decodable, Sendable, CustomTestStringConvertible {
    struct Reader: Decodable, Sendable {
        struct Digest: Decodable, Sendable {
            let contentsSize: UInt64
            let listHash: VectorBytes
        }

        let group, name: String
        let key: VectorBytes
        let keySuite: UInt8
        let keyEpoch, minimumEpoch: UInt32
        let digest: Digest
    }

    struct PartResult: Decodable, Sendable {
        let start, end: Int
        let result: String
        let plaintext: VectorContents?
    }

    struct Expected: Decodable, Sendable {
        let result: String
        let rule: String?
        let plaintext: VectorContents?
        let ranges: [PartResult]?
    }

    struct Intermediate: Decodable, Sendable {
        let chunkHashes: [VectorBytes]
    }

    let name: String
    let reader: Reader
    let expected: Expected
    let intermediate: Intermediate?
    private let input: VectorFile

    var testDescription: String { name }
    var isGood: Bool { expected.result == "ok" }

    private enum Keys: CodingKey { case name, reader, expected, intermediate }

    init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: Keys.self)
        name = try values.decode(String.self, forKey: .name)
        reader = try values.decode(Reader.self, forKey: .reader)
        expected = try values.decode(Expected.self, forKey: .expected)
        intermediate = try values.decodeIfPresent(Intermediate.self, forKey: .intermediate)
        input = try VectorFile(from: decoder)
    }

    /// All entries. An unreadable manifest has no entries, which `StreamDigestVectorTests` reports.
    static let all: [StreamDigestVector] = VectorManifest.entries("streamDigest")

    var context: BlobContext { BlobContext(group: reader.group, kind: .stream, name: reader.name) }

    var digest: StreamDigest {
        StreamDigest(
            contentsSize: reader.digest.contentsSize,
            listHash: Bytes32(filling: { $0.copyBytes(from: reader.digest.listHash.bytes) }))
    }

    func blob() throws -> [UInt8] { try input.bytes() }

    func keys() throws -> ReaderKeys {
        let secret = SecretBytes(count: reader.key.bytes.count) { $0.copyBytes(from: reader.key.bytes) }
        let key = try SealingKey(secret: secret, epoch: reader.keyEpoch, suite: BlobSuite(rawValue: reader.keySuite))
        return ReaderKeys(key: key, minimumEpoch: reader.minimumEpoch)
    }

    func rangeReader(_ blob: [UInt8], _ keys: ReaderKeys) throws(StreamFailure<Never>) -> StreamRangeReader<Never> {
        try StreamRangeReader(
            blobSize: blob.count, context: context, keys: keys, digest: digest,
            readAt: { offset, buffer in buffer.copyBytes(from: blob[offset..<offset + buffer.count]) })
    }
}

@Suite struct StreamDigestVectorTests {
    @Test func thereAreVectorsForEveryRule() {
        let rules = Set(StreamDigestVector.all.compactMap(\.expected.rule))
        #expect(rules.isSuperset(of: ["D1", "D2", "D3"]))
        #expect(StreamDigestVector.all.filter(\.isGood).count >= 8)
        #expect(StreamDigestVector.all.contains { !($0.expected.ranges ?? []).isEmpty && !$0.isGood })
    }

    @Test(arguments: StreamDigestVector.all, [1, 3])
    func streamOpensWithTheExpectedResult(vector: StreamDigestVector, workers: Int) throws {
        let (blob, keys) = (try vector.blob(), try vector.keys())
        let sink = MemorySink()
        let code = refusal { () throws(StreamFailure<Never>) in
            try StreamOpener.openReleasingEarly(
                from: MemorySource(blob).read, to: sink.write, context: vector.context, keys: keys,
                digest: vector.digest, workers: workers)
        }
        #expect(code?.rawValue ?? "ok" == vector.expected.result)
        if vector.isGood { #expect(vector.expected.plaintext?.isSame(as: sink.bytes) == true) }
    }

    @Test(arguments: StreamDigestVector.all)
    func wholeRangeHasTheExpectedResult(vector: StreamDigestVector) throws {
        let (blob, keys) = (try vector.blob(), try vector.keys())
        var found: [UInt8] = []
        let code = refusal { () throws(StreamFailure<Never>) in
            let reader = try vector.rangeReader(blob, keys)
            found = try reader.read(0..<reader.plaintextSize)
        }
        #expect(code?.rawValue ?? "ok" == vector.expected.result)
        if vector.isGood { #expect(vector.expected.plaintext?.isSame(as: found) == true) }
    }

    @Test(arguments: StreamDigestVector.all)
    func rangesHaveTheExpectedResults(vector: StreamDigestVector) throws {
        guard let ranges = vector.expected.ranges else { return }
        let reader = try vector.rangeReader(try vector.blob(), try vector.keys())
        for range in ranges {
            var found: [UInt8] = []
            let code = refusal { () throws(StreamFailure<Never>) in found = try reader.read(range.start..<range.end) }
            #expect(code?.rawValue ?? "ok" == range.result, "\(range.start)..<\(range.end)")
            if range.result == "ok" { #expect(range.plaintext?.isSame(as: found) == true) }
        }
    }

    /// The library seals the same bytes with the same salt and returns the same digest.
    @Test(arguments: StreamDigestVector.all.filter(\.isGood))
    func goodStreamIsWhatTheLibrarySeals(vector: StreamDigestVector) throws {
        let (blob, keys) = (try vector.blob(), try vector.keys())
        let reader = try vector.rangeReader(blob, keys)
        let contents = try reader.read(0..<reader.plaintextSize)
        let sink = MemorySink()
        let digest = try StreamSealer.sealWithDigest(
            from: MemorySource(contents).read, to: sink.write,
            as: BlobDescription(stream: vector.context, sealedAt: reader.header.header.sealedAt), key: keys.key,
            workers: 2, fixedSalt: reader.header.header.salt)
        expectSame(sink.bytes, blob)
        #expect(digest == vector.digest)
        let hashes = stride(from: 0, to: contents.count, by: 65_536).map { start in
            BLAKE2b.hash(
                Array(contents[start..<min(start + 65_536, contents.count)]),
                personalization: Personalization("SealedState.sch1"), count: 32)
        }
        #expect(vector.intermediate?.chunkHashes.map(\.bytes) == hashes)
    }
}
