import AppGroups
import SealedState
import TestSupport
import Testing

/// Tests of a container that is removed with its last member and created again under another name.
@Suite("Watching through the life of an opaque container", .timeLimit(.minutes(5)))
struct OpaqueContainerTests {
    let fixture: StoreFixture
    let registry: GroupRegistry

    init() throws {
        fixture = try StoreFixture()
        registry = GroupRegistry(fixture.group, in: fixture.home)
        try registry.register(Self.member("app"), behavior: .iOS)
    }

    private static func member(_ name: String) throws -> GroupMember {
        try GroupMember(applicationIdentifier: name, executablePath: "/usr/bin/\(name)")
    }

    @Test func aStoreOpensTheContainerThatTheRegistryHas() throws {
        let store = try fixture.open()
        try store.write(Note(text: "hidden"))
        #expect(!SystemFile.exists(fixture.container))
        let path = try GroupContainer.open(fixture.group, in: fixture.home).path
        #expect(store.containerPath == path)
        #expect(try fixture.open(creating: false).read(Note.self).text == "hidden")
    }

    @Test func readersSurviveThatTheContainerGoesAndIsMadeUnderAnotherName() async throws {
        let store = try fixture.open()
        try await store.write(Note(text: "before"))
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "before")

        try registry.unregister("app")
        _ = try await updates.next { $0.absence == .containerMissing }
        try registry.register(Self.member("app"))
        let successor = try fixture.open()
        #expect(successor.containerPath != store.containerPath)
        try await successor.write(Note(text: "after"))
        let update = try await updates.next { $0.value != nil }
        #expect(update.value?.text == "after")
        try await successor.write(Note(text: "later"))
        #expect(try await updates.next(\.value?.text) == "later")
    }

    @Test func readersSurviveAResetInAnotherProcess() async throws {
        let store = try fixture.open()
        try await store.write(Note(text: "before"))
        let updates = Watching(try store.updates(of: Note.self))
        #expect(try await updates.next(\.value?.text) == "before")
        #expect(try fixture.probe("container", "reset").contains("/Trash/"))
        let successor = try fixture.open()
        try await successor.write(Note(text: "after"))
        #expect(try await updates.next { $0.value != nil }.value?.text == "after")
    }

    @Test func aWriterWithTheOldContainerOpenWritesIntoThePresentOneAndNotIntoTheTrash() throws {
        let store = try fixture.open()
        try store.write(Note(text: "before"))
        let trashed = try #require(try registry.reset())
        let before = try SystemFile.names("\(trashed)/Library/Application Support/Records")
        try store.write(Note(text: "kept"), named: "other")
        #expect(try SystemFile.names("\(trashed)/Library/Application Support/Records") == before)
        #expect(try fixture.open().read(Note.self, named: "other").text == "kept")
    }

    @Test func aDamagedRegistryIsReportedAndTheContainerLeftAlone() throws {
        let store = try fixture.open()
        try store.write(Note(text: "there"))
        let file = fixture.place.path("Registry/\(fixture.group)/container.plist")
        let sound = try SystemFile.read(file)
        try SystemFile.write(file, Array("damage".utf8))
        #expect(code { _ = try fixture.open() } == .container)
        #expect(code { _ = try fixture.open(creating: false) } == .container)
        #expect(code { _ = try store.following() } == .container)
        #expect(try SystemFile.read(file) == Array("damage".utf8))
        // An open store continues to work.
        #expect(try store.read(Note.self).text == "there")
        try SystemFile.write(file, sound)
        #expect(try store.following() === store)
    }
}
