import FoundationEssentials
import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of purging: an explicit removal of a deleted record's tombstone.
@Suite(.timeLimit(.minutes(10))) struct StorePurgingTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try store.write(Note(text: "secret words"))
    }

    private var refused: StoreError.Code? { code { _ = try store.read(Note.self) } }

    @Test func aPurgeLeavesNothingOfADeletedRecord() throws {
        try store.delete(Note.self)
        try store.purge(named: Note.recordName)
        #expect(!SystemFile.exists(fixture.file("note")))
        #expect(refused == .absent)
        #expect(try store.list().isEmpty)
        #expect(try fixture.staleFiles() == [])
        #expect(code { try store.update(Note.self) { $0.number = 1 } } == .absent)
    }

    @Test func anOldBlobThatIsPutBackIsRefused() throws {
        let value = try fixture.blob()
        try store.delete(Note.self)
        let tombstone = try fixture.blob()
        try store.purge(named: Note.recordName)
        try fixture.plant(value)
        #expect(refused == .replayed)
        #expect(try fixture.probe("store-read", "note") == "replayed")
        unlink(fixture.file("note"))
        try fixture.plant(tombstone)
        #expect(refused == .absent || refused == .replayed)
    }

    @Test func theNextWriteContinuesBeyondIt() throws {
        let deleted = try store.delete(Note.self)
        try store.purge(named: Note.recordName)
        #expect(try store.write(Note(text: "again"), onlyIf: .absent) > deleted)
        #expect(try store.read(Note.self).text == "again")
        #expect(try fixture.probe("store-list") == "note")
    }

    /// Returns the store of another user of the same home, with the vault's credentials and watermarks of their own.
    private func stranger() throws -> SealedStore {
        let place = try TemporaryDirectory()
        try place.directory("Keys")
        try SystemFile.write(place.path("Keys/\(fixture.group).key"), try SystemFile.read(fixture.keyFile))
        var options = StoreOptions()
        options.now = { withExtendedLifetime(place) { Date() } }
        return try SealedStore(
            group: fixture.group, in: GroupsHome(root: fixture.place.path, userRoot: place.path), options: options)
    }

    // this user:    write 1 ......... write 2, delete 3
    // another user: ........ read 1 ................... purge
    @Test(arguments: [Durability.durable, .unsynced])
    func aReaderThatMissedTheDeletionRemembersThePurge(_ durability: Durability) throws {
        let other = try stranger()
        let value = try fixture.blob()
        #expect(try other.read(Note.self).text == "secret words")
        try store.write(Note(text: "newer"))
        try store.delete(Note.self, durability: durability)
        try other.purge(named: Note.recordName)
        #expect(other.acceptedNames.isEmpty)
        try fixture.plant(value)
        #expect(code { _ = try other.read(Note.self) } == .replayed)
        unlink(fixture.file("note"))
        #expect(code { _ = try other.read(Note.self) } == .absent)
        #expect(try other.write(Note(text: "again"), onlyIf: .absent) == (durability == .durable ? 4 : 5))
        #expect(try store.read(Note.self).text == "again")
    }

    @Test func aValueIsNotPurged() throws {
        let blob = try fixture.blob()
        #expect(code { try store.purge(named: Note.recordName) } == .conflict)
        #expect(try fixture.blob() == blob)
    }

    @Test func nothingToPurgeIsAbsent() throws {
        #expect(code { try store.purge(named: "never") } == .absent)
        try store.delete(Note.self)
        try store.purge(named: Note.recordName)
        #expect(code { try store.purge(named: Note.recordName) } == .absent)
        #expect(code { try store.delete(Note.self) } == .absent)
        #expect(!SystemFile.exists(fixture.file("note")))
    }

    @Test func refusedRecordsAreNotPurged() throws {
        try store.delete(Note.self)
        let tombstone = try fixture.blob()
        try store.write(Note(text: "newer"))
        // An old deletion that was put back, and bytes that are not a blob.
        for blob in [tombstone, Array("plain".utf8)] {
            try fixture.plant(blob)
            #expect(code { try store.purge(named: Note.recordName) } == .conflict)
            #expect(try fixture.blob() == blob)
        }
    }

    @Test func aRemovedRecordIsMissingAndNotPurged() throws {
        unlink(fixture.file("note"))
        #expect(code { try store.purge(named: Note.recordName) } == .absent)
        #expect(store.acceptedNames.count == 1)
        #expect(try store.delete(Note.self) == 2)
        try store.purge(named: Note.recordName)
    }

    @Test func aPurgedRecordIsNotMissed() throws {
        #expect(store.acceptedNames.count == 1)
        try store.delete(Note.self)
        try store.purge(named: Note.recordName)
        #expect(store.acceptedNames.isEmpty)
        try store.write(Note(text: "again"))
        #expect(store.acceptedNames.count == 1)
    }

    @Test func aPurgeWaitsForTheRecordsLock() throws {
        try store.delete(Note.self)
        let child = try ChildProcess(
            "sealed-probe", ["lock", fixture.container, ".sealedstate.lock", "whole", "exclusive", "1000"])
        #expect(try child.readLine() == "held")
        #expect(code { try store.purge(named: "note", timeout: .milliseconds(20)) } == .lockTimeout)
        #expect(SystemFile.exists(fixture.file("note")))
        child.kill(SIGKILL)
        _ = try child.finish()
    }
}
