import CryptoPrimitives
import Sealing
import Testing

@Suite struct BlobRoundTripTests {
    @Test(arguments: [0, 1, 128, 65_535, 65_536, 65_537, 200_000])
    func aBlobOpensToWhatWasSealed(size: Int) throws {
        let key = try SealingKey.random(epoch: 3)
        let context = BlobContext(group: "group.com.example.app", kind: .record, name: "state")
        let plaintext = SecureRandom.bytes(count: size)
        let blob = plaintext.withRawBytes {
            BlobSealer.seal(
                $0, as: BlobDescription(record: context, schemaVersion: 1, sequence: 7, sealedAt: 1000), key: key)
        }
        #expect(blob.count == BlobLayout.blobSize(plaintextSize: size))
        let opened = try blob.withRawBytes { blob throws(SealingError) in
            try BlobOpener.open(blob, context: context, keys: key, limit: 1 << 20)
        }
        expectSame(opened.plaintext.withUnsafeBytes { Array($0) }, plaintext)
        #expect(opened.header.header.sequence == 7)
        #expect(opened.header.header.epoch == 3)
    }

    @Test(arguments: [0, 1, 65_536, 8 * 65_536, 8 * 65_536 + 1, 3_000_000])
    func aStreamOpensToWhatWasSealed(size: Int) throws {
        let key = try SealingKey.random(epoch: 1)
        let context = BlobContext(group: "group.com.example.app", kind: .stream, name: "")
        let plaintext = SecureRandom.bytes(count: size)
        let sealed = MemorySink()
        try StreamSealer.seal(
            from: MemorySource(plaintext).read, to: sealed.write,
            as: BlobDescription(stream: context, sealedAt: 1), key: key, workers: 3)
        let opened = MemorySink()
        try StreamOpener.openReleasingEarly(
            from: MemorySource(sealed.bytes).read, to: opened.write, context: context, keys: key, workers: 3)
        expectSame(opened.bytes, plaintext)
    }
}
