import FoundationEssentials
import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

@Suite struct StoreWritingTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func header(_ name: String = Note.recordName) throws -> BlobHeader {
        try UnverifiedHeader(parsing: try fixture.blob(name)).claimed
    }

    // MARK: Sequences and names

    @Test func everyWriteIsOneMore() throws {
        for sequence in 1...5 as ClosedRange<UInt64> {
            #expect(try store.write(Note(text: "x", number: Int(sequence))) == sequence)
            #expect(try store.snapshot(of: Note.self).provenance.sequence == sequence)
        }
        #expect(try store.write(Note(text: "x"), named: "other") == 1)
    }

    @Test func severalRecordsOfOneTypeCoexist() throws {
        let names = ["a", "a/b", "a/b/c", "a.b", "accounts/ada", "accounts/grace"]
        for name in names { try store.write(Note(text: name), named: name) }
        for name in names { #expect(try store.read(Note.self, named: name).text == name) }
        #expect(try store.list().map(\.name) == names.sorted())
        #expect(SystemFile.exists(fixture.records + "/a/b/c.sealed"))
    }

    @Test func aStoreThatIsOpenedLaterContinues() throws {
        try store.write(Note(text: "x"))
        #expect(try fixture.open(creating: false).write(Note(text: "y")) == 2)
        #expect(try store.read(Note.self).text == "y")
    }

    // MARK: Refusals before the write

    @Test func anInvalidValueIsNotWritten() throws {
        #expect(code { try store.write(Note(text: Note.forbidden)) } == .invalid)
        #expect(!SystemFile.exists(fixture.file("note")))
        try store.write(Note(text: "fine"))
        let blob = try fixture.blob()
        #expect(code { try store.write(Note(text: Note.forbidden)) } == .invalid)
        #expect(code { try store.update(Note.self) { $0.text = Note.forbidden } } == .invalid)
        #expect(try fixture.blob() == blob)
    }

    @Test func aValueBeyondTheSizeLimitIsNotWritten() throws {
        let note = Note(text: String(repeating: "x", count: 500))
        let size = try JSONCodec.encode(note).count
        let small = try fixture.open { $0.maximumRecordSize = size - 1 }
        #expect(code { try small.write(note) } == .tooLarge)
        #expect(!SystemFile.exists(fixture.file("note")))
        let exact = try fixture.open { $0.maximumRecordSize = size }
        #expect(try exact.write(note) == 1)
        // A small value replaces one that is too large for this store to read.
        #expect(try small.write(Note(text: "y")) == 2)
    }

    private struct Zero: SealedRecord { static let (recordName, schemaVersion) = ("odd", 0) }
    private struct Negative: SealedRecord { static let (recordName, schemaVersion) = ("odd", -1) }
    private struct Beyond: SealedRecord { static let (recordName, schemaVersion) = ("odd", Int(UInt32.max) + 1) }

    @Test func aSchemaVersionOutOfRangeIsUnencodable() {
        #expect(code { try store.write(Zero()) } == .unencodable)
        #expect(code { try store.write(Negative()) } == .unencodable)
        #expect(code { try store.write(Beyond()) } == .unencodable)
    }

    // MARK: The file

    @Test func theHeaderSaysHowDurableTheWriteIs() throws {
        try store.write(Note(text: "x"), durability: .unsynced)
        #expect(try header().flags == .unsynced)
        try store.write(Note(text: "x"), durability: .durable)
        #expect(try header().flags == [])
        try store.delete(Note.self, durability: .unsynced)
        #expect(try header().flags == [.unsynced, .tombstone])
        let durable = try fixture.open { $0.durability = .durable }
        try durable.write(Note(text: "x"))
        #expect(try header().flags == [])
    }

    @Test(arguments: ["000", "022", "077"]) func modesDoNotDependOnTheUmask(_ mask: String) throws {
        let fresh = try StoreFixture()
        let probe = builtProduct("sealed-probe")
        let script = "umask \(mask); exec \(probe) store-write \(fresh.place.path) \(fresh.group) 1 10 durable a/b"
        #expect(try ChildProcess.run("/bin/sh", ["-c", script]).outputText == "written 1\n")
        for file in try fresh.files() { #expect(try SystemFile.mode(fresh.place.path(file)) == 0o600, "\(file)") }
        for directory in ["", "/Library", "/Library/Application Support/Records/a"] {
            #expect(try SystemFile.mode(fresh.container + directory) == 0o700)
        }
    }

    @Test func aFinishedWriteLeavesNothingElse() throws {
        for name in ["a", "a/b"] { try store.write(Note(text: "x"), named: name) }
        #expect(try SystemFile.names(fixture.records) == ["a", "a.sealed"])
        #expect(try SystemFile.names(fixture.records + "/a") == ["b.sealed"])
        #expect(try fixture.staleFiles() == [])
    }

    // MARK: Lists

    @Test func aListShowsDeletedAndRefusedRecordsAsSuch() throws {
        for name in ["deleted", "fine", "moved"] { try store.write(Note(text: "x"), named: name) }
        try store.delete(named: "deleted")
        try fixture.plant(try fixture.blob("fine"), "moved")
        try fixture.plant(Array("plain".utf8), "plain")
        let list = try store.list()
        #expect(list.map(\.name) == ["deleted", "fine", "moved", "plain"])
        #expect(list.map(\.isDeleted) == [true, false, false, false])
        #expect(list.map { $0.rejection?.code } == [nil, nil, .wrongName, .malformed])
        #expect(list.map { $0.provenance?.sequence } == [2, 1, nil, nil])
    }

    /// A Boolean value: another user can access the probe and a home; false if they are below a private directory.
    private static let canSwitchUser: Bool = {
        guard geteuid() == 0, ChildProcess.canRunUnprivileged, let place = try? TemporaryDirectory() else {
            return false
        }
        return withExtendedLifetime(place) {
            chmod(place.path, 0o755)
            let words = ["-c", "ls \(place.path) && \(builtProduct("sealed-probe")); test $? = 64"]
            return (try? ChildProcess.runUnprivileged("/bin/sh", words).exitCode) == 0
        }
    }()

    @Test(.enabled(if: canSwitchUser, "needs another user who reaches the build and the temporary directory"))
    func aListThatCannotBeCompleteIsAnError() throws {
        // Root reads everything, so the child runs as another user, and the home is his.
        let fresh = try StoreFixture()
        try fresh.open().write(Note(text: "x"), named: "hidden/note")
        try FileTree.give(fresh.place.path, to: 65534)
        chmod(fresh.records + "/hidden", 0)
        let words = ["store-list", fresh.place.path, fresh.group.identifier]
        #expect(try ChildProcess.runUnprivileged("sealed-probe", words).outputText == "permissionDenied\n")
    }
}
