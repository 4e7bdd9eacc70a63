#if SQLite
import AppGroups
import Dispatch
import FoundationEssentials
import Glibc
import KeyVault
import SealedBackends
import SealedStateSQLite
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// A container whose records are in a database: its quota, its space, its copies and its faults.
@Suite("Containers with a database", .timeLimit(.minutes(5))) struct DatabaseContainerTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private var database: String { fixture.container + "/Library/Application Support/Records.sqlite" }
    private var registry: GroupRegistry { GroupRegistry(fixture.group, in: fixture.home) }

    private func open(_ change: (inout StoreOptions) -> Void = { _ in }) throws -> SealedStore {
        try fixture.open { options in
            options.backend = SQLiteProvider()
            change(&options)
        }
    }

    private func note(of size: Int) -> Note { Note(text: String(repeating: "x", count: size)) }

    @Test func theQuotaIsKept() throws {
        let store = try open()
        try store.write(note(of: 3000))
        let used = try GroupContainer.open(fixture.group, in: fixture.home, creating: false).usage().total.bytes
        try registry.setQuota(used + 1000)
        #expect(code { try store.write(note(of: 5000), named: "large") } == .quotaExceeded)
        #expect(
            code {
                try store.transaction { transaction in
                    for number in 0..<4 { try transaction.write(note(of: 300), named: "small\(number)") }
                }
            } == .quotaExceeded)
        #expect(code { _ = try store.read(Note.self, named: "large") } == .absent)
        // It replaces a value of the same size.
        try store.write(note(of: 3000))
        try store.delete(named: Note.recordName)
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aFullDiskLetsRecordsBeDeleted() throws {
        mkdir(fixture.place.path("Containers"), 0o700)
        mkdir(fixture.container, 0o700)
        let disk = try SmallFileSystem(at: fixture.container, options: "size=2m")
        let store = try open()
        for number in 0..<4 { try store.write(note(of: 2000), named: "n\(number)") }
        try disk.fillBytes()
        let failure = refusal { for number in 0..<200 { try store.write(note(of: 20_000), named: "more\(number)") } }
        #expect(failure?.code == .noSpace)
        try store.delete(named: "n0")
        #expect(code { _ = try store.read(Note.self, named: "n0") } == .absent)
        #expect(try store.read(Note.self, named: "n3") == note(of: 2000))
        unlink(fixture.container + "/fill")
        try store.write(note(of: 20_000), named: "after")
    }

    /// The last program that closes a database removes the files beside it; the next one needs space for them.
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aDatabaseIsOpenedOnAFullDisk() throws {
        mkdir(fixture.place.path("Containers"), 0o700)
        mkdir(fixture.container, 0o700)
        let disk = try SmallFileSystem(at: fixture.container, options: "size=2m")
        do {
            let store = try open()
            for number in 0..<4 { try store.write(note(of: 2000), named: "n\(number)") }
        }
        #expect(!SystemFile.exists(database + "-wal"))
        try disk.fillBytes()
        let store = try open()
        #expect(try store.read(Note.self, named: "n3") == note(of: 2000))
        try store.delete(named: "n0")
        #expect(code { _ = try store.read(Note.self, named: "n0") } == .absent)
    }

    /// A removed database is never made again: its records would be absent without a reason.
    @Test func aMissingDatabaseIsAnError() throws {
        try open().write(Note(text: "one"))
        for end in ["", "-wal", "-shm"] { unlink(database + end) }
        let error = refusal { _ = try open() }
        #expect(error?.code == .containerMissing && error?.reason.contains("database") == true)
        #expect(!SystemFile.exists(database))
        #expect(code { _ = try fixture.open() } == .backendUnknown)
    }

    /// A name that was lost leaves a database: a program that has it makes no empty container of it.
    @Test func aDatabaseWithoutANameIsNotAdopted() throws {
        try open().write(Note(text: "one"))
        let running = try open()
        unlink(fixture.container + "/.sealedstate.backend")
        #expect(code { _ = try open() } == .container)
        #expect(code { _ = try fixture.open(creating: false) { $0.backend = SQLiteProvider() } } == .container)
        #expect(code { try running.write(Note(text: "lost")) } == .container)
        #expect(SystemFile.exists(database) && !SystemFile.exists(fixture.records))
    }

    /// A program was killed after it had made the database and before it named it.
    @Test func anEmptyDatabaseWithoutANameIsUsed() throws {
        _ = try open()
        unlink(fixture.container + "/.sealedstate.backend")
        #expect(try open().write(Note(text: "one")) == 1)
        #expect(!SystemFile.exists(fixture.records))
    }

    /// Abandoning a vault moves the database and its name to the quarantine.
    @Test func anAbandonedContainerIsUsable() throws {
        try open().write(Note(text: "one"))
        unlink(fixture.keyFile)
        _ = try Vault.abandon(AccessGroup(fixture.group), in: fixture.home, slots: [.defaultKeyFile])
        #expect(!SystemFile.exists(database))
        let store = try open()
        #expect(code { _ = try store.read(Note.self) } == .absent)
        try store.write(Note(text: "two"))
        #expect(try open().read(Note.self).text == "two")
    }

    @Test func aRefusedContainerIsNotNamed() throws {
        mkdir(fixture.place.path("Containers"), 0o700)
        mkdir(fixture.container, 0o700)
        for path in [fixture.place.path, fixture.place.path("Containers"), fixture.container] { chmod(path, 0o2770) }
        #expect(code { _ = try open() } == .container)
        #expect(!SystemFile.exists(fixture.container + "/.sealedstate.backend"))
        #expect(try fixture.open().write(Note(text: "a file")) == 1)
    }

    @Test func aCopyHasOneMomentsRecords() throws {
        let store = try open()
        try store.transaction { transaction in
            for name in ["a", "b"] { try transaction.write(Note(text: name, number: 0), named: name) }
        }
        let copies = try TemporaryDirectory()
        let writer = try open()
        DispatchQueue.concurrentPerform(iterations: 2) { side in
            for number in 1...20 {
                if side == 0 {
                    try? writer.transaction { transaction in
                        for name in ["a", "b"] { try transaction.write(Note(text: name, number: number), named: name) }
                    }
                } else if number % 4 == 0 {
                    let place = copies.path("\(number)")
                    mkdir(place, 0o700)
                    do { try store.backend.copy(to: place) } catch { Issue.record("\(error)") }
                }
            }
        }
        for name in try SystemFile.names(copies.path) {
            let place = BackendPlace(group: "g", directory: copies.path(name), isShared: false, isNew: false)
            let copy = try SQLiteProvider().open(place)
            try copy.examine()
            let sequences = try ["a", "b"].map { name in
                try UnverifiedSequence.of(try #require(try copy.read(BackendKey(name), limit: .max)).bytes)
            }
            #expect(sequences[0] == sequences[1], "\(name)")
        }
        #expect(throws: BackendError.self) { try store.backend.copy(to: copies.path("4")) }
    }

    @Test func aDamagedPageIsFound() throws {
        do {
            let store = try open()
            for number in 0..<50 { try store.write(note(of: 500), named: "n\(number)") }
            try store.backend.examine()
        }
        var bytes = try SystemFile.read(database)
        for index in 8192..<12_000 { bytes[index] = 0xA5 }
        try SystemFile.write(database, bytes)
        let store = try? open()
        #expect(throws: BackendError.self) {
            guard let store else { throw BackendError(.damaged, "open", "it", "It is damaged.") }
            try store.backend.examine()
        }
    }

    /// Restoring a container from the trash needs the keys of its database's records.
    @Test func keysOfADatabaseInTheTrashAreNeeded() throws {
        let store = try open()
        try store.write(Note(text: "one"))
        _ = try registry.reset(filling: try store.makeSuccessor().fill)
        #expect(SystemFile.exists(database))
        #expect(code { _ = try store.read(Note.self) } == .absent)
        try store.write(Note(text: "two"))
        #expect(try store.snapshot(of: Note.self).provenance.sequence > 1 << 20)
        #expect(try store.rotate().isCompleted)
        let old = try store.rotationStatus().keys.first { $0.epoch == 1 }
        #expect(old?.obstacles.contains { if case .trashed = $0 { true } else { false } } == true)
    }

    /// A program without the backend cannot say which keys a database in the trash needs.
    @Test func aDatabaseThatCannotBeReadNeedsEveryKey() throws {
        try open().write(Note(text: "one"))
        _ = try registry.reset()
        let store = try fixture.open()
        try store.write(Note(text: "two"))
        #expect(try store.rotate().isCompleted)
        let status = try store.rotationStatus()
        #expect(status.unknown.contains { $0.path.hasSuffix("Records.sqlite") })
        #expect(status.keys.first { $0.epoch == 1 }?.obstacles.isEmpty == false)
    }

    /// The name of a database was lost, and a program without that backend has written files beside it.
    @Test func aDatabaseWithoutANameHoldsUpARotation() throws {
        try open().write(Note(text: "one"))
        unlink(fixture.container + "/.sealedstate.backend")
        let store = try fixture.open()
        try store.write(Note(text: "two"), named: "two")
        let first = try store.rotate()
        #expect(!first.isCompleted)
        let status = try store.rotationStatus()
        #expect(status.unknown.contains { $0.path.hasSuffix("Records.sqlite") })
        // Set aside, it is still a database of records.
        #expect(rename(database, database + ".moved") == 0)
        let second = try store.rotate()
        #expect(!second.isCompleted)
    }

    /// A program was killed after it had made the database and before it named it; another one has written files.
    @Test func anEmptyDatabaseHoldsUpNoRotation() throws {
        _ = try open()
        unlink(fixture.container + "/.sealedstate.backend")
        try fixture.open().write(Note(text: "one"))
        let examined = try open().rotate()
        #expect(examined.isCompleted)
        // Without the backend a program cannot examine it.
        let unexamined = try fixture.open().rotate()
        #expect(!unexamined.isCompleted)
    }

    /// Values that are read together are compared; nothing is written for that.
    @Test func aViewWritesNothing() throws {
        let store = try open()
        for name in ["a", "b"] { try store.write(Note(text: name), named: name) }
        let size = try SystemFile.read(database + "-wal").count
        for _ in 0..<10 {
            try store.transaction { transaction in
                for name in ["a", "b"] {
                    let text = try transaction.read(Note.self, named: name).text
                    #expect(text == name)
                }
            }
        }
        #expect(try SystemFile.read(database + "-wal").count == size)
    }

    /// A further name of the database's file: reading it would end this process's locks.
    @Test func noFileOfADatabaseIsSearched() throws {
        let store = try open()
        try store.write(Note(text: "one"))
        let second = database + ".new.5eed"
        #expect(link(database, second) == 0)
        #expect(try store.rotationStatus().unknown.isEmpty)
        #expect(ContainerLayout.isDatabase("Library/Application Support/Records.sqlite.new.5eed"))
    }

    /// A record of a database may have a name like a path of the quarantine.
    @Test func aRecordIsNoCopyInQuarantine() throws {
        let store = try open()
        try store.write(Note(text: "one"), named: "Quarantine/x")
        #expect(try store.rotationStatus().keys.first { $0.epoch == 1 }?.blobCount == 1)
    }

    /// A reset has held the lock that the move has waited for.
    @Test func aMoveStaysInItsContainer() throws {
        try open().write(Note(text: "one"))
        let former = try GroupContainer.open(fixture.group, in: fixture.home, creating: false)
        _ = try registry.reset(filling: try open().makeSuccessor().fill)
        try open().write(Note(text: "two"))
        let move = BackendMove(of: former, SQLiteProvider(), timeout: .seconds(5))
        #expect(code { _ = try move.toFiles() } == .containerMissing)
        #expect(try open().read(Note.self).text == "two")
        #expect(SystemFile.exists(database) && !SystemFile.exists(fixture.records))
    }
}

/// The sequence in a blob's header.
enum UnverifiedSequence {
    static func of(_ blob: [UInt8]) throws -> UInt64 { try UnverifiedHeader(parsing: blob).claimed.sequence }
}
#endif
