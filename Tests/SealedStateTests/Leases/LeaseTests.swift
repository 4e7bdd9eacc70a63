import FoundationEssentials
import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of leases across processes: one works, the others wait and reuse; a holder that was stopped past its time
/// writes nothing.
@Suite(.timeLimit(.minutes(10))) struct LeaseTests {
    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func child(_ milliseconds: Int = 600_000) throws -> ChildProcess {
        let words = ["lease", fixture.place.path, fixture.group.identifier, "refresh", "\(milliseconds)"]
        let child = try ChildProcess("sealed-probe", words)
        #expect(try child.readLine() == "waiting")
        return child
    }

    private func ask(_ child: ChildProcess, _ line: String) throws -> String? {
        try child.write(line + "\n")
        return try child.readLine()
    }

    @Test func theFirstProgramDoesTheWork() async throws {
        let outcome = try await store.withLease("refresh", for: .seconds(600)) { fence in
            #expect(fence.lease == "refresh" && fence.number == 1)
            try await store.write(Note(text: "fresh"), holding: fence)
            return 7
        }
        #expect(outcome.value == 7)
        #expect(try store.read(Note.self).text == "fresh")
        // The store's own record is not listed as a record of the user.
        #expect(try store.list().map(\.name) == ["note"])
    }

    @Test func theOthersWaitAndReuse() throws {
        // A child says that it waits just before it does. A child that is too late for this holder takes the lease
        // itself, and the round is repeated.
        for round in 1...10 {
            let holder = try child()
            #expect(try holder.readLine()?.hasPrefix("took ") == true)
            let others = try (0..<3).map { _ in try child() }
            usleep(UInt32(round) * 300_000)
            #expect(try ask(holder, "write") == "done")
            #expect(try ask(holder, "end") == "performed")
            #expect(try store.read(ProbeRecord.self).number == round)
            // Children that took the lease end with this round.
            if others.allSatisfy({ (try? $0.readLine(timeLimit: .seconds(10))) == "reused" }) { return }
        }
        Issue.record("the others did not reuse the result in any round")
    }

    @Test func aHolderThatDiesIsFollowedAtOnceAndNotAfterItsTime() throws {
        let first = try child()
        #expect(try first.readLine() == "took 1")
        let second = try child()
        first.kill(SIGKILL)
        let taken = try #require(try second.readLine())
        // The first lease lasts ten minutes, longer than the test's own limit.
        #expect(taken.hasPrefix("took "))
        #expect(try ask(second, "end") == "performed")
    }

    @Test func aHolderThatFailsLeavesTheWorkToTheNext() throws {
        let first = try child()
        #expect(try first.readLine() == "took 1")
        let second = try child()
        #expect(try ask(first, "fail") == "failed")
        #expect(try second.readLine()?.hasPrefix("took ") == true)
        #expect(try ask(second, "end") == "performed")
    }

    // holder: took 1, stopped ................................. goes on: write refused, renewal refused, outlived
    // other:  ................ time is up, took, write, performed
    @Test func aHolderThatWasStoppedPastItsTimeWritesNothing() throws {
        let first = try child(400)
        #expect(try first.readLine() == "took 1")
        first.kill(SIGSTOP)
        try first.waitUntilStopped()
        let second = try child()
        #expect(try second.readLine()?.hasPrefix("took ") == true)
        #expect(try ask(second, "write") == "done")
        first.kill(SIGCONT)
        #expect(try ask(first, "write") == "leaseLost")
        #expect(try ask(first, "renew") == "leaseLost")
        #expect(try ask(second, "write") == "done")
        #expect(try ask(first, "end") == "outlived")
        #expect(try ask(second, "end") == "performed")
        #expect(try store.read(ProbeRecord.self).number == 2)
    }

    @Test func anExpiredFenceIsRefusedEvenWithoutASuccessor() async throws {
        try await store.write(Note(text: "before"))
        let outcome = try await store.withLease("refresh", for: .milliseconds(30)) { fence in
            try await Task.sleep(for: .milliseconds(60))
            #expect(code { try store.write(Note(text: "late"), holding: fence) } == .leaseLost)
            #expect(code { try store.delete(Note.self, holding: fence) } == .leaseLost)
        }
        guard case .outlived = outcome else { throw StoreFixtureError.unexpected("\(outcome)") }
        #expect(try store.read(Note.self).text == "before")
    }

    // The first duration has to be long enough for a busy machine to renew in, and then expires during the test.
    @Test func aRenewedLeaseLastsLonger() throws {
        let child = try child(8000)
        #expect(try child.readLine() == "took 1")
        #expect(try ask(child, "renew") == "done")
        usleep(8_200_000)
        #expect(try ask(child, "write") == "done")
        #expect(try ask(child, "end") == "performed")
    }

    @Test func aFenceNeverComesTwice() async throws {
        var seen: [UInt64] = []
        for _ in 0..<3 {
            let outcome = try await store.withLease("refresh", for: .seconds(600)) { $0.number }
            seen.append(try #require(outcome.value))
        }
        // Removing the file does not change what processes remember.
        unlink(fixture.file("_sealed/leases/refresh"))
        let outcome = try await store.withLease("refresh", for: .seconds(600)) { $0.number }
        seen.append(try #require(outcome.value))
        #expect(seen == seen.sorted() && Set(seen).count == 4)
    }

    @Test func theTimeLimitOfWaitingIsKept() async throws {
        let holder = try child()
        #expect(try holder.readLine() == "took 1")
        let result = await Task { [store] in
            try await store.withLease("refresh", for: .seconds(10), waitingUpTo: .milliseconds(100)) { _ in }
        }.result
        #expect(code { _ = try result.get() } == .leaseTimeout)
    }

    @Test func aCancelledTaskStopsWaiting() async throws {
        let holder = try child()
        #expect(try holder.readLine() == "took 1")
        let task = Task { [store] in
            try await store.withLease("refresh", for: .seconds(10), waitingUpTo: .seconds(600)) { _ in }
        }
        task.cancel()
        let result = await task.result
        #expect(code { _ = try result.get() } == .cancelled)
    }

    @Test func theWorksOwnErrorComesOutAndTheLeaseIsFree() async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await store.withLease("refresh", for: .seconds(600)) { _ in throw Broken() }
        }
        let outcome = try await store.withLease("refresh", for: .seconds(10), waitingUpTo: .seconds(500)) { _ in 1 }
        #expect(outcome.value == 1)
    }

    /// Counters of concurrent and of completed holders.
    private final class Tally: Sendable {
        let running = Atomic(0)
        let performed = Atomic(0)
    }

    @Test func tasksOfOneProcessExcludeEachOtherAsProcessesDo() async throws {
        let (store, tally) = (store, Tally())
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let outcome = try await store.withLease("refresh", for: .seconds(3600), waitingUpTo: .seconds(500))
                    { _ in
                        #expect(tally.running.add(1, ordering: .sequentiallyConsistent).newValue == 1)
                        try await Task.sleep(for: .milliseconds(30))
                        tally.running.subtract(1, ordering: .sequentiallyConsistent)
                    }
                    if case .performed = outcome { tally.performed.add(1, ordering: .sequentiallyConsistent) }
                }
            }
            try await group.waitForAll()
        }
        #expect(tally.performed.load(ordering: .sequentiallyConsistent) >= 1)
    }

    /// Damage to the file of a lease's record, done outside the library.
    enum Damage: CaseIterable, Sendable {
        case flippedBit, cut, replaced, putBack, removed

        func apply(_ path: String, older: [UInt8]) throws {
            var bytes = try SystemFile.read(path)
            unlink(path)
            switch self {
            case .flippedBit: bytes[bytes.count - 3] ^= 1
            case .cut: bytes.removeLast(20)
            case .replaced: bytes = Array("another program was here".utf8)
            case .putBack: bytes = older
            case .removed: return
            }
            try SystemFile.write(path, bytes)
        }
    }

    @Test(arguments: Damage.allCases) func aRefusedRecordBlocksNoHolderAndItsFenceIsLost(
        _ damage: Damage
    ) async throws {
        let path = fixture.file("_sealed/leases/refresh")
        _ = try await store.withLease("refresh", for: .seconds(600)) { _ in }
        let older = try SystemFile.read(path)
        let outcome = try await store.withLease("refresh", for: .seconds(600)) { fence in
            try damage.apply(path, older: older)
            #expect(code { try store.write(Note(text: "late"), holding: fence) } == .leaseLost)
            return fence.number
        }
        guard case .outlived(let number) = outcome else { throw StoreFixtureError.unexpected("\(outcome)") }
        let next = try await store.withLease("refresh", for: .seconds(600)) { $0.number }
        #expect(try #require(next.value) > number)
    }

    @Test func aForgedFenceIsRefusedAndCrashesNoProcess() async throws {
        _ = try await store.withLease("refresh", for: .seconds(600)) { _ in }
        var forgery = try Forgery(store)
        forgery.name = "_sealed/leases/refresh"
        forgery.schemaVersion = 1
        forgery.sequence = 50
        let fields =
            #""number":18446744073709551615,"state":"held","lastCompleted":0,"endsAt":1,"boot":"","processID":1"#
        forgery.payload = .bytes(Array("{\(fields)}".utf8))
        try fixture.plant(forgery.blob, forgery.name)
        let outcome = try await store.withLease("refresh", for: .seconds(600)) { $0.number }
        #expect(outcome.value == 51)
    }

    @Test func noCodeReadsTheTimeOfDay() async throws {
        let behind = try fixture.open { $0.now = { Date() - 86_400 } }
        let outcome = try await store.withLease("refresh", for: .seconds(600)) { fence in
            // The same lease in a program whose clock was set back.
            #expect(code { try behind.write(Note(text: "x"), holding: fence) } == nil)
        }
        guard case .performed = outcome else { throw StoreFixtureError.unexpected("\(outcome)") }
        #expect(try await behind.withLease("refresh", for: .seconds(600)) { _ in 1 }.value == 1)
    }

    @Test func noTimeIsTooLong() async throws {
        #expect(try await store.withLease("refresh", for: .seconds(Int64.max)) { _ in 1 }.value == 1)
        // The lease expires before it begins: the work is done, and other processes may do it as well.
        #expect(try await store.withLease("refresh", for: .seconds(-1)) { _ in 1 }.value == 1)
    }

    @Test func aWaiterSleepsWhileItWaits() throws {
        let holder = try child()
        #expect(try holder.readLine() == "took 1")
        let waiter = try child()
        sleep(1)
        let before = try ticks(of: waiter.pid)
        sleep(3)
        // A waiter that polls without a pause would have used most of three seconds: 300 ticks.
        #expect(try ticks(of: waiter.pid) - before < 100)
        #expect(try ask(holder, "end") == "performed")
        #expect(try waiter.readLine() == "reused")
    }

    /// Returns the processor time of a process, in hundredths of a second: proc(5), utime and stime.
    private func ticks(of process: Int32) throws -> Int {
        let stat = String(decoding: try SystemFile.read("/proc/\(process)/stat"), as: UTF8.self)
        let fields = stat[(stat.lastIndex(of: ")") ?? stat.startIndex)...].split(separator: " ")
        return try #require(Int(fields[12])) + (try #require(Int(fields[13])))
    }

    @Test func aLeaseOutlivesARotation() async throws {
        let store = store
        let outcome = try await store.withLease("refresh", for: .seconds(3600)) { fence in
            _ = try store.rotate()
            try await store.write(Note(text: "after"), holding: fence)
        }
        guard case .performed = outcome else { throw StoreFixtureError.unexpected("\(outcome)") }
        #expect(try await store.withLease("refresh", for: .seconds(600)) { _ in 2 }.value == 2)
    }
}

enum StoreFixtureError: Error { case unexpected(String) }
