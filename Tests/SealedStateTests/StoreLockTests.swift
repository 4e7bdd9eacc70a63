import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of waiting for a record's lock, and of time-outs.
@Suite(.timeLimit(.minutes(10))) struct StoreLockTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open { $0.lockTimeout = .milliseconds(150) }
        try store.write(Note(text: "x"))
    }

    /// Starts a child that holds all the container's locks.
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

    // writer: asks .... writes ......... asks again: another lock file, and says so
    // member: ................ replaces it
    @Test func aLockFileThatIsReplacedDuringTheWriteIsNoticed() throws {
        let lock = fixture.container + "/.sealedstate.lock"
        let before = try fixture.blob()
        // The clock is read once more when the new blob is in place.
        let robbed = try fixture.open { options in
            options.now = { [fixture] in
                if (try? fixture.blob()) != before { unlink(lock) }
                return Date()
            }
        }
        #expect(code { try robbed.write(Note(text: "y")) } == .lockLost)
        #expect(try store.read(Note.self).text == "y")
        #expect(try store.write(Note(text: "z")) == 3)
    }

    @Test func aCallsOwnTimeLimitCounts() throws {
        let child = try holder()
        let patient = try fixture.open { $0.lockTimeout = .seconds(600) }
        #expect(code { try patient.write(Note(text: "y"), timeout: .milliseconds(20)) } == .lockTimeout)
        #expect(code { try patient.update(Note.self, timeout: .zero) { $0.number = 1 } } == .lockTimeout)
        #expect(code { try patient.delete(Note.self, timeout: .zero) } == .lockTimeout)
        child.kill(SIGKILL)
        _ = try child.finish()
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
        // Waiting calls of other tests may be in front of these.
        let store = try fixture.open { $0.lockTimeout = .seconds(60) }
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

    @Test func waitingCallsStopNoOtherTask() async throws {
        // The duration of the task's sleeps depends on all other tests.
        let patient = try fixture.open { $0.lockTimeout = .seconds(900) }
        let child = try holder()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<32 {
                group.addTask { _ = try await patient.update(Note.self) { $0.number += 1 } }
            }
            // Enough for all of them to wait for the lock; the holder unlocks only if this task still runs.
            for _ in 0..<5 { try await Task.sleep(for: .milliseconds(40)) }
            child.closeInput()
            try await group.waitForAll()
        }
        _ = try child.finish()
        #expect(try store.read(Note.self).number == 32)
    }

    @Test func aCallsLimitCountsFromTheCallOn() async throws {
        let patient = try fixture.open { $0.lockTimeout = .milliseconds(200) }
        let child = try holder()
        // More waiters than threads: queued waiters time out with the others, though the holder never unlocks.
        let codes = await withTaskGroup(of: StoreError.Code?.self) { group in
            for _ in 0..<200 {
                group.addTask {
                    do throws(StoreError) { _ = try await patient.delete(named: "note") } catch { return error.code }
                    return nil
                }
            }
            return await group.reduce(into: [:]) { $0[$1, default: 0] += 1 }
        }
        #expect(codes == [.lockTimeout: 200])
        child.closeInput()
        _ = try child.finish()
    }
}
