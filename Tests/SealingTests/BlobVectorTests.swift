import CryptoPrimitives
import Sealing
import TestSupport
import Testing

@Suite struct BlobVectorTests {
    @Test func thereAreVectorsForEveryRule() throws {
        let files = try SystemFile.names(BlobVector.folder)
        #expect(BlobVector.all.count >= 40)
        #expect(files.count == BlobVector.all.count * 2)
        #expect(BlobVector.good.count >= 15)
        #expect(Set(BlobVector.all.compactMap(\.expected.rule)) == Set((1...22).map { "R\($0)" }))
    }

    @Test(arguments: BlobVector.all, BlobReading.allCases)
    func everyReaderComesToTheExpectedResult(vector: BlobVector, reading: BlobReading) {
        // Only a reader of whole blobs has a limit.
        if vector.limit != nil && reading != .whole { return }
        let answer = reading.read(vector.blob, of: vector)
        #expect(answer.code == vector.expected.result)
        if case .success(let plaintext) = answer.result { #expect(vector.promises(plaintext)) }
        if !vector.isGood { #expect(answer.releasedEarly.isEmpty) }
    }

    @Test(arguments: BlobVector.all)
    func aHeaderAloneIsVerifiedLikeTheWholeBlob(vector: BlobVector) {
        let faultsBehindTheHeader = ["R1", "R17", "R18", "R22"]
        let isFine = vector.isGood || faultsBehindTheHeader.contains(vector.expected.rule ?? "")
        let header = Array(vector.blob.prefix(BlobLayout.headerSize))
        let code = Result { () throws(SealingError) in
            try header.withRawBytes { header throws(SealingError) in
                try BlobOpener.verifyHeader(header, context: vector.context, keys: vector.key)
            }
        }
        switch code {
        case .success(let verified): #expect(isFine && verified.header.encoded == header)
        case .failure(let error): #expect(!isFine && error.code.rawValue == vector.expected.result)
        }
    }

    @Test(arguments: BlobVector.good)
    func withoutAPlaceABlobOpensForInspection(vector: BlobVector) {
        for reading in BlobReading.allCases {
            #expect(reading.read(vector.blob, context: nil, key: vector.key).code == "ok")
        }
    }
}
