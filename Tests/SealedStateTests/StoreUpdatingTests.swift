import FoundationEssentials
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of reading, changing and writing under the record's lock.
@Suite(.timeLimit(.minutes(10))) struct StoreUpdatingTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    @Test func aChangeIsWrittenAsTheNextSequence() throws {
        try store.write(Note(text: "x", number: 1))
        #expect(try store.update(Note.self) { $0.number += 1 } == 2)
        #expect(try store.read(Note.self).number == 2)
    }

    @Test func anAbsentRecordNeedsAStart() throws {
        #expect(code { try store.update(Note.self) { $0.number = 1 } } == .absent)
        #expect(try store.update(Note.self, startingWith: Note(text: "start")) { $0.number = 1 } == 1)
        #expect(try store.update(Note.self, startingWith: Note(text: "other")) { $0.number += 1 } == 2)
        #expect(try store.read(Note.self) == Note(text: "start", number: 2))
    }

    @Test func theClosuresResultIsReturnedWithTheSequence() throws {
        try store.write(Note(text: "x", number: 1))
        let taken = try store.update(Note.self) { note in
            note.number += 1
            return "number \(note.number)"
        }
        #expect(taken.result == "number 2" && taken.sequence == 2)
        #expect(try store.update(Note.self) { $0.text.removeLast() }.result == "x")
        let nothing: Int? = try store.update(Note.self) { _ in Int?.none }.result
        #expect(nothing == nil)
        #expect(try store.snapshot(of: Note.self).provenance.sequence == 4)
    }

    @Test func theClosuresResultIsReturnedFromATasksUpdate() async throws {
        try await store.write(Note(text: "x", number: 1))
        let taken = try await store.update(Note.self) { note in
            guard note.number == 1 else { throw Unwanted() }
            note.number += 1
            return note.number
        }
        #expect(taken.result == 2 && taken.sequence == 2)
        #expect(try await store.update(Note.self) { $0.number += 1 } == 3)
        let error = await #expect(throws: StoreError.self) {
            try await store.update(Note.self) { note in
                guard note.number == 1 else { throw Unwanted() }
                return note.number
            }
        }
        #expect(error?.code == .declined && error?.cause is Unwanted)
    }

    private struct Unwanted: Error {}

    @Test func aChangeMayBeGivenUp() throws {
        try store.write(Note(text: "x"))
        let error = try #require(
            refusal {
                try store.update(Note.self) { note in
                    note.text = "y"
                    throw Unwanted()
                }
            })
        #expect(error.code == .declined)
        #expect(error.cause is Unwanted)
        #expect(try store.snapshot(of: Note.self).provenance.sequence == 1)
        #expect(try store.update(Note.self) { $0.text = "z" } == 2)
    }

    @Test func aStoresErrorThatEndsAChangeStaysWhatItIs() throws {
        try store.write(Note(text: "x"))
        let update = code { try store.update(Note.self) { _ in _ = try store.read(Note.self, named: "other") } }
        #expect(update == .absent)
        #expect(try store.read(Note.self).text == "x")
    }

    @Test func anExpiredValueMayBeRenewed() throws {
        try store.write(Note(text: "x", number: 5, expiresAt: Date() - 60))
        #expect(code { _ = try store.read(Note.self) } == .stale)
        try store.update(Note.self) { $0.expiresAt = Date() + 60 }
        #expect(try store.read(Note.self).number == 5)
    }

    // An initial value is for a missing record, never for a refused one.
    @Test(arguments: [Fault.changedContents, .noMagic, .old, .otherName, .tooNew, .broken, .otherKey])
    func aRefusedRecordIsNotReplacedByTheStart(_ fault: Fault) throws {
        for number in 1...2 { try store.write(Note(text: "x", number: number)) }
        var forgery = try Forgery(store)
        forgery.sequence = 3
        try fault.apply(to: &forgery)
        try fixture.plant(forgery.blob)
        let before = try fixture.blob()
        let update = code { try store.update(Note.self, startingWith: Note(text: "start")) { _ in } }
        #expect(update == fault.code)
        #expect(try fixture.blob() == before)
    }

    @Test func noUpdateOfFourProcessesIsLost() throws {
        // process 1..4: lock, read n, write n + 1, unlock, fifty times each
        let children = try (0..<4).map { _ in
            try ChildProcess("sealed-probe", ["store-increment", fixture.place.path, fixture.group.identifier, "50"])
        }
        for child in children { #expect(try child.finish().outputText == "done\n") }
        let snapshot = try store.snapshot(of: ProbeRecord.self)
        #expect(snapshot.value.number == 200)
        #expect(snapshot.provenance.sequence == 200)
    }

    @Test func noUpdateOfEightThreadsIsLost() throws {
        let results = try concurrently(8) { [store] _ in
            for _ in 0..<25 {
                try store.update(ProbeRecord.self, startingWith: ProbeRecord(number: 0)) { $0.number += 1 }
            }
        }
        for result in results { try result.get() }
        let snapshot = try store.snapshot(of: ProbeRecord.self)
        #expect(snapshot.value.number == 200)
        #expect(snapshot.provenance.sequence == 200)
    }

    // writer thread: write 5 ................... write 6, accept 6
    // reader thread: ........... read file (5) .................... judge 5: overtaken, not replayed
    @Test func aReaderThreadThatIsOvertakenSeesNoReplay() throws {
        try store.write(ProbeRecord(number: 0))
        let isDone = Atomic(false)
        let results = try concurrently(3) { [store] index in
            if index == 0 {
                for number in 1...300 { try store.write(ProbeRecord(number: number)) }
                isDone.store(true, ordering: .releasing)
                return
            }
            var last = 0
            while !isDone.load(ordering: .acquiring) {
                let number = try store.read(ProbeRecord.self).number
                #expect(number >= last)
                last = number
                for record in try store.list() { #expect(record.rejection == nil) }
            }
        }
        for result in results { try result.get() }
    }

    @Test func aReaderProcessNeverGoesBack() throws {
        // child:  write 1, 2, 3, ... until its input ends
        // we:     read, read, read, ...
        let writer = try ChildProcess(
            "sealed-probe", ["store-write-loop", fixture.place.path, fixture.group.identifier, "200000"])
        #expect(try writer.readLine() == "written 1")
        var last = 0
        for _ in 0..<200 {
            let record = try store.read(ProbeRecord.self)
            #expect(record.number >= last)
            #expect(record.text.utf8.count == 200_000)
            last = record.number
        }
        writer.kill(9)
        _ = try writer.finish()
        #expect(last > 1)
    }
}
