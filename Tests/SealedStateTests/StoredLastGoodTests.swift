import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import Sealing
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Tests of last good values that survive a restart: each store that is opened is like a program that starts.
@Suite(.timeLimit(.minutes(5))) struct StoredLastGoodTests {
    let fixture: StoreFixture
    let clock = TestClock(Date())

    init() throws { fixture = try StoreFixture() }

    /// Opens a store that has remembered nothing in memory.
    private func start(_ policy: RejectionPolicy = .storeLastGood) throws -> SealedStore {
        try fixture.open { [clock] options in
            options.rejectionPolicy = policy
            options.now = { clock.now }
        }
    }

    private func snapshot(_ policy: RejectionPolicy = .storeLastGood) throws -> RecordSnapshot<Note> {
        try start(policy).snapshot(of: Note.self)
    }

    /// Writes and reads a value with a program that ends.
    private func show(_ note: Note, as policy: RejectionPolicy = .storeLastGood) throws {
        try start(.refuse).write(note)
        _ = try snapshot(policy)
    }

    private func forged(_ sequence: UInt64, _ change: (inout Forgery) throws -> Void = { _ in }) throws -> [UInt8] {
        var forgery = try Forgery(start(.refuse))
        forgery.sequence = sequence
        try change(&forgery)
        return forgery.blob
    }

    private func tombstone(_ sequence: UInt64) throws -> [UInt8] {
        try forged(sequence) { forgery in
            (forgery.flags, forgery.codec, forgery.payload.raw) = (.tombstone, .raw, [])
        }
    }

    private var directory: String {
        get throws {
            let top = fixture.place.path("LastGood")
            return "\(top)/\(try #require(try SystemFile.names(top).first))"
        }
    }

    private var files: [String] {
        get throws {
            guard SystemFile.exists(fixture.place.path("LastGood")) else { return [] }
            return try SystemFile.names(directory)
        }
    }

    @Test(arguments: Fault.allCases) func aProgramThatStartsHasTheLastGoodValue(_ fault: Fault) throws {
        try show(Note(text: "first"))
        try show(Note(text: "second"))
        try fixture.plant(forged(fault == .old ? 1 : 3) { if fault != .old { try fault.apply(to: &$0) } })
        for _ in 0..<2 {
            let answer = try snapshot()
            #expect(answer.value.text == "second" && answer.rejection?.code == fault.code)
            #expect(answer.provenance.sequence == 2)
        }
    }

    @Test func aProcessOfItsOwnHasIt() throws {
        let store = try start(.refuse)
        try store.write(ProbeRecord(number: 7))
        #expect(try fixture.probe("store-last-good") == "7 1")
        try fixture.plant([1, 2, 3], ProbeRecord.recordName)
        #expect(try fixture.probe("store-last-good") == "7 1 malformed")
        try store.write(ProbeRecord(number: 8))
        #expect(try fixture.probe("store-last-good") == "8 2")
    }

    @Test func aValueThatAProgramWroteIsOne() throws {
        try start().write(Note(text: "written"))
        try fixture.plant([1, 2, 3])
        let answer = try snapshot()
        #expect(answer.value.text == "written" && answer.rejection?.code == .malformed)
    }

    @Test func withoutThePolicyNothingIsStoredOrShown() throws {
        try show(Note(text: "first"), as: .keepLastGood)
        #expect(try files.isEmpty)
        try show(Note(text: "first"))
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot(.keepLastGood) } == .malformed)
        #expect(code { _ = try snapshot(.refuse) } == .malformed)
    }

    @Test func itIsTheSealedBlobAndPrivate() throws {
        try show(Note(text: "a canary of the stored value"))
        let path = "\(try directory)/\(try #require(try files.first))"
        #expect(try Array(SystemFile.read(path).dropFirst(KeptBlob.headSize)) == fixture.blob())
        for (path, mode) in [(path, 0o600), (try directory, 0o700), (fixture.place.path("LastGood"), 0o700)] {
            var facts = stat()
            #expect(lstat(path, &facts) == 0 && facts.st_mode & 0o7777 == mode_t(mode))
        }
    }

    @Test func anUnchangedRecordIsNotStoredAgain() throws {
        try show(Note(text: "first"))
        let path = "\(try directory)/\(try #require(try files.first))"
        func inode() -> ino_t {
            var facts = stat()
            return lstat(path, &facts) == 0 ? facts.st_ino : 0
        }
        let first = inode()
        let store = try start()
        for _ in 0..<3 { _ = try store.read(Note.self) }
        #expect(inode() == first)
        unlink(path)
        // The process knows the value, and looks no more at the disk.
        _ = try store.read(Note.self)
        #expect(inode() == 0)
    }

    @Test func itEndsWithItsOwnExpiry() throws {
        try show(Note(text: "short", expiresAt: clock.now + 60))
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().value.text == "short")
        clock.advance(by: 61)
        #expect(code { _ = try snapshot() } == .malformed)
        // Setting the clock back does not revive it.
        clock.advance(by: -30)
        #expect(code { _ = try snapshot() } == .malformed)
        #expect(try files.isEmpty)
    }

    @Test(arguments: [RejectionPolicy.refuse, .storeLastGood])
    func aDeletionEndsIt(_ policy: RejectionPolicy) throws {
        try show(Note(text: "first"))
        try start(policy).delete(Note.self)
        #expect(try files.isEmpty)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
    }

    // This user:   read 1 ................................... start: refused, and 1 is not shown
    // Another one: ....... delete (2) ... read 2 by this user's refusing program ... the tombstone is damaged
    @Test func anAcceptedDeletionOfAnotherUserEndsIt() throws {
        try show(Note(text: "first"))
        try fixture.plant(tombstone(2))
        #expect(code { _ = try snapshot(.refuse) } == .absent)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
        #expect(try files.isEmpty)
    }

    @Test func aReadOfTheDeletionRemovesTheFile() throws {
        try show(Note(text: "first"))
        try fixture.plant(tombstone(2))
        #expect(code { _ = try snapshot() } == .absent)
        #expect(try files.isEmpty)
    }

    @Test func aRefusedStateBeyondUnseenOnesEndsIt() throws {
        // Between 1 and 3 there may have been a deletion.
        try show(Note(text: "first"))
        try fixture.plant(forged(3) { $0.schemaVersion = 99 })
        #expect(code { _ = try snapshot() } == .tooNew)
    }

    // running:  read 1 ................................... read: 3 is too new, and 1 is not shown
    // others:   ....... delete (2) ... write (3) .........
    @Test(arguments: [RejectionPolicy.keepLastGood, .storeLastGood])
    func aDeletionBetweenTheReadsOfARunningProgramEndsIt(_ policy: RejectionPolicy) throws {
        try show(Note(text: "first"))
        let running = try start(policy)
        _ = try running.read(Note.self)
        try start(.refuse).delete(Note.self)
        try fixture.plant(forged(3) { $0.schemaVersion = 99 })
        #expect(code { _ = try running.snapshot(of: Note.self) } == .tooNew)
        #expect(try files.isEmpty)
    }

    // running:  read 1 ........................ read: refused, and 2 is shown
    // another:  ....... read 2 ... damage .....
    @Test func aRunningProgramHasTheValueOfAnother() throws {
        try show(Note(text: "first"))
        let running = try start()
        _ = try running.read(Note.self)
        try show(Note(text: "second"))
        try fixture.plant([1, 2, 3])
        let answer = try running.snapshot(of: Note.self)
        #expect(answer.value.text == "second" && answer.rejection?.code == .malformed)
    }

    @Test func aFileThatIsMissingForAMomentLeavesIt() throws {
        try show(Note(text: "first"))
        #expect(unlink(fixture.file(Note.recordName)) == 0)
        #expect(code { _ = try snapshot() } == .absent)
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().value.text == "first")
    }

    @Test func anOldFileThatIsPutBackIsNotShown() throws {
        try show(Note(text: "first"))
        let path = "\(try directory)/\(try #require(try files.first))"
        let old = try SystemFile.read(path)
        try show(Note(text: "second"))
        try SystemFile.write(path, old)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
        #expect(try files.isEmpty)
    }

    @Test(arguments: [[], [1, 2, 3], Array("SLGV".utf8) + [UInt8](repeating: 0, count: 400)] as [[UInt8]])
    func aDamagedFileCountsForNothing(_ bytes: [UInt8]) throws {
        try show(Note(text: "first"))
        try SystemFile.write("\(try directory)/\(try #require(try files.first))", bytes)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
        try start(.refuse).write(Note(text: "second"))
        _ = try snapshot()
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().value.text == "second")
    }

    @Test func aRotationEndsIt() throws {
        try show(Note(text: "first"))
        var options = RotationOptions()
        options.durability = .unsynced
        #expect(try start(.refuse).rotate(options).isCompleted)
        #expect(try files.isEmpty)
        let resealed = try fixture.blob()
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
        try fixture.plant(resealed)
        #expect(try snapshot().rejection == nil)
        try fixture.plant([1, 2, 3])
        #expect(try snapshot().value.text == "first")
    }

    @Test func aFileUnderARetiredKeyIsNotShown() throws {
        try show(Note(text: "first"))
        let path = "\(try directory)/\(try #require(try files.first))"
        let kept = try SystemFile.read(path)
        var options = RotationOptions()
        options.durability = .unsynced
        try start(.refuse).rotate(options)
        try fixture.plant([1, 2, 3])
        try SystemFile.write(path, kept)
        #expect(code { _ = try snapshot() } == .malformed)
    }

    @Test func theContainersOfAGroupAreNotMixed() throws {
        try show(Note(text: "of the former container"))
        let successor = try start(.refuse).makeSuccessor()
        _ = try GroupRegistry(fixture.group, in: fixture.home).reset(filling: successor.fill)
        _ = try start(.refuse)
        try fixture.plant([1, 2, 3])
        #expect(code { _ = try snapshot() } == .malformed)
    }

    @Test func aContainerThatIsAwayLeavesIt() throws {
        try show(Note(text: "first"))
        let store = try start()
        let refusing = try start(.keepLastGood)
        _ = try refusing.read(Note.self)
        #expect(rename(fixture.container, fixture.place.path("away")) == 0)
        // The registry does not list it yet, so it may have been removed for good.
        #expect(code { _ = try store.snapshot(of: Note.self) } == .containerMissing)
        #expect(rename(fixture.place.path("away"), fixture.container) == 0)
        try GroupRegistry(fixture.group, in: fixture.home).setQuota(1 << 30)
        #expect(rename(fixture.container, fixture.place.path("away")) == 0)
        let answer = try store.snapshot(of: Note.self)
        #expect(answer.value.text == "first" && answer.rejection?.code == .containerMissing)
        #expect(code { _ = try refusing.snapshot(of: Note.self) } == .containerMissing)
        #expect(code { _ = try store.snapshot(of: Note.self, named: "another") } == .containerMissing)
        // A store is opened on a container.
        #expect(code { _ = try fixture.open(creating: false) } == .containerMissing)
        #expect(rename(fixture.place.path("away"), fixture.container) == 0)
        #expect(try store.snapshot(of: Note.self).rejection == nil)
    }

    @Test func aFailureToStoreIsReportedAndReadsContinue() throws {
        let errors = Mutex<[StoreError]>([])
        try SystemFile.write(fixture.place.path("LastGood"), [])
        let store = try fixture.open { options in
            options.rejectionPolicy = .storeLastGood
            options.onRejection = { error in errors.withLock { $0.append(error) } }
        }
        try store.write(Note(text: "first"))
        #expect(try store.read(Note.self).text == "first")
        let found = errors.withLock { $0 }
        #expect(found.map(\.code) == [.file] && found.allSatisfy { !$0.isRejection })
        // The next read tries again.
        unlink(fixture.place.path("LastGood"))
        #expect(try store.read(Note.self).text == "first")
        #expect(try files.count == 1)
    }

    @Test func watchersHaveIt() async throws {
        try show(Note(text: "first"))
        try fixture.plant([1, 2, 3])
        let updates = Watching(try start().updates(of: Note.self))
        let kept = try await updates.next()
        #expect(kept.value?.text == "first" && kept.rejection?.code == .malformed)
    }
}

