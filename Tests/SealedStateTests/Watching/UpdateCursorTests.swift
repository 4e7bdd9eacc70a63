import FoundationEssentials
import SealedState
import TestSupport
import Testing

@Suite("UpdateCursor", .timeLimit(.minutes(5)))
struct UpdateCursorTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func cursor(named name: String = Note.recordName) async throws -> UpdateCursor {
        try await Watching(try store.updates(of: Note.self, named: name)).next().cursor
    }

    @Test func itsTextAndItsCodeGiveItBack() async throws {
        let absent = try await cursor()
        try await store.write(Note(text: "x"))
        let present = try await cursor()
        #expect(absent != present)
        for cursor in [absent, present] {
            #expect(try UpdateCursor(cursor.description) == cursor)
            #expect(try JSONDecoder().decode([UpdateCursor].self, from: JSONEncoder().encode([cursor])) == [cursor])
        }
    }

    @Test func itHoldsNothingOfTheContents() async throws {
        try await store.write(Note(text: "a secret"))
        let text = try await cursor().description
        #expect(
            !text.contains("a secret") && !text.contains(Array("a secret".utf8).map { String($0, radix: 16) }.joined()))
    }

    @Test func theStateThatItRepresentsIsNotReportedAgain() async throws {
        try await store.write(Note(text: "known"))
        let updates = Watching(try store.updates(of: Note.self, from: try await cursor()))
        try await store.write(Note(text: "new"))
        #expect(try await updates.next(\.value?.text) == "new")
    }

    @Test func aNewerStateIsReportedAtOnce() async throws {
        try await store.write(Note(text: "known"))
        let cursor = try await cursor()
        try await store.write(Note(text: "new"))
        #expect(try await Watching(try store.updates(of: Note.self, from: cursor)).next(\.value?.text) == "new")
    }

    @Test func theSameBlobInAnotherStateIsReported() async throws {
        try await store.write(Note(text: "known"))
        let cursor = try await cursor()
        var blob = try fixture.blob()
        blob[blob.count - 1] ^= 1
        try fixture.plant(blob)
        #expect(try await Watching(try store.updates(of: Note.self, from: cursor)).next(\.refusal) == .tampered)
    }

    @Test func absenceIsAStateToResumeFromAsWell() async throws {
        let updates = Watching(try store.updates(of: Note.self, from: try await cursor()))
        try await store.write(Note(text: "first"))
        #expect(try await updates.next(\.value?.text) == "first")
    }

    @Test func theCursorOfAnotherRecordIsRefused() async throws {
        let other = try await cursor(named: "other")
        #expect(code { _ = try store.updates(of: Note.self, from: other) } == .invalidCursor)
    }

    @Test func theCursorOfAnotherGroupIsRefused() async throws {
        let elsewhere = try StoreFixture("group.com.example.other")
        let foreign = try await Watching(try elsewhere.open().updates(of: Note.self)).next().cursor
        #expect(code { _ = try store.updates(of: Note.self, from: foreign) } == .invalidCursor)
    }

    @Test func textThatIsNotACursorIsRefused() async throws {
        let good = try await cursor().description
        let last = good.last == "0" ? "1" : "0"
        let bad = [
            "", "x", "-1", "00", String(good.dropLast()), String(good.dropLast(2)), good + "00", good + "\n",
            good.uppercased() == good ? "" : good.uppercased(), String(good.dropLast()) + last,
            "02" + good.dropFirst(2),
            String(repeating: "0", count: good.count), String(repeating: "é", count: good.count / 2),
            String(repeating: "0", count: 1 << 20),
        ]
        for text in bad {
            #expect(code { _ = try UpdateCursor(text) } == .invalidCursor, "\(text.prefix(200))")
        }
    }

    @Test func everyFlippedDigitIsNoticed() async throws {
        try await store.write(Note(text: "x"))
        let good = Array(try await cursor().description)
        for index in good.indices {
            var digits = good
            digits[index] = good[index] == "a" ? "b" : "a"
            #expect(code { _ = try UpdateCursor(String(digits)) } == .invalidCursor, "digit \(index)")
        }
    }
}
