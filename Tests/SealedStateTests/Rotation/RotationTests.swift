import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import SealedState

/// Tests of the blobs that a rotation reseals, and of those that it leaves alone.
struct RotationTests {
    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    /// Returns the header without the fields that resealing changes.
    private func facts(_ header: BlobHeader) -> BlobHeader {
        var facts = header
        (facts.epoch, facts.keyID) = (0, KeyID(bytes: .zero))
        (facts.salt, facts.commitment) = (Salt(bytes: .zero), Commitment(bytes: .zero))
        return facts
    }

    @Test func aResealedRecordKeepsEverythingButItsKey() throws {
        let store = sandbox.store
        try store.write(Note(text: "a"))
        try store.write(Note(text: "b", expiresAt: Date().addingTimeInterval(1000)))
        try store.write(ProbeRecord(number: 5), named: "durable", durability: .durable)
        try store.write(ProbeRecord(number: 6), named: "deep/in/directories")
        try store.write(ProbeRecord(number: 7), named: "deleted")
        try store.delete(named: "deleted")
        let names = ["note", "durable", "deep/in/directories", "deleted"]
        let before = try names.map(sandbox.header(ofRecord:))
        let report = try sandbox.rotate()
        #expect(report.isCompleted)
        #expect((report.epoch, report.resealed) == (2, 4))
        #expect(report.left == [])
        let after = try names.map(sandbox.header(ofRecord:))
        #expect(after.map(facts) == before.map(facts))
        #expect(after.map(\.epoch) == [2, 2, 2, 2])
        #expect(zip(before, after).allSatisfy { $0.salt != $1.salt && $0.keyID != $1.keyID })
        #expect(try store.read(Note.self).text == "b")
        #expect(try store.snapshot(of: Note.self).provenance.sequence == 2)
        #expect(try store.read(ProbeRecord.self, named: "deep/in/directories").number == 6)
        #expect(code { _ = try store.read(ProbeRecord.self, named: "deleted") } == .absent)
        #expect(code { try store.delete(named: "deleted") } == .absent)
        #expect(try store.write(Note(text: "c")) == 3)
        #expect(try sandbox.fixture.staleFiles().filter { !$0.contains(".readers") } == [])
    }

    /// A member's file that claims more bytes than the disk has prevents no rotation.
    @Test func aSparseFileNeedsNoMoreThanItTakes() throws {
        try sandbox.write(1)
        try sandbox.plantStream("sparse.sealed", [1, 2, 3])
        #expect(truncate(sandbox.path("sparse.sealed"), 1 << 42) == 0)
        #expect(try sandbox.store.rotationSize() < 1 << 20)
        let report = try sandbox.rotate()
        #expect(report.resealed == 1)
        #expect(report.left.map(\.path) == ["sparse.sealed"])
    }

    @Test(arguments: [0, 1, 65_536, 65_537, 3_000_000])
    func aResealedStreamKeepsEverythingButItsKey(_ size: Int) throws {
        let contents = RotationSandbox.contents(size)
        let path = "Library/Caches/archive.tar.sealed"
        try sandbox.plantStream(path, contents)
        let before = try sandbox.header(path)
        #expect(try sandbox.rotate().resealed == 1)
        #expect(facts(try sandbox.header(path)) == facts(before))
        #expect(try sandbox.header(path).epoch == 2)
        #expect(try sandbox.openStream(path) == contents)
        #expect(try SystemFile.mode(sandbox.path(path)) == 0o640)
    }

    @Test func streamsAreFoundInEveryDirectory() throws {
        let paths = ["top.sealed", "anything", "Own/x.bin", "Library/Application Support/Records/stream.sealed"]
        try sandbox.store.write(ProbeRecord(number: 1))
        for path in paths { try sandbox.plantStream(path, [1, 2, 3]) }
        #expect(try sandbox.rotate().resealed == 5)
        #expect(try paths.map { try sandbox.header($0).epoch } == [2, 2, 2, 2])
    }

