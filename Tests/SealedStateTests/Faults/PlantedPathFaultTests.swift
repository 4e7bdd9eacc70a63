import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of objects that a member plants at a writer's paths: the new value's name, the quarantine, the directory of
/// records. `PlantedFileTests` has the record's own name and the lock file.
@Suite(.timeLimit(.minutes(10))) struct PlantedPathFaultTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try fixture.place.directory("outside")
        try store.write(Note(text: "x"))
        try SystemFile.write(fixture.place.path("outside/precious"), Array("precious".utf8), mode: 0o640)
    }

    private func plant(_ thing: PlantedThing, _ path: String) {
        thing.plant(at: path, outside: fixture.place.path("outside"))
    }

    private func expectOutsideUntouched(names: [String] = ["precious"]) throws {
        #expect(try SystemFile.names(fixture.place.path("outside")) == names)
        #expect(try SystemFile.read(fixture.place.path("outside/precious")) == Array("precious".utf8))
        #expect(try SystemFile.mode(fixture.place.path("outside/precious")) == 0o640)
    }

    @Test(arguments: PlantedThing.possible, [Durability.durable, .unsynced]) func theNewValuesNameIsTakenBack(
        _ planted: PlantedThing, _ durability: Durability
    ) throws {
        let pending = fixture.records + "/.note.sealed.new"
        plant(planted, pending)
        if planted == .directory {
            // The directory's owner is unknown, and it may have contents.
            #expect(code { try store.write(Note(text: "y"), durability: durability) } == .container)
            #expect(try store.read(Note.self).text == "x")
            rmdir(pending)
        }
        #expect(try store.write(Note(text: "y"), durability: durability) == 2)
        #expect(try store.read(Note.self).text == "y")
        #expect(try fixture.staleFiles() == [])
        try expectOutsideUntouched()
    }

    @Test func aSecondNameOfTheRecordIsNotChanged() throws {
        unlink(fixture.file("note"))
        plant(.hardLink, fixture.file("note"))
        #expect(code { _ = try store.read(Note.self) } == .malformed)
        #expect(try store.write(Note(text: "y")) == 2)
        #expect(try store.read(Note.self).text == "y")
        try expectOutsideUntouched()
    }

    @Test(arguments: PlantedThing.possible.filter { $0 != .directory }) func aQuarantineThatIsNoDirectoryStopsNoWriter(
        _ planted: PlantedThing
    ) throws {
        plant(planted, fixture.quarantine)
        let damaged = Array("damaged".utf8)
        try fixture.plant(damaged)
        // Otherwise a member that planted both could block every writer.
        #expect(try store.write(Note(text: "y")) == 2)
        #expect(try store.read(Note.self).text == "y")
        try expectOutsideUntouched()
    }

    @Test(arguments: PlantedThing.possible.filter { $0 != .directory })
    func nothingIsWrittenWhereTheRecordsAreNoDirectory(
        _ planted: PlantedThing
    ) throws {
        let away = fixture.records + ".away"
        #expect(rename(fixture.records, away) == 0)
        plant(planted, fixture.records)
        #expect(code { try store.write(Note(text: "y")) } == .container)
        #expect(code { try store.update(Note.self) { $0.text = "y" } } != nil)
        #expect(code { try store.delete(Note.self) } == .container)
        #expect(code { _ = try store.read(Note.self) } != nil)
        try expectOutsideUntouched()
        unlink(fixture.records)
        #expect(rename(away, fixture.records) == 0)
        #expect(try store.read(Note.self).text == "x")
    }
}
