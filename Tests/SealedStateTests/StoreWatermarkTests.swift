import AppGroups
import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import TestSupport
import Testing

@testable import KeyVault
@testable import SealedState

/// Tests of watermarks: no reader accepts an older state than before, within a process, across processes and restarts.
@Suite struct StoreWatermarkTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func write(_ number: Int, _ size: Int = 10) throws -> String {
        try fixture.probe("store-write", "\(number)", "\(size)", "durable")
    }

    private var refused: StoreError.Code? { code { _ = try store.read(Note.self) } }

    private func marks() throws -> [UInt8] { try SystemFile.read(fixture.marks) }

    // MARK: Within a process

    @Test func anOldBlobIsAReplay() throws {
        var blobs: [[UInt8]] = []
        for number in 1...3 {
            try store.write(Note(text: "x", number: number))
            blobs.append(try fixture.blob())
        }
        for old in blobs.dropLast() {
            try fixture.plant(old)
            #expect(refused == .replayed)
            #expect(store.readIfValid(Note.self) == nil)
        }
        try fixture.plant(blobs[2])
        #expect(try store.read(Note.self).number == 3)
    }

    @Test func anotherStoreOfTheProcessRemembersTheSame() throws {
        try store.write(Note(text: "x"))
        let old = try fixture.blob()
        try store.write(Note(text: "y"))
        try fixture.plant(old)
        let other = try fixture.open()
        #expect(code { _ = try other.read(Note.self) } == .replayed)
    }

    @Test func anotherBlobOfTheSameSequenceIsAFork() throws {
        try store.write(Note(text: "x"))
        try fixture.plant(try Forgery(store).blob)
        #expect(refused == .forked)
    }

    @Test func aLeapOfTheSequenceIsRefused() throws {
        try store.write(Note(text: "x"))
        var forgery = try Forgery(store)
        forgery.sequence = 2 + 1 << 32
        try fixture.plant(forgery.blob)
        #expect(refused == .sequenceJump)
        forgery.sequence -= 1
        try fixture.plant(forgery.blob)
        #expect(refused == nil)
    }

    @Test func aWriteRepairsAReplay() throws {
        try store.write(Note(text: "x"))
        let old = try fixture.blob()
        try store.write(Note(text: "y"))
        try fixture.plant(old)
        #expect(try store.write(Note(text: "z")) == 3)
        #expect(try store.read(Note.self).text == "z")
    }

    @Test func firstContactTrustsWhatItFindsAndIsReported() throws {
        #expect(store.watermarkCondition == .firstContact)
        var forgery = try Forgery(store)
        forgery.sequence = 1 << 48 + 1
        try fixture.plant(forgery.blob)
        #expect(refused == .sequenceJump)
        forgery.sequence = 1 << 40
        try fixture.plant(forgery.blob)
        #expect(refused == nil)
    }

    // MARK: Across processes

    @Test func anotherProcessRefusesWhatIsOlder() throws {
        // one child:     write 1, write 2
        // another child: ................. read 1 (put back): replayed
        #expect(try write(1) == "written 1")
        let old = try fixture.blob("probe")
        #expect(try write(2) == "written 2")
        #expect(try fixture.probe("store-read") == "2 10 2")
        try fixture.plant(old, "probe")
        #expect(try fixture.probe("store-read") == "replayed")
        #expect(try write(3) == "written 3")
        #expect(try fixture.probe("store-read") == "3 10 3")
    }

    @Test func aReadByAnotherProcessCounts() throws {
        // A reader in another process accepts 2. This process wrote it and remembers it, so a third process must know
        // it from the file.
        var forgery = try Forgery(store)
        forgery.name = ProbeRecord.recordName
        forgery.schemaVersion = 1
        forgery.payload = .bytes(Array(#"{"number":1,"text":""}"#.utf8))
        let old = forgery.blob
        forgery.sequence = 2
        try fixture.plant(forgery.blob, "probe")
        #expect(try fixture.probe("store-read") == "1 0 2")
        try fixture.plant(old, "probe")
        #expect(try fixture.probe("store-read") == "replayed")
    }

    // we:    write 1 ................. (1 put back) .. write: must go beyond 3
    // child: ........ write 2, write 3 ............................ read: not a replay
    @Test(arguments: ["put back", "removed", "damaged"])
    func aWriterGoesBeyondEverySequenceThatOthersAccepted(_ what: String) throws {
        try store.write(ProbeRecord(number: 1))
        let old = try fixture.blob("probe")
        #expect(try write(2) == "written 2")
        #expect(try write(3) == "written 3")
        switch what {
        case "put back": try fixture.plant(old, "probe")
        case "removed": unlink(fixture.file("probe"))
        default: try fixture.plant([], "probe")
        }
        #expect(try store.write(ProbeRecord(number: 4)) == 4)
        #expect(try fixture.probe("store-read") == "4 0 4")
    }

    @Test func anUpdateDoesNotLaunderARollback() throws {
        try store.write(ProbeRecord(number: 1))
        let old = try fixture.blob("probe")
        #expect(try write(2) == "written 2")
        try fixture.plant(old, "probe")
        #expect(code { try store.update(ProbeRecord.self) { $0.number += 10 } } == .replayed)
        #expect(try fixture.blob("probe") == old)
    }

    // MARK: Across restarts

    private static let before = BootID(
        bytes: Bytes16(filling: { $0.copyBytes(from: [UInt8](repeating: 7, count: 16)) }))

    /// Changes every remembered state to one of another boot, as after a restart.
    private func restart() throws {
        let watermarkKey = store.vault.heldContents.watermarkKey
        let bytes = try marks()
        var moved: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: WatermarkEntry.size) {
            let entry = Array(bytes[start..<start + WatermarkEntry.size]).withRawBytes {
                WatermarkEntry(parsing: $0, key: watermarkKey.secret)
            }
            let known = try #require(entry)
            moved += WatermarkEntry(name: known.name, state: known.state, boot: Self.before)
                .encoded(key: watermarkKey.secret)
        }
        try SystemFile.write(fixture.marks, moved)
    }

    // before: write 1, 2, 3 (durable), 4 (not)     restart     after: 3 may be all that is left; 2 may not
    @Test func afterARestartTheLastAcknowledgedDurableWriteIsTheFloor() throws {
        var blobs: [[UInt8]] = []
        for number in 1...4 {
            let durability = number == 4 ? "unsynced" : "durable"
            #expect(try fixture.probe("store-write", "\(number)", "10", durability) == "written \(number)")
            blobs.append(try fixture.blob("probe"))
        }
        try fixture.plant(blobs[2], "probe")
        #expect(try fixture.probe("store-read") == "replayed")
        try restart()
        for old in blobs[..<2] {
            try fixture.plant(old, "probe")
            #expect(try fixture.probe("store-read") == "replayed")
        }
        try fixture.plant(blobs[2], "probe")
        #expect(try fixture.probe("store-read") == "3 10 3")
        // The lost value is written again, from its sequence.
        #expect(try write(5) == "written 4")
        #expect(try fixture.probe("store-read") == "5 10 4")
        try fixture.plant(blobs[2], "probe")
        #expect(try fixture.probe("store-read") == "replayed")
    }

    // writer: 5 (durable) ....... 6 (not) ....... 7 (durable) .. power loss: 5 is what the disk has
    // reader: ............ read 5 ....... read 6 ............. read 7
    @Test func aReadValueMayNotHaveBeenAcknowledged() throws {
        var blobs: [[UInt8]] = []
        for sequence in 4...7 as ClosedRange<UInt64> {
            var forgery = try Forgery(store)
            forgery.name = ProbeRecord.recordName
            forgery.schemaVersion = 1
            forgery.payload = .bytes(Array(#"{"number":1,"text":""}"#.utf8))
            forgery.sequence = sequence
            if sequence == 6 { forgery.flags = .unsynced }
            blobs.append(forgery.blob)
            try fixture.plant(forgery.blob, "probe")
            #expect(try fixture.probe("store-read") == "1 0 \(sequence)")
        }
        try restart()
        try fixture.plant(blobs[0], "probe")
        #expect(try fixture.probe("store-read") == "replayed")
        try fixture.plant(blobs[1], "probe")
        #expect(try fixture.probe("store-read") == "1 0 5")
    }

    // MARK: The file

    @Test func aReadThatAdvancedNothingWritesNothing() throws {
        try store.write(Note(text: "x"))
        let before = try SystemFacts(fixture.marks)
        for _ in 0..<10 { _ = try store.read(Note.self) }
        _ = try store.list()
        #expect(try SystemFacts(fixture.marks) == before)
        _ = try fixture.probe("store-list")
        #expect(try fixture.probe("store-read", "note") == "tooNew")
        #expect(try SystemFacts(fixture.marks) == before)
        try store.write(Note(text: "y"))
        #expect(try SystemFacts(fixture.marks).size == before.size + 128)
    }

    @Test func aDamagedFileIsReportedAndItsIntactEntriesHold() throws {
        #expect(try write(1) == "written 1")
        let old = try fixture.blob("probe")
        #expect(try write(2) == "written 2")
        try SystemFile.write(fixture.marks, [UInt8](repeating: 7, count: 128) + (try marks()))
        let bytes = try marks()
        try fixture.plant(old, "probe")
        #expect(try fixture.probe("store-read") == "replayed")
        #expect(try fixture.probe("store-condition") == "damaged: 1 entries are not authentic")
        #expect(try marks() == bytes)
    }

    @Test func aLostFileIsReportedUntilAPersonAcceptsIt() throws {
        #expect(try write(1) == "written 1")
        let old = try fixture.blob("probe")
        #expect(try write(2) == "written 2")
        let path = try fixture.marks
        unlink(path)
        #expect(try fixture.probe("store-condition").hasPrefix("lost"))
        // States in the new file are enforced; the loss of the old file is still reported.
        #expect(try fixture.probe("store-read") == "2 10 2")
        try fixture.plant(old, "probe")
        #expect(try fixture.probe("store-read") == "replayed")
        #expect(try fixture.probe("store-condition").hasPrefix("lost"))
        try Vault.accept(AccessGroup(fixture.group), in: fixture.home)
        #expect(try fixture.probe("store-condition") == "intact")
        try fixture.plant(old, "probe")
        #expect(try fixture.probe("store-read") == "replayed")
    }

    @Test func aPlaceThatCannotBeWrittenFailsNoRead() throws {
        #expect(try write(1) == "written 1")
        try FileTree.remove(fixture.place.path("Watermarks"))
        try SystemFile.write(fixture.place.path("Watermarks"), [])
        #expect(try fixture.probe("store-read") == "1 10 1")
        #expect(try write(2) == "written 2")
        #expect(try fixture.probe("store-condition").hasPrefix("unreadable"))
        #expect(try store.write(Note(text: "x")) == 1)
        let old = try fixture.blob()
        guard case .unreadable = store.watermarkCondition else {
            Issue.record("\(store.watermarkCondition)")
            return
        }
        // The state is enforced in memory, and is written as soon as writing works again.
        #expect(try store.write(Note(text: "y")) == 2)
        try fixture.plant(old)
        #expect(refused == .replayed)
        unlink(fixture.place.path("Watermarks"))
        #expect(try store.write(Note(text: "z"), named: "other") == 1)
        #expect(store.watermarkCondition == .lost)
        #expect(try marks().count == 256)
        #expect(try fixture.probe("store-read", "note") == "replayed")
    }

    @Test func aDirectoryThatOthersMayWriteIsNotUsed() throws {
        try store.write(Note(text: "x"))
        let bytes = try marks()
        #expect(chmod(fixture.place.path("Watermarks"), 0o777) == 0)
        #expect(try store.write(Note(text: "y")) == 2)
        guard case .unreadable = store.watermarkCondition else {
            Issue.record("\(store.watermarkCondition)")
            return
        }
        #expect(try marks() == bytes)
    }

    @Test func anotherVaultBeginsAgain() throws {
        // The old container and vault were removed on purpose; states remembered of them are no obstacle.
        #expect(try write(1) == "written 1")
        #expect(try write(2) == "written 2")
        for directory in ["Containers", "Vaults", "Places"] { try FileTree.remove(fixture.place.path(directory)) }
        #expect(try write(1) == "written 1")
        #expect(try fixture.probe("store-read") == "1 10 1")
    }
}

/// A file's size, time and identity.
struct SystemFacts: Equatable {
    let size: Int
    let seconds: Int
    let nanoseconds: Int
    let inode: UInt64

    init(_ path: String) throws {
        var status = stat()
        try #require(lstat(path, &status) == 0)
        (size, inode) = (Int(status.st_size), UInt64(status.st_ino))
        (seconds, nanoseconds) = (status.st_mtim.tv_sec, status.st_mtim.tv_nsec)
    }
}