    @Test func anEmptyContainerIsRotated() throws {
        let report = try sandbox.rotate()
        #expect((report.isCompleted, report.epoch, report.resealed) == (true, 2, 0))
        #expect(try sandbox.store.write(ProbeRecord(number: 1)) == 1)
        #expect(try sandbox.header(ofRecord: "probe").epoch == 2)
    }

    @Test func eachCompletedRotationIsFollowedByANewOne() throws {
        try sandbox.write(3)
        for epoch: UInt32 in 2...4 {
            let report = try sandbox.rotate()
            #expect((report.epoch, report.isCompleted, report.resealed) == (epoch, true, 3))
            #expect(try sandbox.epochs(3) == [epoch, epoch, epoch])
        }
        #expect(try sandbox.store.read(ProbeRecord.self, named: "r2").number == 2)
    }

    // MARK: Afterwards

    @Test func aCopyOfTheOldEpochIsRefused() throws {
        try sandbox.write(1)
        let old = try sandbox.fixture.blob("r0")
        try sandbox.rotate()
        try sandbox.fixture.plant(old, "r0")
        #expect(code { _ = try sandbox.store.read(ProbeRecord.self, named: "r0") } == .retiredEpoch)
        #expect(try sandbox.fixture.probe("store-read", "r0") == "retiredEpoch")
        // The next write repairs it, and exceeds its sequence.
        #expect(try sandbox.store.write(ProbeRecord(number: 1), named: "r0") == 2)
        #expect(try sandbox.fixture.probe("store-read", "r0") == "1 0 2")
    }

    // reader:  open, read 1 (epoch 1) .......................................... read: refused, once it has looked
    // we:      ......................... rotate ... plant 1000, sealed under the old key
    @Test func aReaderThatHasTheStoreOpenRefusesWhatIsSealedUnderTheOldKey() throws {
        try sandbox.write(1)
        let reader = try sandbox.child("rotate-hold")
        #expect(try reader.readLine() == "ready")
        try reader.write("r0\n")
        #expect(try reader.readLine() == "1")
        try sandbox.rotate()
        try sandbox.fixture.plant(try sandbox.forge("r0", sequence: 1000), "r0")
        #expect(code { _ = try sandbox.store.read(ProbeRecord.self, named: "r0") } == .retiredEpoch)
        var answer: String?
        for _ in 0..<200 where answer != "retiredEpoch" {
            usleep(20_000)
            try reader.write("r0\n")
            answer = try reader.readLine()
        }
        #expect(answer == "retiredEpoch")
        #expect(try sandbox.fixture.probe("store-read", "r0") == "retiredEpoch")
    }

    @Test func aWriterThatHasTheStoreOpenContinuesUnderTheNewKey() throws {
        let writer = try sandbox.fixture.open()
        try writer.write(ProbeRecord(number: 1))
        try sandbox.rotate()
        #expect(try writer.write(ProbeRecord(number: 2)) == 2)
        #expect(try writer.snapshot(of: ProbeRecord.self).provenance.epoch == 2)
        #expect(try writer.update(ProbeRecord.self) { $0.number += 1 } == 3)
    }

    // MARK: Blobs that are left alone

