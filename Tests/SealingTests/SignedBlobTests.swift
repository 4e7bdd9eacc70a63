import CryptoPrimitives
import Testing

@testable import Sealing

@Suite struct SignedBlobTests {
    private static let context = BlobContext(group: "group.com.example.app", kind: .record, name: "state")
    private let key: SealingKey
    private let writer = WriterID(bytes: Bytes16(filling: { $0.copyBytes(from: 1...16) }))
    private let trailer = RecordTrailer(rosterVersion: 5, signature: [UInt8](repeating: 9, count: 64))

    init() throws { key = try SealingKey.random(epoch: 1) }

    private func description(
        _ flags: BlobFlags = .signed, _ change: (inout BlobDescription) -> Void = { _ in }
    ) -> BlobDescription {
        var description = BlobDescription(
            record: Self.context, flags: flags, schemaVersion: 1, sequence: 7, sealedAt: 1, codec: .raw)
        if flags.contains(.signed) { description.writer = writer }
        change(&description)
        return description
    }

    private func open(_ blob: [UInt8], limit: Int = .max) throws(SealingError) -> ([UInt8], RecordTrailer?) {
        try blob.withRawBytes { bytes throws(SealingError) in
            let opened = try BlobOpener.open(bytes, context: Self.context, keys: key, limit: limit)
            return (opened.plaintext.withUnsafeBytes { Array($0) }, opened.trailer)
        }
    }

    private func code(_ blob: [UInt8], limit: Int = .max) -> SealingError.Code? {
        do throws(SealingError) {
            _ = try open(blob, limit: limit)
            return nil
        } catch {
            return error.code
        }
    }

    private func seal(_ plaintext: [UInt8], _ description: BlobDescription) -> [UInt8] {
        plaintext.withRawBytes { BlobSealer.seal($0, as: description, key: key) }
    }

    @Test(arguments: [0, 1, 79, 80, 65_456, 65_457, 65_536, 200_000])
    func contentsAndTrailerAreKeptApart(_ size: Int) throws {
        let contents = [UInt8](repeating: 3, count: size)
        let (read, found) = try open(seal(contents + trailer.encoded, description()))
        #expect(read == contents && found == trailer)
    }

    @Test func signedBlobWithoutRoomForItsTrailerIsMalformed() throws {
        // The sealer refuses to create such a blob, so the size comes from another blob.
        var blob = seal([UInt8](repeating: 0, count: 80), description())
        blob.removeLast()
        #expect(code(blob) == .malformed)
    }

    @Test func signedTombstoneHasExactlyTheTrailer() throws {
        let tombstone = description([.signed, .tombstone])
        let (contents, found) = try open(seal(trailer.encoded, tombstone))
        #expect(contents.isEmpty && found == trailer)
        #expect(BlobOpener.isPossible(plaintextSize: 80, [.signed, .tombstone]))
        for size in [0, 79, 81] { #expect(!BlobOpener.isPossible(plaintextSize: size, [.signed, .tombstone])) }
        #expect(!BlobOpener.isPossible(plaintextSize: 80, .tombstone))
    }

    @Test func reservedBytesOfTheTrailerAreZero() throws {
        for index in 8..<16 {
            var bytes = trailer.encoded
            bytes[index] = 1
            #expect(code(seal(bytes, description())) == .unsupportedFormat)
        }
    }

    @Test func writerAndFlagComeTogether() throws {
        var header = description().header(key: key)
        #expect(header.isConsistent)
        header.writer = .none
        #expect(!header.isConsistent)
        header.flags = []
        #expect(header.isConsistent)
        header.writer = writer
        #expect(!header.isConsistent)
    }

    @Test func limitCountsTheContents() throws {
        let blob = seal([UInt8](repeating: 1, count: 100) + trailer.encoded, description())
        #expect(code(blob, limit: BlobLayout.blobSize(plaintextSize: 100)) == nil)
        #expect(code(blob, limit: BlobLayout.blobSize(plaintextSize: 80)) == .tooLarge)
        let unsigned = seal([UInt8](repeating: 1, count: 101), description([]))
        #expect(code(unsigned, limit: BlobLayout.blobSize(plaintextSize: 100)) == .tooLarge)
    }

    @Test func hashCoversWhatARotationKeepsAndNothingElse() throws {
        let contents: [UInt8] = [1, 2, 3]
        func digest(
            _ description: BlobDescription, group: String = "g", name: String = "n", version: UInt64 = 1
        ) -> [UInt8] {
            contents.withRawBytes {
                SignedRecord(description, group: group, name: name).digest(rosterVersion: version, contents: $0)
            }
        }
        let base = digest(description())
        let changes: [(inout BlobDescription) -> Void] = [
            { $0.flags.insert(.unsynced) }, { $0.schemaVersion = 2 }, { $0.sequence = 8 }, { $0.sealedAt = 2 },
            { $0.notAfter = 2 }, { $0.codec = .json }, { $0.writer = .none },
        ]
        var digests = Set([base])
        for change in changes { digests.insert(digest(description(.signed, change))) }
        digests.insert(digest(description(), group: "gn", name: ""))
        digests.insert(digest(description(), name: "m"))
        digests.insert(digest(description(), version: 2))
        #expect(digests.count == changes.count + 4)
        // Another key and another epoch.
        let other = description().header(key: try SealingKey.random(epoch: 9))
        let resealed = contents.withRawBytes {
            SignedRecord(other, group: "g", name: "n").digest(rosterVersion: 1, contents: $0)
        }
        #expect(resealed == base)
        #expect(base.count == 64)
    }
}
