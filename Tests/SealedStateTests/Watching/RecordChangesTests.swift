import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

@Suite("RecordChanges", .timeLimit(.minutes(10)))
struct RecordChangesTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    @Test func existingRecordsComeFirst() async throws {
        try await store.write(Note(text: "a"), named: "b")
        try await store.write(Note(text: "a"), named: "deep/er/a")
        let changes = Following(try store.changes())
        let first = try await changes.next()
        #expect(first.name == "b" && first.isInitial && first.provenance?.sequence == 1)
        let second = try await changes.next()
        #expect(second.name == "deep/er/a" && second.isInitial)
        try await store.write(Note(text: "c"), named: "deep/er/a")
        let third = try await changes.next()
        #expect(third.name == "deep/er/a" && !third.isInitial && third.provenance?.sequence == 2)
    }

    @Test func recordsInNewDirectoriesAreReported() async throws {
        let changes = Following(try store.changes())
        for name in ["first", "a/b/c/d/e/f/g/h", "a/b/other", "x/y"] {
            try await store.write(Note(text: name), named: name)
            #expect(try await changes.next(\.name) == name)
        }
    }

    @Test func theLibrarysOwnRecordsAreLeftOut() async throws {
        let changes = Following(try store.changes())
        _ = try await store.withLease("refresh", for: .seconds(1)) { _ in }
        try await store.write(Note(text: "a"))
        #expect(try await changes.next(\.name) == Note.recordName)
    }

    @Test func aDeletionIsReportedAndThePurgeAfterIt() async throws {
        try await store.write(Note(text: "a"))
        let changes = Following(try store.changes())
        #expect(try await changes.next(\.word) == "value")
        try await store.delete(Note.self)
        let deleted = try await changes.next()
        #expect(deleted.word == "deleted" && deleted.provenance?.sequence == 2 && deleted.error == nil)
        try await store.purge(named: Note.recordName)
        #expect(try await changes.next(\.word) == "absent")
        try await store.write(Note(text: "b"))
        #expect(try await changes.next(\.word) == "value")
    }

    @Test func aRefusalIsReportedWithItsReason() async throws {
        try await store.write(Note(text: "first"))
        let old = try fixture.blob()
        try await store.write(Note(text: "second"))
        let changes = Following(try store.changes())
        #expect(try await changes.next(\.word) == "value")
        try fixture.plant(old)
        #expect(try await changes.next(\.refusal) == .replayed)
        var bad = old
        bad[bad.count - 1] ^= 1
        try fixture.plant(bad)
        #expect(try await changes.next(\.refusal) == .tampered)
        try await store.write(Note(text: "third"))
        #expect(try await changes.next(\.provenance?.sequence) == 3)
    }

    @Test func unnameableFilesAreReportedAsRefused() async throws {
        let changes = Following(try store.changes())
        try fixture.plant([1], "a name with späces")
        let change = try await changes.next()
        #expect(change.name == "a name with späces" && change.refusal == .invalidName)
    }

    @Test func aTouchedFileShowsNothing() async throws {
        try await store.write(Note(text: "a"), named: "a")
        let changes = Following(try store.changes())
        #expect(try await changes.next(\.name) == "a")
        try fixture.plant(try SystemFile.read(fixture.file("a")), "a")
        chmod(fixture.file("a"), 0o640)
        try await store.write(Note(text: "b"), named: "b")
        #expect(try await changes.next(\.name) == "b")
    }

    @Test func aProgramThatResetsTheTimesIsNotifiedOfAll() async throws {
        try await store.write(Note(text: "a"))
        let changes = Following(try store.changes())
        #expect(try await changes.next(\.word) == "value")
        var before = stat()
        #expect(stat(fixture.file(Note.recordName), &before) == 0)
        var bytes = try fixture.blob()
        bytes[bytes.count - 1] ^= 1
        let file = open(fixture.file(Note.recordName), O_WRONLY)
        #expect(write(file, bytes, bytes.count) == bytes.count)
        let times = [before.st_atim, before.st_mtim]
        #expect(futimens(file, times) == 0)
        close(file)
        #expect(try await changes.next(\.refusal) == .tampered)
    }

    @Test func namedRecordsAreReportedAsAbsentAndNoOthersAtAll() async throws {
        let changes = Following(try store.changes(of: ["a/b", Note.recordName]))
        let first = try await changes.next()
        #expect(first.name == "a/b" && first.word == "absent" && first.isInitial)
        #expect(try await changes.next(\.name) == Note.recordName)
        try await store.write(Note(text: "x"), named: "other")
        try await store.write(Note(text: "x"), named: "a/b")
        let third = try await changes.next()
        #expect(third.name == "a/b" && third.word == "value" && !third.isInitial)
    }

    @Test func aNameWithoutAValidFormIsRefused() throws {
        #expect(code { _ = try store.changes(of: ["no name"]) } == .invalidName)
    }

    @Test func aValueThatExpiresIsReportedAsStale() async throws {
        try await store.write(Note(text: "a", expiresAt: Date() + 3), named: "a")
        let changes = Following(try store.changes())
        #expect(try await changes.next(\.word) == "value")
        #expect(try await changes.next(\.refusal) == .stale)
    }

    @Test func theContainerIsRemovedAndMadeAgain() async throws {
        try await store.write(Note(text: "a"), named: "a/b")
        let changes = Following(try store.changes())
        #expect(try await changes.next(\.word) == "value")
        try FileTree.remove(fixture.container)
        #expect(try await changes.next { $0.word != "value" }.error?.code != nil)
        let successor = try fixture.open()
        try await successor.write(Note(text: "b"), named: "a/b")
        let change = try await changes.next { $0.word == "value" }
        #expect(change.name == "a/b" && !change.isInitial)
        try await successor.write(Note(text: "c"), named: "new")
        #expect(try await changes.next { $0.name == "new" }.word == "value")
    }

    @Test func aDirectoryThatIsMovedAwayTakesItsRecords() async throws {
        try await store.write(Note(text: "a"), named: "a/b/c")
        let changes = Following(try store.changes())
        #expect(try await changes.next(\.word) == "value")
        let directory = "\(fixture.records)/a"
        #expect(rename(directory, directory + "-away") == 0)
        var seen: [String: String] = [:]
        while seen.count < 2 {
            let change = try await changes.next()
            seen[change.name] = change.refusal?.rawValue ?? change.word
        }
        #expect(seen == ["a/b/c": "absent", "a-away/b/c": "wrongName"])
    }

    @Test func severalIteratorsReceiveEverything() async throws {
        let sequence = try store.changes()
        let (first, second) = (Following(sequence), Following(sequence))
        try await store.write(Note(text: "a"))
        #expect(try await first.next(\.name) == Note.recordName)
        #expect(try await second.next(\.name) == Note.recordName)
    }

    @Test func itEndsWithItsTask() async throws {
        let changes = try store.changes()
        let task = Task {
            var count = 0
            for await _ in changes { count += 1 }
            return count
        }
        task.cancel()
        #expect(await task.value == 0)
    }

    /// Writers write while the consumer is busy: it gets each record's last state, even if it missed others.
    @Test func nothingIsMissedAtTheEnd() async throws {
        let changes = Following(try store.changes())
        let store = store
        let writers = (0..<2).map { writer in
            Task {
                for round in 1...60 {
                    try await store.write(Note(text: "", number: round), named: "d\(round % 5)/w\(writer)")
                }
            }
        }
        var last: [String: UInt64] = [:]
        while last.values.filter({ $0 == 12 }).count < 10 {
            let change = try await changes.next()
            let sequence = try #require(change.provenance?.sequence)
            #expect(sequence > last[change.name] ?? 0)
            last[change.name] = sequence
        }
        for writer in writers { try await writer.value }
        #expect(last.count == 10)
    }
}

/// An iterator that can be used in the middle of an expectation.
private final class Following {
    private var iterator: RecordChanges.Iterator

    init(_ changes: RecordChanges) { iterator = changes.makeAsyncIterator() }

    func next() async throws -> RecordChange {
        let change = await iterator.next()
        return try #require(change)
    }

    func next<Part>(_ part: KeyPath<RecordChange, Part>) async throws -> Part { try await next()[keyPath: part] }

    func next(where fits: (RecordChange) -> Bool) async throws -> RecordChange {
        while true {
            let change = try await next()
            if fits(change) { return change }
        }
    }
}

extension RecordChange {
    fileprivate var word: String {
        switch outcome {
        case .value: "value"
        case .deleted: "deleted"
        case .absent: "absent"
        case .rejected: "rejected"
        }
    }

    fileprivate var refusal: StoreError.Code? {
        if case .rejected(let error) = outcome { error.code } else { nil }
    }
}