/// Tests of the stored files and their limits.
@Suite struct LastGoodFilesTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func tag(_ number: Int) -> NameTag {
        BlobContext(group: "group.com.example.store", kind: .record, name: "r\(number)").nameTag
    }

    private func mark(_ sequence: UInt64, _ byte: UInt8?) -> Watermark {
        let commitment = byte.map { byte in
            Commitment(bytes: [UInt8](repeating: byte, count: 32).withUnsafeBytes { Bytes32($0) })
        }
        return Watermark(epoch: 1, sequence: sequence, commitment: commitment)
    }

    private func kept(in files: LastGoodFiles, _ count: Int) -> [Bool] {
        (0..<count).map { files.load(tag($0), limit: 1000) != nil }
    }

    @Test func theOldestGoesBeyondTheCount() throws {
        let files = LastGoodFiles(vault: store.vault, maximumCount: 3)
        for number in 0..<4 {
            try files.store(KeptBlob(covered: mark(1, 1), sealed: [1]), for: tag(number))
            usleep(20_000)
        }
        #expect(kept(in: files, 4) == [false, true, true, true])
    }

    @Test func theOldestGoBeyondTheSize() throws {
        let files = LastGoodFiles(vault: store.vault, maximumSize: 300)
        for number in 0..<4 {
            try files.store(
                KeptBlob(covered: mark(1, 1), sealed: [UInt8](repeating: 1, count: 50)), for: tag(number))
            usleep(20_000)
        }
        #expect(kept(in: files, 4) == [false, true, true, true])
        try files.store(KeptBlob(covered: mark(2, 1), sealed: [UInt8](repeating: 1, count: 301)), for: tag(3))
        #expect(kept(in: files, 4) == [false, true, true, false])
    }

    @Test func aLaterStateThatIsStillGoodStays() throws {
        let files = LastGoodFiles(vault: store.vault)
        let (former, later) = (
            KeptBlob(covered: mark(1, 1), sealed: [1]), KeptBlob(covered: mark(2, 2), sealed: [2])
        )
        try files.store(later, for: tag(0))
        try files.store(former, for: tag(0), unless: { _ in true })
        #expect(files.load(tag(0), limit: 1000)?.sealed == [2])
        try files.store(former, for: tag(0), unless: { _ in false })
        #expect(files.load(tag(0), limit: 1000)?.sealed == [1])
    }

    @Test func theValuesOfAFormerVaultGo() throws {
        let top = fixture.place.path("LastGood")
        let names = ["\(fixture.group).0123456789abcdef", "\(fixture.group).x.0123456789abcdef"]
        for path in [top] + names.map({ "\(top)/\($0)" }) { #expect(mkdir(path, 0o700) == 0) }
        try LastGoodFiles(vault: store.vault).store(KeptBlob(covered: mark(1, 1), sealed: [1]), for: tag(0))
        let left = try SystemFile.names(top)
        #expect(left.count == 2 && left.contains(names[1]))
    }

    @Test func onlyTheAcceptedStateIsCurrent() {
        let kept = KeptBlob(covered: mark(5, 1), sealed: [1])
        #expect(kept.isCurrent(after: mark(5, 1)))
        #expect(!kept.isCurrent(after: mark(5, 2)) && !kept.isCurrent(after: mark(6, 3)))
        #expect(!kept.isCurrent(after: mark(4, 1 << 7)) && !kept.isCurrent(after: nil))
        // After a restart of the machine the commitment is not known.
        #expect(kept.isCurrent(after: mark(5, nil)) && kept.isCurrent(after: mark(4, nil)))
        #expect(!kept.isCurrent(after: mark(6, nil)))
    }

    @Test func theFormatIsThatOfItsDocument() throws {
        let kept = KeptBlob(covered: mark(0x0102, 7), sealed: [8, 9])
        let head: [UInt8] = Array("SLGV".utf8) + [1, 0, 0, 0, 2, 1, 0, 0, 0, 0, 0, 0]
        #expect(kept.encoded == head + [UInt8](repeating: 7, count: 32) + [8, 9])
        let parsed = try #require(KeptBlob(parsing: kept.encoded))
        #expect(parsed.covered.sequence == 0x0102 && parsed.sealed == [8, 9])
        #expect(KeptBlob(parsing: Array(kept.encoded.prefix(48))) == nil)
    }
}
