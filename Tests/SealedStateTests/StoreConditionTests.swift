import FoundationEssentials
import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of compare-and-swap: writes that depend on the current value.
@Suite(.timeLimit(.minutes(10))) struct StoreConditionTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    /// The ways to write: a failed condition refuses each of them alike.
    enum Way: CaseIterable {
        case write, update, delete

        func use(_ store: SealedStore, _ condition: WriteCondition) throws {
            switch self {
            case .write: try store.write(Note(text: "new"), onlyIf: condition)
            case .update:
                try store.update(Note.self, startingWith: Note(text: "x"), onlyIf: condition) { $0.text = "new" }
            case .delete: try store.delete(Note.self, onlyIf: condition)
            }
        }
    }

    private func expectConflict(_ condition: WriteCondition) throws {
        let before = try? fixture.blob()
        for way in Way.allCases {
            #expect(code { try way.use(store, condition) } == .conflict, "\(way)")
            #expect((try? fixture.blob()) == before)
        }
        #expect(!SystemFile.exists(fixture.quarantine))
    }

    // MARK: Fulfilled conditions

    @Test func theSequenceOfAWriteServesTheNextOne() throws {
        let first = try store.write(Note(text: "a"), onlyIf: .absent)
        let second = try store.write(Note(text: "b"), onlyIf: .sequence(first))
        #expect(try store.update(Note.self, onlyIf: .sequence(second)) { $0.text += "c" } == 3)
        #expect(try store.delete(Note.self, onlyIf: .sequence(3)) == 4)
        #expect(try store.write(Note(text: "d"), onlyIf: .absent) == 5)
    }

    @Test func theSequenceOfAReadServesAsWell() throws {
        try store.write(Note(text: "a"))
        let other = try fixture.open()
        let sequence = try other.snapshot(of: Note.self).provenance.sequence
        #expect(try other.write(Note(text: "b"), onlyIf: .sequence(sequence)) == 2)
        #expect(code { try store.write(Note(text: "c"), onlyIf: .sequence(sequence)) } == .conflict)
        #expect(try store.read(Note.self).text == "b")
    }

    @Test func aFileThatIsGoneIsAbsent() throws {
        try store.write(Note(text: "a"))
        unlink(fixture.file("note"))
        #expect(code { try store.write(Note(text: "b"), onlyIf: .sequence(1)) } == .conflict)
        #expect(try store.write(Note(text: "b"), onlyIf: .absent) == 2)
    }

    @Test func anExpiredValueIsTheSequenceThatItIs() throws {
        let clock = TestClock()
        let store = try fixture.open { $0.now = { clock.now } }
        try store.write(Note(text: "a", expiresAt: clock.now.addingTimeInterval(10)))
        clock.advance(by: 60)
        #expect(try store.write(Note(text: "b"), onlyIf: .sequence(1)) == 2)
    }

    // MARK: Failed conditions

    @Test func nothingIsNotASequence() throws { try expectConflict(.sequence(1)) }
    @Test func noRecordHasTheSequenceZero() throws { try expectConflict(.sequence(0)) }

    @Test(arguments: [WriteCondition.absent, .sequence(1), .sequence(3), .sequence(.max)])
    func anotherSequenceIsAConflict(_ condition: WriteCondition) throws {
        for text in ["a", "b"] { try store.write(Note(text: text)) }
        try expectConflict(condition)
    }

    @Test func aDeletionIsNotASequence() throws {
        try store.write(Note(text: "a"))
        try store.delete(Note.self)
        try expectConflict(.sequence(2))
        try expectConflict(.sequence(1))
    }

    @Test func aRefusedBlobMeetsNoCondition() throws {
        try store.write(Note(text: "a"))
        let first = try fixture.blob()
        try store.write(Note(text: "b"))
        let second = try fixture.blob()
        try store.delete(Note.self)
        let damaged = second.enumerated().map { $0 == Field.commitment ? ~$1 : $1 }
        // Put back, put back over a newer deletion, damaged, no blob at all.
        for blob in [first, second, damaged, Array("plain".utf8), []] {
            try fixture.plant(blob)
            for condition in [WriteCondition.absent, .sequence(1), .sequence(2), .sequence(3)] {
                try expectConflict(condition)
            }
        }
    }

    @Test func aForkIsNotTheSequenceThatWasRead() throws {
        try store.write(Note(text: "a"))
        try fixture.plant(try Forgery(store).blob)
        #expect(code { _ = try store.read(Note.self) } == .forked)
        try expectConflict(.sequence(1))
    }

    @Test func theConflictNamesBothSequences() throws {
        try store.write(Note(text: "a"))
        let error = try #require(refusal { try store.write(Note(text: "b"), onlyIf: .sequence(77)) })
        #expect(error.reason.contains("77") && error.reason.contains("1"))
        try fixture.plant([])
        let refused = try #require(refusal { try store.write(Note(text: "b"), onlyIf: .absent) })
        #expect((refused.cause as? StoreError)?.code == .malformed)
    }

    @Test func theChangeOfAnUpdateIsNotAskedForWhenTheConditionFails() throws {
        try store.write(Note(text: "a"))
        var calls = 0
        #expect(code { try store.update(Note.self, onlyIf: .sequence(9)) { _ in calls += 1 } } == .conflict)
        #expect(calls == 0)
    }

    //  A                              B
    //  read 1                         read 1
    //  write if 1: 2
    //                                 write if 1: conflict; again
    @Test func ofWritersThatRaceOnASequenceOneWins() throws {
        try store.write(Note(text: "x"))
        let results = try concurrently(4) { [store] _ in
            var done = 0
            while done < 25 {
                let snapshot = try store.snapshot(of: Note.self)
                var note = snapshot.value
                note.number += 1
                do throws(StoreError) {
                    try store.write(note, onlyIf: .sequence(snapshot.provenance.sequence))
                    done += 1
                } catch {
                    #expect(error.code == .conflict)
                }
            }
        }
        for result in results { try result.get() }
        #expect(try store.read(Note.self).number == 100)
        #expect(try store.snapshot(of: Note.self).provenance.sequence == 101)
    }

    @Test func theAsyncFormsHaveTheSameConditions() async throws {
        #expect(try await store.write(Note(text: "a"), onlyIf: .absent) == 1)
        let write = await Task { try await store.write(Note(text: "b"), onlyIf: .absent) }.result
        let update = await Task { try await store.update(Note.self, onlyIf: .sequence(4)) { $0.number = 1 } }.result
        let delete = await Task { try await store.delete(named: "note", onlyIf: .sequence(4)) }.result
        for result in [write, update, delete] { #expect(code { _ = try result.get() } == .conflict) }
        #expect(try await store.update(Note.self, onlyIf: .sequence(1)) { $0.number = 1 } == 2)
        #expect(try await store.delete(Note.self, onlyIf: .sequence(2)) == 3)
        try await store.purge(named: "note")
        #expect(!SystemFile.exists(fixture.file("note")))
    }
}

/// Tests of a program that is older than the stored value.
@Suite struct OlderWriterTests {
    @Test func itDoesNotWriteOverWhatItCannotRead() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try store.write(Note(text: "old"))
        var forgery = try Forgery(store)
        forgery.schemaVersion = UInt32(Note.schemaVersion + 1)
        forgery.sequence = 2
        let newer = forgery.blob
        try fixture.plant(newer)
        #expect(code { try store.write(Note(text: "older")) } == .tooNew)
        #expect(code { try store.update(Note.self) { $0.number = 1 } } == .tooNew)
        #expect(try fixture.blob() == newer)
        // A deliberate downgrade takes two steps.
        #expect(try store.delete(Note.self) == 3)
        #expect(try store.write(Note(text: "older")) == 4)
    }
}
