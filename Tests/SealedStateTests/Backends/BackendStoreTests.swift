import AppGroups
import Dispatch
import FoundationEssentials
import Glibc
import SealedBackends
import SealedStateSQLite
import SealedStateTestKit
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// A store whose records are in a backend other than that of files, which compares conditions and has faults.
@Suite("Stores on a backend", .timeLimit(.minutes(5))) struct BackendStoreTests {
    let fixture: StoreFixture
    let memory: MemoryBackend
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        let memory = MemoryBackend(seed: 5)
        self.memory = memory
        store = try fixture.open { $0.backend = memory }
    }

    private func another() throws -> SealedStore { try fixture.open { [memory] in $0.backend = memory } }

    @Test func recordsAreInTheBackendAlone() throws {
        #expect(try store.write(Note(text: "one")) == 1)
        #expect(try another().read(Note.self).text == "one")
        #expect(try store.update(Note.self) { $0.number += 7 } == 2)
        #expect(try store.snapshot(of: Note.self).value == Note(text: "one", number: 7))
        #expect(try store.write(Note(text: "two"), named: "a/b", onlyIf: .absent) == 1)
        #expect(code { try store.write(Note(text: "x"), named: "a/b", onlyIf: .sequence(9)) } == .conflict)
        #expect(try store.list().map(\.name) == ["a/b", Note.recordName])
        #expect(try store.delete(named: "a/b") == 2)
        #expect(code { _ = try store.read(Note.self, named: "a/b") } == .absent)
        try store.purge(named: "a/b")
        #expect(try store.list().map(\.name) == [Note.recordName])
        #expect(!SystemFile.exists(fixture.records))
    }

    /// A program on another machine, which has the same vault and other locks.
    private func elsewhere() throws -> (place: TemporaryDirectory, store: SealedStore) {
        let place = try TemporaryDirectory()
        _ = try ChildProcess.run("/bin/cp", ["-a", fixture.place.path + "/.", place.path])
        var options = StoreOptions()
        options.backend = memory
        return (place, try SealedStore(group: fixture.group, in: GroupsHome(root: place.path), options: options))
    }

    // here:  reads 1 ...................... writes: conflict, reads 11, writes 111
    // there:         reads 1, writes 11
    @Test func aConflictIsDecidedAnew() throws {
        try store.write(Note(text: "start", number: 1))
        let (place, other) = try elsewhere()
        var calls = 0
        let sequence = try store.update(Note.self) { note in
            calls += 1
            if calls == 1 { try other.update(Note.self) { $0.number += 10 } }
            note.number += 100
        }
        #expect(calls == 2 && sequence == 3)
        #expect(try other.read(Note.self).number == 111)
        #expect(
            code {
                try store.update(Note.self, timeout: .milliseconds(100)) { note in
                    try other.update(Note.self) { $0.number += 1 }
                    note.number += 1
                }
            } == .lockTimeout)
        withExtendedLifetime(place) {}
    }

    /// A guarded write and its lease are one batch.
    @Test func aLeaseThatIsLostElsewhereStopsAWrite() async throws {
        try await store.write(Note(text: "start"))
        let (place, other) = try elsewhere()
        let code = await asyncCode {
            _ = try await store.withLease("work", for: .seconds(30)) { fence in
                let lease = BackendKey("_sealed/leases/work")
                let stolen = try #require(try memory.read(lease, limit: .max)).bytes
                try memory.commit([BackendWrite(lease, .remove)], durability: .unsynced)
                _ = try await other.withLease("work", for: .seconds(30)) { $0.number }
                #expect(try memory.read(lease, limit: .max)?.bytes != stolen)
                try await store.write(Note(text: "late"), holding: fence)
            }
        }
        #expect(code == .leaseLost)
        #expect(try other.read(Note.self).text == "start")
        withExtendedLifetime(place) {}
    }

    private func asyncCode(_ body: () async throws -> Void) async -> StoreError.Code? {
        do { try await body() } catch { return (error as? StoreError)?.code }
        return nil
    }

    @Test(arguments: [UInt64(1), 2, 3, 4]) func noAcknowledgedIncrementIsLostWithFaults(seed: UInt64) async throws {
        let memory = MemoryBackend(seed: seed, faults: .init(indeterminate: 0.2, repeatedChange: 0.2, resync: 0.2))
        let stores = try (0..<3).map { _ in try fixture.open { $0.backend = memory } }
        try await stores[0].write(Note(text: "counter", number: 0))
        let unknown = try await withThrowingTaskGroup(of: Int.self) { group in
            for store in stores {
                group.addTask {
                    var unknown = 0
                    for _ in 0..<15 {
                        do { try await store.update(Note.self) { $0.number += 1 } } catch let error as StoreError
                            where error.code == .outcomeUnknown
                        {
                            unknown += 1
                        }
                    }
                    return unknown
                }
            }
            return try await group.reduce(0, +)
        }
        // The records' locks exclude other writers, so every outcome can be decided.
        #expect(unknown == 0)
        #expect(try stores[1].read(Note.self).number == 45)
    }

    @Test func watchesSeeChanges() async throws {
        try await store.write(Note(text: "first"))
        var updates = try store.updates(of: Note.self).makeAsyncIterator()
        #expect(await updates.next()?.value?.text == "first")
        try await another().write(Note(text: "second"))
        #expect(await updates.next()?.value?.text == "second")
        var changes = try store.changes().makeAsyncIterator()
        #expect(await changes.next()?.name == Note.recordName)
        try await another().write(Note(text: "third"), named: "third")
        #expect(await changes.next()?.name == "third")
        memory.faults.resync = 1
        try await another().delete(named: "third")
        #expect(await changes.next()?.name == "third")
    }

    @Test func leasesAndSettingsWork() async throws {
        let other = try another()
        let outcome = try await store.withLease("work", for: .seconds(30)) { fence in
            try await other.write(Note(text: "held"), holding: fence)
            return fence.number
        }
        #expect(outcome.value == 1)
        let defaults = try store.defaults()
        try await defaults.set(1, forKey: "key")
        #expect(try other.defaults().integer(forKey: "key") == 1)
        try await other.defaults().set(2, forKey: "key")
        #expect(try defaults.integer(forKey: "key") == 2)
    }

    @Test func aRotationResealsItsRecords() throws {
        for number in 0..<5 { try store.write(Note(text: "text", number: number), named: "n\(number)") }
        try store.delete(named: "n4")
        let report = try store.rotate()
        #expect(report.isCompleted && report.resealed == 5)
        let other = try another()
        for number in 0..<4 {
            let snapshot = try other.snapshot(of: Note.self, named: "n\(number)")
            #expect(snapshot.value.number == number && snapshot.provenance.epoch == 2)
            #expect(snapshot.provenance.sequence == 1)
        }
        memory.faults = .init(indeterminate: 0.3)
        #expect(try store.rotate().isCompleted)
        memory.faults = .none
        #expect(try other.snapshot(of: Note.self, named: "n0").provenance.epoch == 3)
    }

    @Test func aLoweredLimitDoesNotStopARotation() throws {
        try store.write(Note(text: String(repeating: "x", count: 200_000)))
        let smaller = try fixture.open { [memory] options in
            options.backend = memory
            options.maximumRecordSize = 100_000
        }
        let report = try smaller.rotate()
        #expect(report.isCompleted && report.resealed == 1)
        #expect(try another().snapshot(of: Note.self).provenance.epoch == 2)
    }

    @Test func aReplayedBlobIsRefusedAndKept() throws {
        let key = BackendKey(Note.recordName)
        try store.write(Note(text: "old"))
        let old = try #require(try memory.read(key, limit: .max)).bytes
        try store.write(Note(text: "new"))
        try memory.commit([BackendWrite(key, .put(old))], durability: .unsynced)
        let guarded = try fixture.open { [memory] in
            $0.backend = memory
            $0.rejectionPolicy = .quarantine
        }
        #expect(code { _ = try guarded.read(Note.self) } == .replayed)
        #expect(memory.copies.values.contains(old))
    }

    @Test func errorsOfTheBackendAreTheStores() throws {
        memory.faults.failure = 1
        #expect(code { _ = try store.read(Note.self) } == .file)
        #expect(code { try store.write(Note(text: "x"), timeout: .milliseconds(50)) } == .file)
        memory.faults.failure = 0
        #expect(try store.write(Note(text: "x")) == 1)
    }

    #if SQLite
    @Test func aContainerSaysInWhichBackendItsRecordsAre() async throws {
        let fixture = try StoreFixture("group.com.example.sqlite")
        let store = try fixture.open { $0.backend = SQLiteProvider() }
        #expect(try await store.write(Note(text: "one")) == 1)
        #expect(code { _ = try fixture.open() } == .backendUnknown)
        let other = try fixture.open { $0.backend = SQLiteProvider() }
        #expect(try other.read(Note.self).text == "one")
        var updates = try store.updates(of: Note.self).makeAsyncIterator()
        #expect(await updates.next()?.value?.text == "one")
        try await other.write(Note(text: "two"))
        #expect(await updates.next()?.value?.text == "two")
        try await other.defaults().set(3, forKey: "key")
        #expect(try store.defaults().integer(forKey: "key") == 3)
        #expect(try store.rotate().isCompleted)
        #expect(try other.snapshot(of: Note.self).provenance.epoch == 2)
        #expect(!SystemFile.exists(fixture.records))

        // A program that has the backend uses files where the records are files.
        let files = try StoreFixture("group.com.example.files")
        try await files.open().write(Note(text: "in a file"))
        let both = try files.open { $0.backend = SQLiteProvider() }
        #expect(try both.read(Note.self).text == "in a file")
        #expect(both.reader.files != nil)
    }

    /// A program has an empty container open with files when another one names its backend.
    @Test func aProgramFollowsToTheBackendThatAnEmptyContainerGets() throws {
        let fixture = try StoreFixture("group.com.example.named")
        let early = try fixture.open(creating: true)
        let both = try fixture.open()
        var options = both.options
        options.backend = SQLiteProvider()
        let reader = SealedStore(both, options: options)
        #expect(reader.reader.files != nil)
        let first = try fixture.open { $0.backend = SQLiteProvider() }
        try first.write(Note(text: "one"))
        #expect(code { _ = try early.read(Note.self) } == .backendUnknown)
        #expect(code { try early.write(Note(text: "lost")) } == .backendUnknown)
        #expect(try reader.read(Note.self).text == "one")
        #expect(try reader.write(Note(text: "two")) == 2)
        #expect(try first.read(Note.self).text == "two")
        #expect(!SystemFile.exists(fixture.records))

        // Without `creating` an empty container stays one of files.
        let unnamed = try StoreFixture("group.com.example.unnamed")
        _ = try unnamed.open()
        let opened = try unnamed.open(creating: false) { $0.backend = SQLiteProvider() }
        #expect(try opened.write(Note(text: "a file")) == 1)
        #expect(SystemFile.exists(unnamed.file(Note.recordName)))
    }

    /// Closing any descriptor of the database would end this process's locks on it.
    @Test func aRotationKeepsTheLocksOfTheDatabase() throws {
        let fixture = try StoreFixture("group.com.example.locks")
        let store = try fixture.open { $0.backend = SQLiteProvider() }
        try store.write(Note(text: "one"))
        let database = fixture.container + "/Library/Application Support/Records.sqlite"
        var status = stat()
        #expect(stat(database + "-shm", &status) == 0)
        let inode = ":\(status.st_ino) "
        func locks() throws -> Int {
            String(decoding: try SystemFile.read("/proc/locks"), as: UTF8.self).split(separator: "\n")
                .count { $0.contains("POSIX") && $0.contains(inode) }
        }
        let before = try locks()
        #expect(before > 0)
        #expect(try store.rotate().isCompleted)
        _ = try store.rotationStatus()
        #expect(try locks() >= before)
    }

    /// A database whose vault is lost may have records that only that vault's keys open.
    @Test func noNewKeyIsMadeBesideADatabase() throws {
        let fixture = try StoreFixture("group.com.example.lost")
        try fixture.open { $0.backend = SQLiteProvider() }.write(Note(text: "one"))
        for directory in ["Vaults", "Keys", "Places", "Watermarks"] {
            try? FileTree.remove(fixture.place.path(directory))
        }
        #expect(code { _ = try fixture.open { $0.backend = SQLiteProvider() } } == .orphanedBlobs)
    }

    /// Copies are kept while other threads commit.
    @Test func commitsAndCopiesShareTheLine() throws {
        let place = try TemporaryDirectory()
        let provider = SQLiteProvider()
        let backend = try provider.open(BackendPlace(group: "g", directory: place.path, isShared: false))
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { number in
            let key = BackendKey("k\(number)")
            for round in 0..<40 {
                do {
                    let blob = [UInt8](repeating: UInt8(round), count: 200 + number)
                    try backend.commit([BackendWrite(key, .put(blob))], durability: .unsynced)
                    if try backend.read(key, limit: .max)?.bytes != blob { failures.withLock { $0.append("read") } }
                    _ = try backend.preserve(key, reason: "a test", limit: 1000)
                } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        #expect(failures.withLock { $0 } == [])
    }

    @Test func manyProcessesMayOpenItAtOnce() throws {
        let place = try TemporaryDirectory()
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 16) { number in
            do {
                let backend = try SQLiteProvider().open(
                    BackendPlace(group: "g", directory: place.path, isShared: false))
                try backend.commit([BackendWrite(BackendKey("k\(number)"), .put([1]))], durability: .unsynced)
            } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        let backend = try SQLiteProvider().open(BackendPlace(group: "g", directory: place.path, isShared: false))
        #expect(try backend.scan("", after: nil, limit: 100).count == 16)
        #expect(try SystemFile.names(place.path + "/Library/Application Support").allSatisfy { !$0.contains(".new.") })
    }

    @Test func aReplacedDatabaseIsGone() throws {
        let place = try TemporaryDirectory()
        let backend = try SQLiteProvider().open(BackendPlace(group: "g", directory: place.path, isShared: false))
        let path = place.path + "/Library/Application Support/Records.sqlite"
        #expect(rename(path, path + ".old") == 0)
        #expect(throws: BackendError.self) { try backend.head(BackendKey("k")) }
        #expect(throws: BackendError.self) {
            try backend.commit([BackendWrite(BackendKey("k"), .put([1]))], durability: .unsynced)
        }
    }

    @Test func aJournalBesideTheDatabaseIsRefused() throws {
        let fixture = try StoreFixture("group.com.example.journal")
        let provider = SQLiteProvider()
        try fixture.open { $0.backend = provider }.write(Note(text: "one"))
        let database = fixture.container + "/Library/Application Support/Records.sqlite"
        try SystemFile.write(database + "-journal", [1, 2, 3])
        #expect(code { _ = try fixture.open { $0.backend = provider } } == .file)
        #expect(SystemFile.exists(database + "-journal"))
    }

    @Test func aContainerThatAUnixGroupMayWriteIsRefused() throws {
        let place = BackendPlace(group: "group.x", directory: fixture.place.path, isShared: true)
        #expect(throws: BackendError.self) { try SQLiteProvider().open(place) }
    }
    #endif
}
