import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of objects that a member plants in a record's place: refused at once, without following or waiting.
@Suite(.timeLimit(.minutes(10))) struct PlantedFileTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try fixture.place.directory("outside")
        try store.write(Note(text: "x"))
        try SystemFile.write(fixture.place.path("outside/precious"), try fixture.blob())
    }

    /// `PlantedPathFaultTests` has the second name of a sound blob.
    static let things = PlantedThing.possible.filter { $0 != .hardLink }

    private func plant(_ thing: PlantedThing) throws {
        unlink(fixture.file("note"))
        thing.plant(at: fixture.file("note"), outside: fixture.place.path("outside"))
    }

    private func expectOutsideUntouched() throws {
        #expect(try SystemFile.names(fixture.place.path("outside")) == ["precious"])
        #expect(try SystemFile.mode(fixture.place.path("outside/precious")) == 0o600)
    }

    @Test(arguments: Self.things) func aReaderRefusesIt(_ planted: PlantedThing) throws {
        try plant(planted)
        #expect(code { _ = try store.read(Note.self) } == .malformed)
        #expect(store.readIfValid(Note.self) == nil)
        let listed = try store.list()
        #expect(listed.map(\.name) == ["note"])
        #expect(listed.map(\.rejection?.code) == [.malformed])
        try expectOutsideUntouched()
    }

    @Test(arguments: Self.things) func aWriterReplacesItOrRefuses(_ planted: PlantedThing) throws {
        try plant(planted)
        if planted == .directory {
            #expect(code { try store.write(Note(text: "y")) } == .container)
        } else {
            #expect(try store.write(Note(text: "y")) == 2)
            #expect(try store.read(Note.self).text == "y")
        }
        #expect(try fixture.staleFiles() == [])
        try expectOutsideUntouched()
    }

    @Test func aLinkOnTheWayIsNotFollowed() throws {
        #expect(symlink(fixture.place.path("outside"), fixture.records + "/accounts") == 0)
        #expect(code { _ = try store.read(Note.self, named: "accounts/ada") } == .malformed)
        #expect(code { try store.write(Note(text: "y"), named: "accounts/ada") } == .container)
        try expectOutsideUntouched()
    }

    @Test func aLockFileWithASecondNameIsNotUsed() throws {
        #expect(link(fixture.container + "/.sealedstate.lock", fixture.place.path("second")) == 0)
        #expect(code { try store.write(Note(text: "y")) } == .container)
        #expect(code { try store.update(Note.self) { $0.text = "y" } } == .container)
        #expect(code { try store.delete(Note.self) } == .container)
        #expect(try store.read(Note.self).text == "x")
    }

    @Test(arguments: Self.things.filter { $0 != .directory }) func aPlantedLockFileIsNotUsed(
        _ planted: PlantedThing
    ) throws {
        let lock = fixture.container + "/.sealedstate.lock"
        unlink(lock)
        try plant(planted)
        #expect(rename(fixture.file("note"), lock) == 0)
        #expect(code { try store.write(Note(text: "y")) } == .container)
        try expectOutsideUntouched()
    }
}
