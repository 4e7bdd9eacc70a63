import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import Synchronization
import TestSupport
import Testing

@testable import SealedState

extension SealedFileRefusalTests {
    /// Seals contents with their list of hashes in memory.
    static func seal(_ bytes: [UInt8], _ key: SealingKey, _ context: BlobContext) throws -> [UInt8] {
        let position = Mutex(0)
        let output = Mutex<[UInt8]>([])
        _ = try StreamSealer.sealWithDigest(
            from: { buffer throws(StoreError) in
                position.withLock { position in
                    let part = bytes[position..<min(position + buffer.count, bytes.count)]
                    buffer.copyBytes(from: part)
                    position += part.count
                    return part.count
                }
            }, to: { piece throws(StoreError) in output.withLock { $0.append(contentsOf: piece) } },
            as: BlobDescription(stream: context, sealedAt: 1), key: key)
        return output.withLock { $0 }
    }
}

/// Sealed files and keys: rotation, protection classes, and the roster of writers.
@Suite(.timeLimit(.minutes(10))) struct SealedFileKeyTests {
    @Test func aRotationResealsContentsAndManifest() throws {
        let sandbox = try RotationSandbox()
        let bytes = RotationSandbox.contents(300_000)
        try sandbox.store.files.write(bytes, named: "a/b")
        let open = try sandbox.store.files.open("a/b")
        let before = try sandbox.store.rotationStatus()
        #expect(before.keys.first?.blobCount == 2)
        let report = try sandbox.rotate()
        #expect(report.isCompleted && report.left.isEmpty && report.resealed == 2)
        #expect(try sandbox.store.files.read("a/b") == bytes)
        let info = try sandbox.store.files.info(of: "a/b")
        #expect(info.provenance.sequence == 1 && info.provenance.epoch == 2)
        let leaf = try #require(try SystemFile.names(sandbox.path("Files/.contents")).first)
        #expect(try sandbox.header("Files/.contents/\(leaf)").epoch == 2)
        // A handle keeps its version.
        #expect(try open.read() == bytes)
        let old = try #require(try sandbox.store.rotationStatus().keys.first { $0.epoch == 1 })
        try sandbox.store.destroyKey(old.id)
        #expect(try sandbox.store.files.read("a/b") == bytes)
        #expect(try sandbox.store.files.removeLeftovers() == 0)
    }

    /// Contents that cannot be resealed are an obstacle to the end of the old key.
    @Test func contentsUnderAnOldKeyAreAnObstacle() throws {
        let sandbox = try RotationSandbox()
        try sandbox.store.files.write(RotationSandbox.contents(1000), named: "a")
        let leaf = try #require(try SystemFile.names(sandbox.path("Files/.contents")).first)
        let path = sandbox.path("Files/.contents/\(leaf)")
        let blob = try SystemFile.read(path)
        try sandbox.rotate()
        try SystemFile.write(path, blob)
        #expect(code { _ = try sandbox.store.files.read("a") } == .retiredEpoch)
        let old = try #require(try sandbox.store.rotationStatus().keys.first { $0.epoch == 1 })
        #expect(old.blobCount == 1)
        #expect(code { try sandbox.store.destroyKey(old.id) } == .keyInUse)
    }

    // writer:  seals under epoch 1 …………………… seals again under epoch 2, manifest
    // rotation:                     epoch 2, completed
    @Test func aRotationWhileContentsAreSealedIsNoticed() async throws {
        let sandbox = try RotationSandbox()
        let files = sandbox.store.files
        let bytes = RotationSandbox.contents(300_000)
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield(Array(bytes[..<200_000]))
        let task = Task { try await files.write(contentsOf: stream, named: "a") }
        try await Task.sleep(for: .milliseconds(100))
        #expect(try sandbox.rotate().isCompleted)
        continuation.yield(Array(bytes[200_000...]))
        continuation.finish()
        #expect(try await task.value == 1)
        #expect(try await files.read("a") == bytes)
        #expect(try files.info(of: "a").provenance.epoch == 2)
        let names = try SystemFile.names(sandbox.path("Files/.contents"))
        #expect(names.count == 1)
        #expect(try sandbox.header("Files/.contents/\(names[0])").epoch == 2)
    }

    @Test func aProtectedFileNeedsThePerson() throws {
        let sandbox = try ProtectedSandbox()
        let attributes = SealedFiles.Attributes(protection: .whenUnlocked)
        try sandbox.person.files.write([1, 2], named: "a", attributes)
        #expect(try sandbox.person.files.read("a") == [1, 2])
        #expect(code { _ = try sandbox.service.files.read("a") } == .locked)
        #expect(code { try sandbox.service.files.write([3], named: "a") } == .locked)
        // A later write without a class keeps it, for manifest and contents.
        try sandbox.person.files.write([4], named: "a")
        #expect(code { _ = try sandbox.service.files.read("a") } == .locked)
        let directory = sandbox.fixture.container + "/Files/.contents"
        let leaf = try #require(try SystemFile.names(directory).first)
        let header = try UnverifiedHeader(parsing: SystemFile.read("\(directory)/\(leaf)")).claimed
        #expect(sandbox.person.reader.keys.protection(of: header) == .whenUnlocked)
        #expect(try sandbox.service.files.removeLeftovers() == 0)
        #expect(try sandbox.person.files.read("a") == [4])
    }

    @Test func theRosterGovernsFiles() throws {
        let sandbox = try WritersSandbox()
        let rule = Roster.Rule(try GovernedPattern("_sealed/files/*"), grants: [sandbox.app.id: .all])
        let first = try sandbox.roster(2)
        let roster = Roster(
            group: first.group, id: sandbox.id, version: 2, signedAt: 1, team: sandbox.team.publicKey,
            writers: first.writers, rules: [rule])
        try sandbox.put(try SignedRoster(signing: roster, with: sandbox.team))
        let app = try sandbox.open(as: sandbox.app)
        try app.files.write([1], named: "a")
        #expect(try app.files.info(of: "a").provenance.writer == sandbox.app.id.description)
        let widget = try sandbox.open(as: sandbox.widget)
        #expect(try widget.files.read("a") == [1])
        #expect(code { try widget.files.write([2], named: "a") } == .notAuthorized)
        #expect(code { try widget.files.delete("a") } == .notAuthorized)
        #expect(try SystemFile.names(sandbox.fixture.container + "/Files/.contents").count == 1)
    }
}
