import CryptoPrimitives
import Sealing
import Testing

@Suite struct BlobSealerTests {
    @Test func theSameContentsAreNeverSealedToTheSameBytes() throws {
        let key = try SealingKey.random(epoch: 1)
        let blobs = (0..<1000).map { _ in
            BlobSealer.seal(
                UnsafeRawBufferPointer(start: nil, count: 0),
                as: BlobDescription(record: place, schemaVersion: 1, sequence: 1, sealedAt: 1), key: key)
        }
        #expect(Set(blobs.map { Array($0[112..<144]) }).count == 1000)
        #expect(Set(blobs.map { Array($0[144..<176]) }).count == 1000)
        #expect(Set(blobs.map { Array($0[176...]) }).count == 1000)
    }

    @Test func aDifferentHeaderIsADifferentKey() throws {
        let key = try SealingKey.random(epoch: 1)
        let salt = SeededStream.salt
        let plaintext = [UInt8](repeating: 0, count: 64)
        let texts = (1...50).map { sequence in
            plaintext.withRawBytes { bytes in
                let description = BlobDescription(
                    record: place, schemaVersion: 1, sequence: UInt64(sequence), sealedAt: 1)
                return Array(BlobSealer.seal(bytes, as: description, key: key, fixedSalt: salt)[176..<240])
            }
        }
        #expect(Set(texts).count == 50)
    }

    @Test(arguments: [0, 1, 65_536, 65_537]) func theHeaderOfTheSealerIsTheOpeners(_ size: Int) throws {
        let key = try SealingKey.random(epoch: 3)
        let description = BlobDescription(
            record: place, flags: .unsynced, schemaVersion: 2, sequence: 7, sealedAt: 8, notAfter: 9)
        let sealed = [UInt8](repeating: 1, count: size).withRawBytes {
            BlobSealer.sealWhole($0, as: description, key: key)
        }
        let verified = try sealed.bytes.withRawBytes { try BlobOpener.verifyHeader($0, context: place, keys: key) }
        #expect(sealed.header == verified)
    }

    /// A writer must not report success for a blob that every reader refuses.
    @Test func aDescriptionThatContradictsItselfEndsTheProcess() async {
        await #expect(processExitsWith: .failure) {
            try seal(BlobDescription(record: place, schemaVersion: 1, sequence: 0, sealedAt: 1))
        }
        await #expect(processExitsWith: .failure) {
            try seal(BlobDescription(record: place, flags: .tombstone, schemaVersion: 1, sequence: 1, sealedAt: 1))
        }
        await #expect(processExitsWith: .failure) {
            let tombstone = BlobDescription(
                record: place, flags: .tombstone, schemaVersion: 1, sequence: 1, sealedAt: 1, codec: .raw)
            try seal(tombstone, contents: [1])
        }
        await #expect(processExitsWith: .success) {
            try seal(BlobDescription(record: place, schemaVersion: 1, sequence: 1, sealedAt: 1), contents: [1])
        }
    }

    @Test(arguments: [(0, UInt32(1)), (31, 1), (33, 1), (32, 0)])
    func aKeyHas32BytesAndAnEpoch(size: Int, epoch: UInt32) {
        let error = #expect(throws: SealingError.self) {
            _ = try SealingKey(secret: SecretBytes.random(count: size), epoch: epoch)
        }
        #expect(error?.code == .invalidArgument)
    }

    @Test func aKeyOfASuiteThatIsNotImplementedSealsNothing() async {
        await #expect(processExitsWith: .failure) {
            let secret = SecretBytes.random(count: 32)
            let key = try SealingKey(secret: secret, epoch: 1, suite: BlobSuite(rawValue: 2))
            let description = BlobDescription(record: place, schemaVersion: 1, sequence: 1, sealedAt: 1)
            _ = [UInt8]().withRawBytes { BlobSealer.seal($0, as: description, key: key) }
        }
    }

    @Test func aKeysIdIsTheKeysAndNotTheEpochs() throws {
        func key(_ byte: UInt8, _ epoch: UInt32) throws -> KeyID {
            try SealingKey(secret: SecretBytes(count: 32) { $0[0] = byte }, epoch: epoch).id
        }
        #expect(try key(1, 1) == key(1, 2))
        #expect(try key(1, 1) != key(2, 1))
    }
}

private let place = BlobContext(group: "group.com.example.app", kind: .record, name: "state")

private func seal(_ description: BlobDescription, contents: [UInt8] = []) throws {
    let key = try SealingKey.random(epoch: 1)
    _ = contents.withRawBytes { BlobSealer.seal($0, as: description, key: key) }
}
