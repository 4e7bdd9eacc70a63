import AppGroups
import Dispatch
import FoundationEssentials
import Glibc
import KeyVault
import SealedBackends
import SealedStateSQLite
import SealedStateTestKit
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Transactions on the backends that have them.
@Suite("Transactions", .timeLimit(.minutes(5))) struct TransactionTests {
    enum Engine: String, CaseIterable {
        case memory, sqlite
    }

    private struct Failure: Error {}

    private func store(_ fixture: StoreFixture, _ engine: Engine) throws -> SealedStore {
        try fixture.open { options in
            switch engine {
            case .memory: options.backend = MemoryBackend(seed: 3)
            case .sqlite:
                #if SQLite
                options.backend = SQLiteProvider()
                #else
                options.backend = MemoryBackend(seed: 4)
                #endif
            }
        }
    }

    @Test(arguments: Engine.allCases) func allChangesAreMade(engine: Engine) throws {
        let fixture = try StoreFixture()
        let store = try store(fixture, engine)
        try store.write(Note(text: "a", number: 10), named: "a")
        try store.write(Note(text: "gone"), named: "gone")
        let result = try store.transaction { transaction in
            #expect(try transaction.read(Note.self, named: "a").number == 10)
            #expect(try transaction.write(Note(text: "b", number: 1), named: "b", onlyIf: .absent) == 1)
            try transaction.update(Note.self, named: "a") { $0.number -= 3 }
            #expect(
                try transaction.update(Note.self, named: "b") {
                    $0.number += 3; return $0.number
                } == 4)
            #expect(try transaction.delete(named: "gone") == 2)
            #expect(code { _ = try transaction.read(Note.self, named: "gone") } == .absent)
            #expect(code { _ = try transaction.delete(named: "gone") } == .absent)
            #expect(code { _ = try store.read(Note.self, named: "b") } == .absent)
            #expect(try transaction.update(Note.self, named: "c", startingWith: Note(text: "c")) { $0.number } == 0)
            return "done"
        }
        #expect(result == "done")
        #expect(try store.read(Note.self, named: "a").number == 7)
        #expect(try store.snapshot(of: Note.self, named: "b").value.number == 4)
        #expect(try store.snapshot(of: Note.self, named: "b").provenance.sequence == 2)
        #expect(code { _ = try store.read(Note.self, named: "gone") } == .absent)
        #expect(try store.list().map(\.name) == ["a", "b", "c", "gone"])
        // A deleted record that the same transaction creates again.
        try store.transaction { transaction in
            try transaction.delete(named: "a")
            try transaction.write(Note(text: "again"), named: "a", onlyIf: .absent)
        }
        #expect(try store.snapshot(of: Note.self, named: "a").provenance.sequence == 4)
    }

    @Test(arguments: Engine.allCases) func nothingIsWrittenAfterAnError(engine: Engine) throws {
        let fixture = try StoreFixture()
        let store = try store(fixture, engine)
        try store.write(Note(text: "a", number: 1), named: "a")
        let declined = refusal {
            try store.transaction { transaction in
                try transaction.write(Note(text: "a", number: 2), named: "a")
                throw Failure()
            }
        }
        #expect(declined?.code == .declined && declined?.cause is Failure)
        #expect(
            code {
                try store.transaction { transaction in
                    try transaction.write(Note(text: "a", number: 2), named: "a")
                    try transaction.write(Note(text: "b"), named: "b", onlyIf: .sequence(7))
                }
            } == .conflict)
        #expect(
            code {
                try store.transaction { transaction in
                    try transaction.write(Note(text: "a", number: 2), named: "a")
                    try transaction.write(Note(text: Note.forbidden), named: "b")
                }
            } == .invalid)
        #expect(
            code { try store.transaction { try $0.update(Note.self, named: "a") { _ in throw Failure() } } }
                == .declined)
        #expect(try store.snapshot(of: Note.self, named: "a").provenance.sequence == 1)
        #expect(try store.list().map(\.name) == ["a"])
        // An error that the closure catches belongs to one call.
        try store.transaction { transaction in
            _ = try? transaction.read(Note.self, named: "missing")
            try transaction.write(Note(text: "a", number: 5), named: "a")
        }
        #expect(try store.read(Note.self, named: "a").number == 5)
    }

    /// Money is moved among accounts by four programs while others add it up.
    @Test(arguments: Engine.allCases) func sumsAreConstant(engine: Engine) throws {
        let fixture = try StoreFixture()
        let first = try store(fixture, engine)
        let stores =
            engine == .memory ? Array(repeating: first, count: 4) : try (0..<4).map { _ in try store(fixture, engine) }
        let names = (0..<5).map { "account/\($0)" }
        try first.transaction { transaction in
            for name in names { try transaction.write(Note(text: "account", number: 100), named: name) }
        }
        let sums = Mutex<Set<Int>>([])
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { worker in
            var random = SystemRandomNumberGenerator()
            for _ in 0..<25 {
                let (from, to) = (names.randomElement(using: &random), names.randomElement(using: &random))
                guard let from, let to, from != to else { continue }
                do {
                    try stores[worker].transaction { transaction in
                        try transaction.update(Note.self, named: from) { $0.number -= 1 }
                        try transaction.update(Note.self, named: to) { $0.number += 1 }
                    }
                    // A single record's update takes part as well.
                    try stores[worker].update(Note.self, named: from) { $0.text = "account" }
                    let sum = try stores[worker].transaction { transaction in
                        var sum = 0
                        for name in names { sum += try transaction.read(Note.self, named: name).number }
                        return sum
                    }
                    sums.withLock { _ = $0.insert(sum) }
                } catch { failures.withLock { $0.append("\(error)") } }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(sums.withLock { $0 } == [500])
    }

    @Test func filesWriteOneRecordAtATime() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open()
        try store.transaction { try $0.write(Note(text: "one"), named: "a") }
        let error = refusal {
            try store.transaction { transaction in
                try transaction.write(Note(text: "two"), named: "a")
                try transaction.write(Note(text: "two"), named: "b")
            }
        }
        #expect(error?.code == .backendUnknown)
        #expect(try store.read(Note.self, named: "a").text == "one")
        #expect(try store.list().map(\.name) == ["a"])
    }

    @Test func writersWaitForATransaction() throws {
        let fixture = try StoreFixture()
        let memory = MemoryBackend(seed: 8)
        let store = try fixture.open { $0.backend = memory }
        let other = try fixture.open { $0.backend = memory }
        try store.write(Note(text: "a", number: 1), named: "a")
        try store.transaction { transaction in
            let number = try transaction.read(Note.self, named: "a").number
            #expect(
                code { try other.update(Note.self, named: "a", timeout: .milliseconds(20)) { $0.number = 50 } }
                    == .lockTimeout)
            try transaction.update(Note.self, named: "a") { $0.number = number + 1 }
        }
        #expect(try other.update(Note.self, named: "a") { $0.number += 1 } == 3)
        #expect(try store.read(Note.self, named: "a").number == 3)
    }

    /// Twelve writers of single records leave hardly a moment at which no lock is held.
    @Test func writersDoNotStarveATransaction() throws {
        let fixture = try StoreFixture()
        let memory = MemoryBackend(seed: 9, faults: .init(latency: .milliseconds(2))) { _ in usleep(2000) }
        let store = try fixture.open { $0.backend = memory }
        let isOver = Mutex(false)
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 13) { worker in
            do {
                if worker == 0 {
                    for number in 1...10 {
                        try store.transaction { try $0.write(Note(text: "t", number: number), named: "t") }
                    }
                    return isOver.withLock { $0 = true }
                }
                while !isOver.withLock({ $0 }) {
                    try store.write(Note(text: "single"), named: "w\(worker)", timeout: .seconds(20))
                }
            } catch {
                isOver.withLock { $0 = true }
                failures.withLock { $0.append("\(error)") }
            }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try store.read(Note.self, named: "t").number == 10)
    }

    @Test(arguments: [UInt64(1), 2, 3]) func lostAnswersAreSettled(seed: UInt64) async throws {
        let fixture = try StoreFixture()
        let memory = MemoryBackend(seed: seed, faults: .init(indeterminate: 0.4))
        let store = try fixture.open { $0.backend = memory }
        for number in 1...10 {
            try await store.transaction { transaction in
                for name in ["a", "b"] {
                    try transaction.update(Note.self, named: name, startingWith: Note(text: name)) { $0.number += 1 }
                }
            }
            #expect(try store.read(Note.self, named: "a").number == number)
            #expect(try store.read(Note.self, named: "b").number == number)
        }
    }

    /// Another machine, with other locks, writes a record that the transaction has only read: it is read again.
    @Test func aReadThatWasOvertakenIsMadeAgain() throws {
        let fixture = try StoreFixture()
        let memory = MemoryBackend(seed: 2)
        let store = try fixture.open { $0.backend = memory }
        try store.write(Note(text: "a", number: 1), named: "a")
        let place = try TemporaryDirectory()
        _ = try ChildProcess.run("/bin/cp", ["-a", fixture.place.path + "/.", place.path])
        var options = StoreOptions()
        options.backend = memory
        let other = try SealedStore(group: fixture.group, in: GroupsHome(root: place.path), options: options)
        var numbers: [Int] = []
        try store.transaction { transaction in
            numbers.append(try transaction.read(Note.self, named: "a").number)
            if numbers.count == 1 { try other.write(Note(text: "a", number: 2), named: "a") }
            try transaction.write(Note(text: "b", number: numbers.last ?? 0), named: "b")
        }
        #expect(numbers == [1, 2])
        #expect(try other.read(Note.self, named: "b").number == 2)
    }

    /// The values that a transaction reads are those of one moment, also where it writes none.
    @Test func aViewThatWasOvertakenIsMadeAgain() throws {
        let fixture = try StoreFixture()
        let memory = MemoryBackend(seed: 2)
        let store = try fixture.open { $0.backend = memory }
        for name in ["a", "b"] { try store.write(Note(text: name, number: 1), named: name) }
        let place = try TemporaryDirectory()
        _ = try ChildProcess.run("/bin/cp", ["-a", fixture.place.path + "/.", place.path])
        var options = StoreOptions()
        options.backend = memory
        let other = try SealedStore(group: fixture.group, in: GroupsHome(root: place.path), options: options)
        var views: [[Int]] = []
        try store.transaction { transaction in
            let first = try transaction.read(Note.self, named: "a").number
            if views.isEmpty {
                try other.transaction { other in
                    for name in ["a", "b"] { try other.update(Note.self, named: name) { $0.number = 2 } }
                }
            }
            views.append([first, try transaction.read(Note.self, named: "b").number])
        }
        #expect(views == [[1, 2], [2, 2]])
    }

    /// A lost answer to a comparison is no failure: nothing was changed.
    @Test(arguments: [UInt64(1), 2, 3]) func aViewOutlivesLostAnswers(seed: UInt64) throws {
        let fixture = try StoreFixture()
        let memory = MemoryBackend(seed: seed, faults: .init(indeterminate: 0.4))
        let store = try fixture.open { $0.backend = memory }
        try store.transaction { transaction in
            for name in ["a", "b"] { try transaction.write(Note(text: name, number: 1), named: name) }
        }
        for _ in 0..<20 {
            let sum = try store.transaction { transaction in
                try ["a", "b"].reduce(0) { try $0 + transaction.read(Note.self, named: $1).number }
            }
            #expect(sum == 2)
        }
    }

    /// A refused blob is replaced, and kept.
    @Test func aRefusedBlobIsReplacedAndKept() throws {
        let fixture = try StoreFixture()
        let memory = MemoryBackend(seed: 2)
        let store = try fixture.open { $0.backend = memory }
        try memory.commit([BackendWrite(BackendKey("a"), .put([1, 2, 3]))], durability: .unsynced)
        try store.transaction { transaction in
            #expect(code { _ = try transaction.read(Note.self, named: "a") } == .malformed)
            try transaction.write(Note(text: "a"), named: "a")
            try transaction.write(Note(text: "b"), named: "b")
        }
        #expect(try store.read(Note.self, named: "a").text == "a")
        #expect(memory.copies.values.contains([1, 2, 3]))
    }

    @Test func aLostLeaseStopsATransaction() async throws {
        let fixture = try StoreFixture()
        let store = try store(fixture, .memory)
        _ = try await store.withLease("work", for: .seconds(30)) { fence in
            try await store.transaction(holding: fence) { try $0.write(Note(text: "held"), named: "a") }
        }
        let fence = try await store.withLease("work", for: .seconds(30)) { $0 }.value
        let failure = await #expect(throws: StoreError.self) {
            try await store.transaction(holding: fence) { try $0.write(Note(text: "late"), named: "a") }
        }
        #expect(failure?.code == .leaseLost)
        #expect(try store.read(Note.self, named: "a").text == "held")
    }

    @Test(.enabled(if: ProtectedSandbox.isAvailable)) func namesOfWhenUnlockedAreListedFirst() throws {
        let sandbox = try ProtectedSandbox()
        defer { sandbox.end() }
        var options = StoreOptions()
        options.backend = MemoryBackend(seed: 6)
        let store = try UnlockCaches.$current.withValue(.runtimeFile(below: sandbox.runtime)) {
            try SealedStore(
                group: sandbox.fixture.group, in: sandbox.fixture.home, unlockingWith: .identity(sandbox.identity),
                options: options)
        }
        var calls = 0
        try store.transaction { transaction in
            calls += 1
            try transaction.write(Note(text: "plain"), named: "plain")
            // The error is caught: the transaction is repeated all the same.
            _ = try? transaction.write(Guarded(number: 1), named: "one")
            try transaction.write(Guarded(number: 2), named: "two")
            #expect(try transaction.read(Guarded.self, named: "two").number == 2)
        }
        #expect(calls == 3)
        #expect(try store.read(Guarded.self, named: "one").number == 1)
        #expect(try store.read(Guarded.self, named: "two").number == 2)
        #expect(store.vault.isListed(record: "one", in: store.vault.keyring))
        // A transaction that fails after the listing leaves the stored value readable.
        try store.write(Unguarded(number: 3), named: "three")
        #expect(
            code {
                try store.transaction { transaction in
                    try transaction.write(Guarded(number: 4), named: "three")
                    throw Failure()
                }
            } == .declined)
        #expect(try store.read(Unguarded.self, named: "three").number == 3)
    }

    @Test(arguments: Engine.allCases) func listsComeInPages(engine: Engine) throws {
        let fixture = try StoreFixture()
        let store = try store(fixture, engine)
        try store.transaction { transaction in
            for number in 0..<20 { try transaction.write(Note(text: "n"), named: "list/\(number)") }
            for name in ["a", "lis", "list", "list.", "list0", "z"] {
                try transaction.write(Note(text: name), named: name)
            }
        }
        try store.defaults().set(1, forKey: "k")
        let expected = (0..<20).map { "list/\($0)" }.sorted()
        #expect(try store.list(prefix: "list/").map(\.name) == expected)
        var found: [String] = []
        while true {
            let page = try store.list(prefix: "list/", after: found.last, limit: 7)
            found += page.map(\.name)
            if page.count < 7 { break }
        }
        #expect(found == expected)
        #expect(try store.list(limit: 1).map(\.name) == ["a"])
        #expect(try store.list(after: "list/9", limit: 5).map(\.name) == ["list0", "z"])
        #expect(try store.list(prefix: "list", after: "a", limit: 2).map(\.name) == ["list", "list."])
        #expect(try store.list(prefix: "none").isEmpty)
        #expect(try store.list(limit: 0).isEmpty)
    }
}
