#if SQLite
import AppGroups
import FoundationEssentials
import Glibc
import SealedBackends
import SealedStateSQLite
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Moves of a container's records between files and a database.
@Suite("Moves between backends", .timeLimit(.minutes(30))) struct BackendMoveTests {
    let fixture: StoreFixture

    init() throws { fixture = try StoreFixture() }

    private var support: String { fixture.container + "/Library/Application Support" }
    private var database: String { support + "/Records.sqlite" }

    private func open() throws -> SealedStore { try fixture.open { $0.backend = SQLiteProvider() } }

    private func filesOnly() throws -> SealedStore { try fixture.open() }

    private func move(to backend: String) throws -> Int? {
        let container = try GroupContainer.open(fixture.group, in: fixture.home, creating: false)
        let move = BackendMove(of: container, SQLiteProvider(), timeout: .seconds(20))
        return backend == "files" ? try move.toFiles() : try move.toBackend()
    }

    @Test func recordsAndRunningProgramsMove() async throws {
        let old = try filesOnly()
        try await old.write(Note(text: "one", number: 1))
        try await old.write(Note(text: "deep", number: 2), named: "a/b/c")
        try await old.delete(named: "a/b/c")
        try await old.defaults().set("value", forKey: "key")
        let store = try open()
        #expect(store.reader.files != nil)
        var updates = try store.updates(of: Note.self).makeAsyncIterator()
        #expect(await updates.next()?.value?.number == 1)
        #expect(try move(to: "sqlite") == 3)
        #expect(try move(to: "sqlite") == nil)
        #expect(!SystemFile.exists(fixture.file(Note.recordName)))
        #expect(code { _ = try old.read(Note.self) } == .backendUnknown)
        #expect(code { try old.write(Note(text: "lost")) } == .backendUnknown)
        #expect(try store.read(Note.self).number == 1)
        #expect(code { _ = try store.read(Note.self, named: "a/b/c") } == .absent)
        #expect(try store.defaults().string(forKey: "key") == "value")
        #expect(try await store.write(Note(text: "two", number: 2)) == 2)
        #expect(await updates.next()?.value?.number == 2)
        #expect(try await store.write(Note(text: "again", number: 22)) == 3)
        #expect(await updates.next()?.value?.number == 22)
        // A program that begins now, in another process, writes; the first one's watch goes on.
        #expect(try move(to: "files") == 3)
        #expect(!SystemFile.exists(database))
        #expect(!SystemFile.exists(fixture.container + "/.sealedstate.backend"))
        #expect(try await old.write(Note(text: "three", number: 3)) == 4)
        #expect(await updates.next()?.value?.number == 3)
        #expect(try store.read(Note.self).number == 3)
        #expect(try await store.write(Note(text: "four", number: 4)) == 5)
        #expect(await updates.next()?.value?.number == 4)
        #expect(try old.read(Note.self).number == 4)
        #expect(try move(to: "sqlite") == 3)
        #expect(try store.read(Note.self).number == 4)
    }

    /// Watches of all records, and of one that does not exist yet, go on in the other backend.
    @Test func watchesFollow() async throws {
        let store = try open()
        try await filesOnlyContainer()
        var all = try store.changes().makeAsyncIterator()
        #expect(await all.next()?.name == Note.recordName)
        var absent = try store.updates(of: Note.self, named: "later").makeAsyncIterator()
        #expect(await absent.next()?.value == nil)
        var named = try store.changes(of: ["later"]).makeAsyncIterator()
        for (number, backend) in ["sqlite", "files", "sqlite", "files"].enumerated() {
            _ = try move(to: backend)
            try await Task.sleep(for: .milliseconds(50))
            try await open().write(Note(text: "later", number: number), named: "later")
            while let update = await absent.next(), update.value?.number != number {}
            while let change = await all.next(), change.name != "later" {}
            while let change = await named.next(), change.name != "later" {}
        }
        #expect(try store.read(Note.self, named: "later").number == 3)
    }

    /// A program reads nothing while the records move there and back.
    @Test func anIdleProgramFindsTheRecords() throws {
        try filesOnly().write(Note(text: "one", number: 1))
        let files = try open()
        #expect(try files.read(Note.self).number == 1)
        #expect(try move(to: "sqlite") == 1)
        let database = try open()
        #expect(try database.read(Note.self).number == 1)
        _ = try move(to: "files")
        _ = try move(to: "sqlite")
        #expect(try database.read(Note.self).number == 1)
        #expect(try database.write(Note(text: "two", number: 2)) == 2)
        #expect(try files.read(Note.self).number == 2)
    }

    /// A move was killed before it removed the files; then another program writes.
    @Test func filesThatAMoveHasLeftAreNotRead() throws {
        try filesOnly().write(Note(text: "old", number: 1))
        let idle = try open()
        #expect(try idle.read(Note.self).number == 1)
        let blob = try fixture.blob()
        #expect(try move(to: "sqlite") == 1)
        try fixture.plant(blob)
        // A program with other accepted states than this process.
        let script = #"echo '{"text":"new","number":2}' | "$1" put "$2" - --group "$3" --schema-version 3"#
        let words = ["-c", script, "sh", builtProduct("sealctl"), Note.recordName, fixture.group.identifier]
        let environment = ["SEALED_GROUPS_HOME": fixture.place.path]
        #expect(try ChildProcess.run("/bin/sh", words, environment: environment).exitCode == 0)
        usleep(150_000)
        #expect(try idle.read(Note.self).number == 2)
        #expect(try move(to: "sqlite") == nil)
        #expect(!SystemFile.exists(fixture.file(Note.recordName)))
    }

    // writers: 1 2 3 4 5 6 7 8 …
    // mover:     → database → files → database → files
    @Test func noWriteIsLost() async throws {
        try await filesOnly().write(Note(text: "counter", number: 0))
        let end = Ending()
        let counts = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<3 {
                let store = try open()
                group.addTask {
                    var count = 0
                    while !end.isReached.withLock({ $0 }) {
                        try await store.update(Note.self, timeout: .seconds(30)) { $0.number += 1 }
                        count += 1
                    }
                    return count
                }
            }
            for _ in 0..<3 {
                for backend in ["sqlite", "files"] {
                    try await Task.sleep(for: .milliseconds(20))
                    #expect(try move(to: backend) == 1)
                }
            }
            end.isReached.withLock { $0 = true }
            return try await group.reduce(0, +)
        }
        #expect(counts > 0)
        #expect(try open().read(Note.self).number == counts)
    }

    private final class Ending: Sendable {
        let isReached = Mutex(false)
    }

    /// A blob that cannot be moved leaves everything where it was.
    @Test func aMoveThatFailsChangesNothing() async throws {
        let store = try open()
        try await filesOnlyContainer()
        mkfifo(fixture.file("pipe"), 0o600)
        #expect(code { _ = try move(to: "sqlite") } == .malformed)
        #expect(!SystemFile.exists(fixture.container + "/.sealedstate.backend"))
        #expect(try store.read(Note.self).number == 1)
        unlink(fixture.file("pipe"))
        #expect(try move(to: "sqlite") == 1)
    }

    /// A file that is no database is given no name, which would make the container unusable.
    @Test(arguments: ["no database", ""]) func aForeignFileGetsNoName(contents: String) throws {
        _ = try filesOnly()
        #expect(try ChildProcess.run("/bin/mkdir", ["-p", support]).exitCode == 0)
        try SystemFile.write(database, Array(contents.utf8))
        #expect(code { _ = try move(to: "sqlite") } != nil)
        #expect(!SystemFile.exists(fixture.container + "/.sealedstate.backend"))
        #expect(try filesOnly().write(Note(text: "one", number: 1)) == 1)
    }

    private func filesOnlyContainer() async throws {
        // The empty container was named by the store that was opened first.
        #expect(try move(to: "files") == 0)
        try await filesOnly().write(Note(text: "one", number: 1))
    }

    /// A program is killed at every change that it makes to files during a move.
    @Test(.enabled(if: TracedProcess.isPossible, "needs strace"), arguments: ["sqlite", "files"])
    func aKilledMoveLosesNothing(to backend: String) throws {
        let store = try filesOnly()
        for number in 1...3 { try store.write(Note(text: "note", number: number), named: "notes/\(number)") }
        try store.defaults().set(7, forKey: "key")
        if backend == "files" { #expect(try move(to: "sqlite") == 4) }
        let saved = try TemporaryDirectory()
        func copy(_ source: String, _ target: String) throws {
            let script = "rm -rf \"$2\"/* && cp -a \"$1\"/. \"$2\""
            #expect(try ChildProcess.run("/bin/sh", ["-c", script, "sh", source, target]).exitCode == 0)
        }
        try copy(fixture.place.path, saved.path)
        let words = ["container", "backend", backend, "--group", fixture.group.identifier, "--json"]
        let environment = ["SEALED_GROUPS_HOME": fixture.place.path]
        let log = saved.path("../\(UInt64.random(in: .min ... .max)).trace")
        let traced = TracedProcess(words, of: "sealctl", log: log)
        defer { traced.removeLog() }
        #expect(try traced.run(environment: environment).outputText.contains("\"moved\":4"))
        let calls = try traced.calls(from: ".sealedstate.lock").filter { $0.isChange || $0.name == "unlink" }
        #expect(calls.contains { $0.name == "renameat" || $0.name == "unlinkat" })
        let step = isLongForm ? 1 : max(1, calls.count / 40)
        for call in stride(from: 0, to: calls.count, by: step).map({ calls[$0] }) {
            try copy(saved.path, fixture.place.path)
            _ = try traced.run(killedAt: call, environment: environment)
            try expectAll("after a kill at \(call)")
            let again = try traced.run(environment: environment)
            #expect(again.exitCode == 0, "\(call): \(again.errorText)")
            try expectAll("after the next move, \(call)")
            #expect(SystemFile.exists(database) == (backend == "sqlite"), "\(call)")
            #expect(SystemFile.exists(fixture.file("notes/1")) == (backend == "files"), "\(call)")
        }
    }

    private func expectAll(_ moment: String) throws {
        let store = try open()
        for number in 1...3 {
            #expect(try store.read(Note.self, named: "notes/\(number)").number == number, "\(moment)")
        }
        #expect(try store.defaults().integer(forKey: "key") == 7, "\(moment)")
    }
}
#endif
