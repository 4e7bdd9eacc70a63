import FoundationEssentials
import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of deletions: a tombstone cannot be undone unnoticed.
@Suite struct StoreDeletingTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private var refused: StoreError.Code? { code { _ = try store.read(Note.self) } }

    @Test func aDeletionIsTheNextSequence() throws {
        try store.write(Note(text: "secret words"))
        #expect(try store.delete(Note.self) == 2)
        #expect(refused == .absent)
        let blob = try fixture.blob()
        #expect(blob.count == BlobLayout.blobSize(plaintextSize: 0))
        #expect(try UnverifiedHeader(parsing: blob).claimed.flags.contains(.tombstone))
        #expect(try store.write(Note(text: "again")) == 3)
        #expect(try store.read(Note.self).text == "again")
    }

    @Test func nothingToDeleteIsAbsent() throws {
        #expect(code { try store.delete(named: "never") } == .absent)
        #expect(!SystemFile.exists(fixture.file("never")))
        try store.write(Note(text: "x"))
        try store.delete(Note.self)
        #expect(code { try store.delete(Note.self) } == .absent)
    }

    @Test func aDeletionIsNotUndoneByTheOldFile() throws {
        try store.write(Note(text: "x"))
        let old = try fixture.blob()
        try store.delete(Note.self)
        try fixture.plant(old)
        #expect(refused == .replayed)
        #expect(try store.delete(Note.self) == 3)
        #expect(refused == .absent)
    }

    @Test func anUpdateOfADeletedRecordBeginsAgain() throws {
        try store.write(Note(text: "old"))
        try store.delete(Note.self)
        #expect(code { try store.update(Note.self) { $0.number += 1 } } == .absent)
        #expect(try store.update(Note.self, startingWith: Note(text: "new")) { $0.number += 1 } == 3)
        #expect(try store.read(Note.self) == Note(text: "new", number: 1))
    }

    @Test func aDamagedRecordIsKeptWhenItIsDeleted() throws {
        try store.write(Note(text: "x"))
        try fixture.plant(Array("plain".utf8))
        #expect(try store.delete(Note.self) == 2)
        #expect(refused == .absent)
        #expect(try SystemFile.names(fixture.quarantine).filter { $0.hasSuffix(".sealed") }.count == 1)
    }

    @Test func aTombstoneWithContentsIsRefused() throws {
        // A valid tag on contents that no tombstone has: two changed bits of an honest blob never pass the tag.
        try store.write(Note(text: "x"))
        var blob = try fixture.blob()
        blob[Field.flags] |= BlobFlags.tombstone.rawValue
        try fixture.plant(blob)
        #expect(refused == .malformed)
    }

    @Test func deletingWhatWasTakenAwayLeavesATombstone() throws {
        try store.write(Note(text: "signed in"))
        let old = try fixture.blob()
        unlink(fixture.file(Note.recordName))
        #expect(try store.delete(Note.self) == 2)
        try fixture.plant(old)
        #expect(refused == .replayed)
    }

    @Test func anOldTombstoneIsNotADeletion() throws {
        try store.write(Note(text: "first"))
        try store.delete(Note.self)
        let tombstone = try fixture.blob()
        try store.write(Note(text: "signed in"))
        let current = try fixture.blob()
        try fixture.plant(tombstone)
        #expect(try store.delete(Note.self) == 4)
        try fixture.plant(current)
        #expect(refused == .replayed)
    }
}
