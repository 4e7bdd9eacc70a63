import AppGroups
import SealedBackends
import SealedStateSQLite
import SealedStateTestKit
import Sealing
import SharedFiles
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// The promises of `SealedBackend` on each backend, and on backends that break one.
@Suite("Backends keep their promises", .timeLimit(.minutes(5))) struct BackendConformanceTests {
    private static let seeds: [UInt64] = [1, 2, 3]

    @Test(arguments: BackendCheck.allCases, seeds) func memory(check: BackendCheck, seed: UInt64) throws {
        #expect(try check.run(on: Self.memory(seed, .none), seed: seed) == .passed)
    }

    /// Faults that a backend may have change none of its promises.
    @Test(arguments: BackendCheck.allCases, seeds) func memoryWithFaults(check: BackendCheck, seed: UInt64) throws {
        var faults = MemoryBackend.Faults.all
        // With other writers a commit whose answer was lost cannot be found any more.
        if check == .races { faults.indeterminate = 0 }
        #expect(try check.run(on: Self.memory(seed, faults), seed: seed) == .passed)
    }

    private static func memory(_ seed: UInt64, _ faults: MemoryBackend.Faults) -> BackendSubject {
        BackendSubject(
            losePower: { backend in
                (backend as? MemoryBackend)?.powerLoss()
                return backend
            }, make: { MemoryBackend(seed: seed, faults: faults) })
    }

    @Test(arguments: BackendCheck.allCases) func files(check: BackendCheck) throws {
        let fixture = try StoreFixture()
        let container = try GroupContainer.open(fixture.group, in: fixture.home)
        let open: @Sendable () throws -> FileBackend = {
            let container = try GroupContainer.open(container.group, in: fixture.home, creating: false)
            return FileBackend(container, at: ContainerAnchor(of: container.root))
        }
        let locks = ContainerLocks(of: container)
        let subject = BackendSubject(
            reopen: { _ in try open() },
            exclude: { key, body in
                let place = RecordPlace(try RecordName(stored: key.name), group: container.group.identifier)
                let lock = try locks.lock(place.lock, timeout: .seconds(60))
                try body()
                lock.unlock()
            }, make: open)
        let outcome = try check.run(on: subject)
        switch check {
        case .batches, .powerLoss: #expect(outcome != .passed)
        default: #expect(outcome == .passed)
        }
    }

    #if SQLite
    @Test(arguments: BackendCheck.allCases, seeds) func sqlite(check: BackendCheck, seed: UInt64) throws {
        let place = try TemporaryDirectory()
        let open: @Sendable () throws -> any SealedBackend = {
            try SQLiteProvider().open(BackendPlace(group: "group.x", directory: place.path, isShared: false))
        }
        let outcome = try check.run(on: BackendSubject(reopen: { _ in try open() }, make: open), seed: seed)
        #expect(check == .powerLoss ? outcome != .passed : outcome == .passed)
    }
    #endif

    // MARK: Broken promises

    @Test func aLostEventIsFound() {
        expectFault(.changes, "was not reported") { LosesEvents(inner: MemoryBackend()) }
    }

    @Test func halfABatchIsFound() {
        expectFault(.batches, "batch") { HalvesBatches(inner: MemoryBackend()) }
    }

    @Test func anAcknowledgementBeforeTheSyncIsFound() {
        expectFault(.powerLoss, "After a loss of power") { SyncsNothing(inner: MemoryBackend()) }
    }

    @Test func aStaleHeadIsFound() {
        expectFault(.model, "sees another head") { ReturnsStaleHeads(inner: MemoryBackend()) }
    }

    @Test func aWrongSettlementIsFound() {
        expectFault(.settling, "") {
            SettlesNothing(inner: MemoryBackend(seed: 4, faults: .init(indeterminate: 0.5)))
        }
    }

    /// A seed shows a fault again.
    private func expectFault(
        _ check: BackendCheck, _ reason: String, _ make: @escaping @Sendable () -> any WrongBackend
    ) {
        let subject = BackendSubject(
            losePower: { backend in
                (backend as? any WrongBackend)?.inner.powerLoss()
                return backend
            }, make: make)
        let faults = (0..<2).map { _ -> BackendFault? in
            do throws(BackendFault) { try check.run(on: subject, seed: 11) } catch { return error }
            return nil
        }
        #expect(faults[0]?.check == check && faults[0]?.seed == 11)
        #expect(faults[0]?.reason.contains(reason) == true, "\(String(describing: faults[0]))")
        if check != .changes { #expect(faults[0]?.reason == faults[1]?.reason) }
    }
}

/// A backend that breaks one promise and is right otherwise.
private protocol WrongBackend: SealedBackend {
    var inner: MemoryBackend { get }
}

extension WrongBackend {
    var traits: BackendTraits { inner.traits }

    func head(_ key: BackendKey) throws(BackendError) -> BlobHead? { try inner.head(key) }

    func read(_ key: BackendKey, limit: Int) throws(BackendError) -> (any HeldBlob)? {
        try inner.read(key, limit: limit)
    }

    func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError) {
        try inner.commit(writes, durability: durability)
    }

    func settle(_ key: BackendKey) throws(BackendError) -> BlobHead? { try inner.settle(key) }

    func scan(_ prefix: String, after key: BackendKey?, limit: Int) throws(BackendError) -> [BlobHead] {
        try inner.scan(prefix, after: key, limit: limit)
    }

    func changes(
        after cursor: BackendCursor?, _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) -> any BackendChanges {
        try inner.changes(after: cursor, notify)
    }

    func preserve(_ key: BackendKey, reason: String, limit: Int) throws(BackendError) -> String? {
        try inner.preserve(key, reason: reason, limit: limit)
    }
}

private struct LosesEvents: WrongBackend {
    let inner: MemoryBackend

    private final class Changes: BackendChanges {
        let inner: any BackendChanges
        let count = Mutex(0)

        init(_ inner: any BackendChanges) { self.inner = inner }

        func next(limit: Int) throws(BackendError) -> BackendNews {
            var news = try inner.next(limit: limit)
            news.keys = news.keys.filter { _ in
                count.withLock { count in
                    count += 1
                    return !count.isMultiple(of: 5)
                }
            }
            return news
        }
    }

    func changes(
        after cursor: BackendCursor?, _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) -> any BackendChanges {
        Changes(try inner.changes(after: cursor, notify))
    }
}

private struct HalvesBatches: WrongBackend {
    let inner: MemoryBackend

    func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError) {
        guard writes.count <= traits.batchLimit else { return try inner.commit(writes, durability: durability) }
        for (index, write) in writes.enumerated() {
            do throws(BackendError) { try inner.commit([write], durability: durability) } catch {
                throw BackendError(error.code, "write", write.key.name, error.reason, index: index)
            }
        }
    }
}

private struct SyncsNothing: WrongBackend {
    let inner: MemoryBackend

    func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError) {
        try inner.commit(writes, durability: .unsynced)
    }
}

private struct ReturnsStaleHeads: WrongBackend {
    let inner: MemoryBackend
    private let last = Heads()

    private final class Heads: Sendable {
        let heads = Mutex<[BackendKey: BlobHead]>([:])
    }

    init(inner: MemoryBackend) { self.inner = inner }

    func head(_ key: BackendKey) throws(BackendError) -> BlobHead? {
        let head = try inner.head(key)
        return last.heads.withLock { heads in
            defer { heads[key] = head }
            return heads[key] ?? head
        }
    }
}

private struct SettlesNothing: WrongBackend {
    let inner: MemoryBackend

    func settle(_ key: BackendKey) throws(BackendError) -> BlobHead? { try inner.head(key) }
}
