import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

/// Waiting for a record's lock, and giving up.
@Suite(.timeLimit(.minutes(10))) struct StoreLockTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open { $0.lockTimeout = .milliseconds(150) }
        try store.write(Note(text: "x"))
    }

    /// A child that holds all the container's locks.
    private func holder() throws -> ChildProcess {
        let child = try ChildProcess(
            "sealed-probe", ["lock", fixture.container, ".sealedstate.lock", "whole", "exclusive", "1000"])
        #expect(try child.readLine() == "held")
        return child
    }

    @Test func aStoppedHolderCostsTheTimeLimitAndReadersNothing() throws {
        let child = try holder()
        child.kill(SIGSTOP)
        try child.waitUntilStopped()
        #expect(code { try store.write(Note(text: "y")) } == .lockTimeout)
        #expect(code { try store.update(Note.self) { $0.number = 1 } } == .lockTimeout)
        #expect(code { try store.delete(Note.self) } == .lockTimeout)
        #expect(try store.read(Note.self).text == "x")
        #expect(try store.list().map(\.name) == ["note"])
        child.kill(SIGKILL)
        _ = try child.finish()
        #expect(try store.write(Note(text: "y")) == 2)
    }

    @Test func aLockFileThatIsReplacedMeanwhileDoesNotStopTheNextWriter() throws {
        let child = try holder()
        unlink(fixture.container + "/.sealedstate.lock")
        #expect(try store.write(Note(text: "y")) == 2)
        child.kill(SIGKILL)
    }

    // writer: lock, read ............................ asks again: not the lock's file any more, gives up
    // member: .............. replaces the lock file
    @Test func aWriterWhoseLockFileIsReplacedGivesUp() throws {
        let lock = fixture.container + "/.sealedstate.lock"
        let before = try fixture.blob()
        let update = code {
            try store.update(Note.self) { note in
                note.text = "y"
                unlink(lock)
            }
        }
        #expect(update == .lockTimeout)
        #expect(try fixture.blob() == before)
        #expect(try store.write(Note(text: "z")) == 2)
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        let child = try holder()
        let patient = try fixture.open { $0.lockTimeout = .seconds(600) }
        let tasks = [
            Task { try await patient.write(Note(text: "y")) },
            Task { try await patient.update(Note.self) { $0.number = 1 } },
            Task { try await patient.delete(named: "note") },
        ]
        for task in tasks { task.cancel() }
        for task in tasks {
            let result = await task.result
            #expect(code { _ = try result.get() } == .cancelled)
        }
        child.closeInput()
        _ = try child.finish()
        #expect(try await patient.write(Note(text: "y")) == 2)
    }

    @Test func theAsyncFormsDoWhatTheOthersDo() async throws {
        #expect(try await store.write(Note(text: "y")) == 2)
        #expect(try await store.update(Note.self) { $0.number = 9 } == 3)
        #expect(try store.read(Note.self) == Note(text: "y", number: 9))
        #expect(try await store.update(Note.self, named: "b", startingWith: Note(text: "b")) { $0.number = 1 } == 1)
        #expect(try await store.delete(named: "note") == 4)
        #expect(code { _ = try store.read(Note.self) } == .absent)
        let result = await Task { try await store.write(Note(text: Note.forbidden)) }.result
        #expect(code { _ = try result.get() } == .invalid)
    }

    @Test func aHundredTasksWaitForEachOther() async throws {
        let patient = try fixture.open { $0.lockTimeout = .seconds(60) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<100 {
                group.addTask { _ = try await patient.update(Note.self) { $0.number += 1 } }
            }
            try await group.waitForAll()
        }
        #expect(try store.read(Note.self).number == 100)
    }
}
