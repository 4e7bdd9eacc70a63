import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@Suite struct BlobVectorTests {
    @Test func thereAreVectorsForEveryRule() throws {
        let files = try SystemFile.names(BlobVector.folder + "/blobs")
        #expect(BlobVector.all.count >= 110)
        #expect(files.count == BlobVector.all.count)
        #expect(Set(files.map { "blobs/\($0)" }) == Set(BlobVector.all.compactMap(\.entry.file)))
        #expect(BlobVector.good.count >= 18)
        #expect(Set(BlobVector.all.compactMap(\.entry.expected.rule)) == Set((1...25).map { "R\($0)" }))
    }

    @Test(arguments: BlobVector.all, BlobReading.allCases)
    func everyReaderComesToTheExpectedResult(vector: BlobVector, reading: BlobReading) {
        // Only a reader of whole blobs has a limit.
        if vector.limit != nil && reading != .whole { return }
        if vector.entry.readers == ["whole"] && reading != .whole { return }
        let answer = reading.read(vector.blob, of: vector)
        #expect(answer.code == vector.entry.expected.result)
        if case .success(let plaintext) = answer.result { #expect(vector.promises(plaintext)) }
        // Fewer than 8 chunks are released together, and only if all of them are authentic.
        if !vector.isGood { #expect(answer.releasedEarly.isEmpty) }
    }

    @Test(arguments: BlobVector.all)
    func aHeaderAloneIsVerifiedLikeTheWholeBlob(vector: BlobVector) {
        let rule = vector.entry.expected.rule ?? ""
        let isBehindTheHeader = ["R1", "R17", "R18", "R23", "R24", "R25"].contains(rule)
        // The blob's second fault is in the header.
        if isBehindTheHeader && vector.entry.faults != nil && rule != "R23" { return }
        let isFine = vector.isGood || isBehindTheHeader
        let header = Array(vector.blob.prefix(BlobLayout.headerSize))
        let code = Result { () throws(SealingError) in
            try header.withRawBytes { header throws(SealingError) in
                try BlobOpener.verifyHeader(header, context: vector.context, keys: vector.keys)
            }
        }
        switch code {
        case .success(let verified): #expect(isFine && verified.header.encoded == header)
        case .failure(let error): #expect(!isFine && error.code.rawValue == vector.entry.expected.result)
        }
    }

    @Test(arguments: BlobVector.good)
    func withoutAPlaceABlobOpensForInspection(vector: BlobVector) {
        for reading in BlobReading.allCases {
            #expect(reading.read(vector.blob, context: nil, key: vector.key).code == "ok")
        }
    }

    @Test(arguments: BlobVector.good.filter { $0.context.kind == .stream })
    func aTagInPlaceOfTheNameOpensAStreamOfAnyName(vector: BlobVector) throws {
        let claimed = try BlobHeader(parsing: vector.blob)
        let group = vector.entry.reader.group
        let context = BlobContext(group: group, kind: .stream, nameTag: claimed.nameTag)
        #expect(BlobReading.streamWithOneWorker.read(vector.blob, context: context, key: vector.key).code == "ok")
        let other = BlobContext(group: group + ".other", kind: .stream, nameTag: claimed.nameTag)
        #expect(BlobReading.whole.read(vector.blob, context: other, key: vector.key).code == "wrongGroup")
    }

    /// Streams of more than 256 chunks, made from a seed. The plaintext that is released early is a prefix of the
    /// permitted plaintext.
    @Test func generatedStreamsComeToTheExpectedResult() throws {
        let entries = BlobVector.entries.filter { $0.file == nil }
        #expect(entries.count >= 4)
        let folder = try TemporaryDirectory()
        var plaintext: [UInt8] = []
        for entry in entries.sorted(by: { $0.name < $1.name }) {
            let made = try ChildProcess.run("sealed-probe", ["vectors", folder.path, entry.name])
            try #require(made.status == .exited(0), "\(made.outputText)")
            let vector = try BlobVector(entry, in: folder.path)
            for reading in BlobReading.allCases {
                let answer = reading.read(vector.blob, of: vector)
                #expect(answer.code == entry.expected.result, "\(entry.name), \(reading)")
                if case .success(let bytes) = answer.result { plaintext = bytes }
                #expect(plaintext.starts(with: answer.releasedEarly))
                #expect(answer.releasedEarly.count <= entry.earlyRelease?.size ?? 0)
            }
        }
        #expect(plaintext.count > 256 * BlobLayout.chunkSize)
    }
}
