import Glibc
import SealedState
import TestSupport
import Testing

/// What a member could put in a record's place instead of a file: refused at once, never followed, never waited for.
@Suite(.timeLimit(.minutes(10))) struct PlantedFileTests {
    enum Planted: String, CaseIterable, Sendable {
        case fifo, directory, linkToFile, linkToDirectory, danglingLink, device

        static var possible: [Planted] { geteuid() == 0 ? allCases : allCases.filter { $0 != .device } }

        func plant(_ fixture: StoreFixture) throws {
            let path = fixture.file("note")
            unlink(path)
            switch self {
            case .fifo: #expect(mkfifo(path, 0o600) == 0)
            case .directory: #expect(mkdir(path, 0o700) == 0)
            case .linkToFile: #expect(symlink(fixture.place.path("outside/precious"), path) == 0)
            case .linkToDirectory: #expect(symlink(fixture.place.path("outside"), path) == 0)
            case .danglingLink: #expect(symlink(fixture.place.path("outside/new"), path) == 0)
            case .device: #expect(mknod(path, S_IFCHR | 0o600, 1 << 8 | 3) == 0)
            }
        }
    }

    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try fixture.place.directory("outside")
        try store.write(Note(text: "x"))
        try SystemFile.write(fixture.place.path("outside/precious"), try fixture.blob())
    }

    private func expectOutsideUntouched() throws {
        #expect(try SystemFile.names(fixture.place.path("outside")) == ["precious"])
        #expect(try SystemFile.mode(fixture.place.path("outside/precious")) == 0o600)
    }

    @Test(arguments: Planted.possible) func aReaderRefusesIt(_ planted: Planted) throws {
        try planted.plant(fixture)
        #expect(code { _ = try store.read(Note.self) } == .malformed)
        #expect(store.readIfValid(Note.self) == nil)
        let listed = try store.list()
        #expect(listed.map(\.name) == ["note"])
        #expect(listed.map(\.rejection?.code) == [.malformed])
        try expectOutsideUntouched()
    }

    @Test(arguments: Planted.possible) func aWriterReplacesItOrRefuses(_ planted: Planted) throws {
        try planted.plant(fixture)
        if planted == .directory {
            #expect(code { try store.write(Note(text: "y")) } == .container)
        } else {
            #expect(try store.write(Note(text: "y")) == 2)
            #expect(try store.read(Note.self).text == "y")
        }
        #expect(try fixture.litter() == [])
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

    @Test(arguments: Planted.possible.filter { $0 != .directory }) func aPlantedLockFileIsNotUsed(
        _ planted: Planted
    ) throws {
        let lock = fixture.container + "/.sealedstate.lock"
        unlink(lock)
        try planted.plant(fixture)
        #expect(rename(fixture.file("note"), lock) == 0)
        #expect(code { try store.write(Note(text: "y")) } == .container)
        try expectOutsideUntouched()
    }
}
