import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of watches during changes to the directories above a watched record.
@Suite("Watching through a change of the container", .timeLimit(.minutes(5)))
struct ContainerWatchTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try store.write(Note(text: "before"))
    }

    private func watching() async throws -> Watching<Note> {
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "before")
        return updates
    }

    @Test func theRecordsDirectoryIsReplaced() async throws {
        let updates = try await watching()
        #expect(rename(fixture.records, fixture.records + ".old") == 0)
        #expect(try await updates.next(\.absence) == .absent)
        #expect(rename(fixture.records + ".old", fixture.records) == 0)
        #expect(try await updates.next(\.value?.text) == "before")
        #expect(rename(fixture.records, fixture.records + ".old") == 0)
        #expect(try await updates.next(\.absence) == .absent)
        try await store.write(Note(text: "in a new directory"))
        #expect(try await updates.next(\.value?.text) == "in a new directory")
    }

    @Test func theContainerIsRemovedAndMadeAgain() async throws {
        let updates = try await watching()
        try FileTree.remove(fixture.container)
        _ = try await updates.next { $0.absence == .containerMissing }
        let successor = try fixture.open()
        try await successor.write(Note(text: "after"))
        let update = try await updates.next { update in
            #expect(update.refusal == nil)
            return update.value != nil
        }
        #expect(update.value?.text == "after")
        try await successor.write(Note(text: "later"))
        #expect(try await updates.next(\.value?.text) == "later")
    }

    @Test func theContainerIsMovedAwayAndBack() async throws {
        let updates = try await watching()
        #expect(rename(fixture.container, fixture.container + ".away") == 0)
        #expect(try await updates.next(\.absence) == .containerMissing)
        #expect(rename(fixture.container + ".away", fixture.container) == 0)
        #expect(try await updates.next(\.value?.text) == "before")
        try await store.write(Note(text: "after"))
        #expect(try await updates.next(\.value?.text) == "after")
    }

    @Test func anotherContainerTakesItsPlace() async throws {
        let updates = try await watching()
        #expect(rename(fixture.container, fixture.container + ".away") == 0)
        let successor = try fixture.open()
        try await successor.write(Note(text: "in the other one"))
        let found = try await updates.next { $0.value != nil }
        #expect(found.value?.text == "in the other one")
        // Changes in the old directory are no longer watched.
        #expect(rename(fixture.container + ".away/Library", fixture.container + ".away/Other") == 0)
        try await successor.write(Note(text: "again"))
        #expect(try await updates.next(\.value?.text) == "again")
    }

    @Test func theContainerIsEmptied() async throws {
        let updates = try await watching()
        for name in try SystemFile.names(fixture.container) { try FileTree.remove("\(fixture.container)/\(name)") }
        #expect(try await updates.next(\.absence) == .absent)
        try await store.write(Note(text: "after"))
        #expect(try await updates.next(\.value?.text) == "after")
    }

    @Test func aContainerThatIsNotSafeIsRefusedAndARepairedOneWatchedOn() async throws {
        let updates = try await watching()
        #expect(rename(fixture.container, fixture.container + ".away") == 0)
        #expect(try await updates.next(\.absence) == .containerMissing)
        #expect(mkdir(fixture.container, 0o700) == 0)
        chmod(fixture.container, 0o777)
        let found = try await updates.next { $0.refusal != nil }
        #expect(found.refusal == .container)
        #expect(rmdir(fixture.container) == 0)
        #expect(rename(fixture.container + ".away", fixture.container) == 0)
        let repaired = try await updates.next { $0.value != nil }
        #expect(repaired.value?.text == "before")
    }
}
