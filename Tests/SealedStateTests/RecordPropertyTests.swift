import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of a record as a property.
@Suite(.timeLimit(.minutes(5))) struct RecordPropertyTests {
    private let fixture: StoreFixture
    private let store: SealedStore
    private let failures = Failures()

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private final class Failures: Sendable {
        private let list = Mutex<[StoreError.Code]>([])
        var codes: [StoreError.Code] { list.withLock { $0 } }
        func note(_ error: StoreError) { list.withLock { $0.append(error.code) } }
    }

    private struct Widget {
        @SealedRecordValue<Note> var note: Note?

        init(_ store: SealedStore, _ failures: Failures) {
            _note = SealedRecordValue(in: store, onFailure: failures.note)
        }
    }

    @Test func settingWritesAndNilDeletes() throws {
        let (widget, other) = (Widget(store, failures), Widget(try fixture.open(), failures))
        #expect(widget.note == nil)
        widget.note = Note(text: "x", number: 1)
        #expect(other.note == Note(text: "x", number: 1))
        other.note?.number += 1
        #expect(widget.note?.number == 2)
        other.note = nil
        #expect(widget.note == nil)
        widget.note = nil
        #expect(failures.codes.isEmpty)
        #expect(code { _ = try widget.$note.value() } == .absent)
    }

    @Test func aRefusedRecordIsNilAndReported() throws {
        let widget = Widget(store, failures)
        widget.note = Note(text: "x")
        try fixture.plant([UInt8](repeating: 0, count: 64))
        #expect(widget.note == nil)
        #expect(failures.codes == [.malformed])
        #expect(code { _ = try widget.$note.value() } == .malformed)
        #expect(code { try widget.$note.set(Note(text: Note.forbidden)) } == .invalid)
        try widget.$note.set(Note(text: "y"))
        #expect(widget.note?.text == "y")
        widget.note = Note(text: Note.forbidden)
        #expect(failures.codes == [.malformed, .invalid])
        #expect(widget.note?.text == "y")
    }

    @Test(arguments: [Fault.tooNew, .expired, .forbidden, .changedContents, .noMagic])
    func aRefusedRecordIsNotOverwrittenByAValueComputedFromIt(_ fault: Fault) throws {
        for policy in [RejectionPolicy.refuse, .keepLastGood] {
            let store = try fixture.open { $0.rejectionPolicy = policy }
            let failures = Failures()
            let widget = Widget(store, failures)
            try store.write(Note(text: "x"))
            var forgery = try Forgery(store)
            forgery.sequence = try store.snapshot(of: Note.self).provenance.sequence + 1
            try fault.apply(to: &forgery)
            try fixture.plant(forgery.blob)
            let before = try fixture.blob()
            widget.note?.number += 1
            widget.note = nil
            #expect(failures.codes.count >= 2 && failures.codes.allSatisfy { $0 == fault.code }, "\(failures.codes)")
            #expect(try fixture.blob() == before)
            // A record of a newer version is not replaced by any write.
            guard fault != .tooNew else {
                #expect(code { try widget.$note.set(Note(text: "set")) } == .tooNew)
                try store.delete(Note.self)
                continue
            }
            try widget.$note.set(Note(text: "set", number: 1))
            #expect(widget.note?.number == 1)
            widget.note?.number += 1
            #expect(try store.read(Note.self).number == 2)
        }
    }

    @Test func nilLeavesARecordThatWasNeverWrittenWithoutADeletion() throws {
        let widget = Widget(store, failures)
        widget.note?.number += 1
        widget.note = nil
        #expect(failures.codes.isEmpty)
        #expect(!SystemFile.exists(fixture.file(Note.recordName)))
    }

    @Test func nilDeletesARecordWhoseFileWasRemovedSoThatItCannotBePutBack() throws {
        let widget = Widget(store, failures)
        widget.note = Note(text: "x")
        let former = try fixture.blob()
        unlink(fixture.file(Note.recordName))
        widget.note = nil
        try fixture.plant(former)
        #expect(widget.note == nil)
        #expect(failures.codes == [.replayed])
    }

    @Test func theLastGoodValueIsReturnedByTheStoresPolicyAndReported() throws {
        let store = try fixture.open { $0.rejectionPolicy = .keepLastGood }
        let widget = Widget(store, failures)
        widget.note = Note(text: "x")
        #expect(widget.note?.text == "x")
        try fixture.plant([UInt8](repeating: 0, count: 64))
        #expect(widget.note?.text == "x")
        #expect(failures.codes == [.malformed])
    }

    @Test func aTaskSetsUpdatesAndFollowsIt() async throws {
        let widget = Widget(store, failures)
        let live = try widget.$note.live()
        try await widget.$note.set(Note(text: "x", number: 1))
        let number = try await widget.$note.update { note in
            note.number += 1
            return note.number
        }
        #expect(number == 2)
        try await widget.$note.update { $0.text = "y" }
        let updates = Watching(try widget.$note.updates())
        #expect(try await updates.next(\.value) == Note(text: "y", number: 2))
        for _ in 0..<500 where live.value?.text != "y" { try await Task.sleep(for: .milliseconds(10)) }
        #expect(live.value == Note(text: "y", number: 2))
        try await widget.$note.set(nil)
        #expect(widget.note == nil)
    }

    @Test func anUpdateBeginsWithTheGivenValue() throws {
        let widget = Widget(store, failures)
        #expect(try widget.$note.update(startingWith: Note(text: "new")) { $0.text.count } == 3)
        #expect(try widget.$note.snapshot().provenance.sequence == 1)
    }
}