    @Test func unreadableCopiesAreLeftAndDelayNothing() throws {
        try sandbox.write(6)
        let blobs = try (0..<6).map { try sandbox.fixture.blob("r\($0)") }
        // The header of r0, the contents of r1, an unknown key, another group, a copy elsewhere, a text.
        var header = blobs[0]
        header[Field.sequence] ^= 2
        var contents = blobs[1]
        contents[contents.count - 1] ^= 1
        var foreign = try Forgery(sandbox.store)
        (foreign.name, foreign.key) = ("r2", try SealingKey.random(epoch: 1))
        var other = try Forgery(sandbox.store)
        (other.group, other.name) = ("group.com.example.other", "r3")
        let planted = [
            "r0": header, "r1": contents, "r2": foreign.blob, "r3": other.blob, "r4": blobs[5],
            "r5": Array("SEAL the deal".utf8),
        ]
        for (name, bytes) in planted { try sandbox.fixture.plant(bytes, name) }
        try sandbox.plant("Library/Caches/copy.sealed", blobs[4])
        let report = try sandbox.rotate()
        #expect(report.isCompleted)
        #expect(report.resealed == 0)
        for (name, bytes) in planted { #expect(try sandbox.fixture.blob(name) == bytes) }
        #expect(try SystemFile.read(sandbox.path("Library/Caches/copy.sealed")) == blobs[4])
        let codes = Dictionary(
            report.left.map { (String($0.path.split(separator: "/").last ?? ""), $0.code) }, uniquingKeysWith: { $1 })
        #expect(
            codes == [
                "r0.sealed": .wrongCommitment, "r1.sealed": .tampered, "r2.sealed": .unknownKey,
                "r4.sealed": .wrongName,
                "r5.sealed": .malformed, "copy.sealed": .wrongName,
            ])
    }

    @Test func quarantineIsLeftAlone() throws {
        try sandbox.store.write(ProbeRecord(number: 1))
        let blob = try sandbox.fixture.blob("probe")
        try sandbox.plant("Quarantine/probe.1.sealed", blob)
        let report = try sandbox.rotate()
        #expect((report.isCompleted, report.resealed, report.left.count) == (true, 1, 0))
        #expect(try SystemFile.read(sandbox.path("Quarantine/probe.1.sealed")) == blob)
    }

    // A rotation vouches for no blob that readers refuse, and sequence 1 stays behind sequence 2 in every epoch.
    @Test func aRecordThatWasPutBackIsNotResealed() throws {
        try sandbox.write(1)
        let old = try sandbox.fixture.blob("r0")
        try sandbox.store.write(ProbeRecord(number: 7), named: "r0")
        try sandbox.fixture.plant(old, "r0")
        let report = try sandbox.rotate()
        #expect(report.isCompleted)
        #expect(report.left.map(\.code) == [.replayed])
        #expect(try sandbox.fixture.blob("r0") == old)
        #expect(code { _ = try sandbox.store.read(ProbeRecord.self, named: "r0") } == .retiredEpoch)
        #expect(try sandbox.store.write(ProbeRecord(number: 8), named: "r0") == 3)
    }

    // As above, one rotation later: a blob that was refused after the first is not resealed by the second.
    @Test func blobsThatACompletedRotationRefusesAreNotResealedByTheNextOne() throws {
        try sandbox.write(1)
        try sandbox.rotate()
        let forged = try sandbox.forge("r0", sequence: 1000)
        try sandbox.fixture.plant(forged, "r0")
        try sandbox.plantStream("late.sealed", [1])
        let report = try sandbox.rotate()
        #expect((report.isCompleted, report.epoch, report.resealed) == (true, 3, 0))
        #expect(report.left.map(\.code) == [.retiredEpoch, .retiredEpoch])
        #expect(try sandbox.fixture.blob("r0") == forged)
    }

    @Test func aFileThatCannotBeLookedAtHoldsTheRotationUp() throws {
        try sandbox.write(1)
        let name = Array(sandbox.path("bad").utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        let file = open(name, O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0)
        close(file)
        let report = try sandbox.rotate()
        #expect(!report.isCompleted)
        #expect(report.left.map(\.isBlocking) == [true])
        #expect(report.resealed == 1)
        #expect(try sandbox.store.rotationStatus().isRotating)
        unlink(name)
        let next = try sandbox.rotate()
        #expect((next.isCompleted, next.epoch, next.resealed) == (true, 2, 0))
    }

    @Test func aContainerThatIsGoneIsNotAnEmptyOne() throws {
        try sandbox.write(1)
        try FileTree.remove(sandbox.fixture.container)
        #expect(code { try sandbox.rotate() } == .containerMissing)
        // The space for resealing is checked first: nothing was begun.
        #expect(try !sandbox.store.vault.rotationState(of: .afterFirstUnlock).isResealing)
    }
}
