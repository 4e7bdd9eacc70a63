import Dispatch
import Glibc
import SealedBackends
import SealedStateTestKit
import SharedFiles
import Synchronization
import Testing

/// Backends that break one promise: the check of the promise finds it.
@Suite(.timeLimit(.minutes(10))) struct PlantedBackendFaultTests {
    /// A broken promise, the check that finds it, and a part of the finding.
    struct Plant: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let check: BackendCheck
        let reason: String
        let make: @Sendable () -> WrongBackend
        /// The calls of several threads meet: another run of the seed may end with another finding.
        var isTimed = false

        init(
            _ name: String, _ check: BackendCheck, _ reason: String, isTimed: Bool = false,
            faults: MemoryBackend.Faults = .none, _ change: @escaping @Sendable (inout WrongBackend) -> Void
        ) {
            (testDescription, self.check, self.reason, self.isTimed) = (name, check, reason, isTimed)
            make = {
                var backend = WrongBackend(MemoryBackend(seed: 4, faults: faults))
                change(&backend)
                return backend
            }
        }
    }

    static let plants: [Plant] = [
        Plant("stale heads", .model, "sees another head") { backend in
            let last = Kept<BackendKey, BlobHead?>()
            backend.headCall = { (memory, key) throws(BackendError) in
                let head = try memory.head(key)
                return last.exchange(key, head) ?? head
            }
        },
        Plant("removals without effect", .model, "sees another head") { backend in
            backend.commitCall = { (memory, writes, durability) throws(BackendError) in
                try memory.commit(writes.filter { $0.change != .remove }, durability: durability)
            }
        },
        Plant("no conditions", .conditions, "was answered with success", ignoresConditions),
        Plant("every outcome unknown", .conditions, "unknown outcome 1000 times") { backend in
            backend.commitCall = { (memory, writes, durability) throws(BackendError) in
                do throws(BackendError) { try memory.commit(writes, durability: durability) } catch {
                    throw BackendError(.indeterminate, "write", "x", "No answer.")
                }
            }
        },
        Plant("lost updates", .races, "", isTimed: true, ignoresConditions),
        Plant("half a batch", .batches, "batch", commitOneByOne),
        Plant("batches over the limit", .batches, "over the limit") { backend in
            backend.traits.batchLimit = 63
        },
        Plant("limits of reading without effect", .sizes, "was read with a limit") { backend in
            backend.readCall = { (memory, key, _) throws(BackendError) in try memory.read(key, limit: .max) }
        },
        Plant("a blob over the largest size", .sizes, "one byte over the largest size") { backend in
            backend.traits.largestBlob = 70_000
        },
        Plant("a size below the largest", .sizes, "It threw an error") { backend in
            backend.commitCall = { (memory, writes, durability) throws(BackendError) in
                for case .put(let blob) in writes.map(\.change) where blob.count > 10 << 20 {
                    throw BackendError(.full, "write", "x", "It is full.")
                }
                try memory.commit(writes, durability: durability)
            }
        },
        Plant("names without case", .names, "list has") { backend in
            backend.commitCall = { (memory, writes, durability) throws(BackendError) in
                let lower = writes.map {
                    BackendWrite(BackendKey($0.key.name.lowercased()), $0.change, if: $0.condition)
                }
                try memory.commit(lower, durability: durability)
            }
        },
        Plant("a page that begins with the last key", .scans, "not the whole list") { backend in
            backend.scanCall = { (memory, prefix, key, limit) throws(BackendError) in
                try memory.scan(prefix, after: key.map { BackendKey(String($0.name.dropLast())) }, limit: limit)
            }
        },
        Plant("no blobs without a header", .hostileBytes, "") { backend in
            backend.readCall = { (memory, key, limit) throws(BackendError) in
                guard let held = try memory.read(key, limit: limit), held.bytes.count >= BlobHead.size else {
                    return nil
                }
                return held
            }
        },
        Plant("blobs that stay current", .heldBlobs, "called current") { backend in
            backend.readCall = { (memory, key, limit) throws(BackendError) in
                try memory.read(key, limit: limit).map { AlwaysCurrent(bytes: $0.bytes) }
            }
        },
        Plant("lost changes", .changes, "was not reported", isTimed: true, losesChanges),
        Plant("a notification before the commit", .changes, "was not reported", isTimed: true) {
            $0.notifiesEarly = true
        },
        Plant("a report before the commit", .changes, "was not visible when it was reported", isTimed: true) {
            $0.reportsEarly = true
        },
        Plant("positions without effect", .cursors, "were not reported") { backend in
            backend.changesCall = { (memory, _, notify) throws(BackendError) in try memory.changes(after: nil, notify) }
        },
        Plant("positions of other backends", .cursors, "was taken for one of this backend") { backend in
            backend.changesCall = { (memory, cursor, notify) throws(BackendError) in
                ChangedNews(try memory.changes(after: cursor, notify)) { $0.isResync = false }
            }
        },
        Plant("positions that a loss of power has undone", .cursors, "hides the changes since") { backend in
            let powerFailed = Kept<Int, Bool>()
            backend.afterPowerLoss = { powerFailed.exchange(0, true) }
            backend.changesCall = { (memory, cursor, notify) throws(BackendError) in
                // The position of the undone changes is that of those that follow.
                let isLost = cursor != nil && powerFailed[0] == true
                return try memory.changes(after: isLost ? nil : cursor, notify)
            }
        },
        Plant("removed data that are served", .removal, "not gone") { _ in },
        Plant("no decision", .settling, "", faults: .init(indeterminate: 0.5)) { backend in
            backend.settleCall = { (memory, key) throws(BackendError) in try memory.head(key) }
        },
        Plant("any number of copies", .preservation, "any number of copies") { backend in
            let count = Kept<BlobVersion, String>()
            backend.preserveCall = { (memory, key, reason, limit) throws(BackendError) in
                guard let held = try memory.read(key, limit: limit) else {
                    return try memory.preserve(key, reason: reason, limit: limit)
                }
                let version = BlobVersion(of: held.bytes)
                return count.exchange(version, "\(version.bytes)") ?? "\(version.bytes)"
            }
        },
        Plant("a copy of a part", .preservation, "Another copy was kept") { backend in
            backend.preserveCall = { (memory, key, reason, limit) throws(BackendError) in
                if limit == 499 { return "part" }
                return try memory.preserve(key, reason: reason, limit: limit)
            }
        },
        Plant("a copy that is a record", .preservation, "listed as a record") { backend in
            backend.preserveCall = { (memory, key, reason, limit) throws(BackendError) in
                let name = try memory.preserve(key, reason: reason, limit: limit)
                try memory.commit([BackendWrite(BackendKey("copy"), .put([1]))], durability: .unsynced)
                return name
            }
        },
        Plant("answers before the sync", .powerLoss, "After a loss of power") { backend in
            backend.commitCall = { (memory, writes, _) throws(BackendError) in
                try memory.commit(writes, durability: .unsynced)
            }
        },
        Plant("lost updates of many programs", .soak, "have no order", isTimed: true, ignoresConditions),
        Plant("half a batch of many programs", .soak, "", isTimed: true, commitOneByOne),
        Plant("old blobs", .soak, "have no order", isTimed: true) { backend in
            let last = Kept<BackendKey, [UInt8]>()
            backend.readCall = { (memory, key, limit) throws(BackendError) in
                guard let held = try memory.read(key, limit: limit) else { return nil }
                let old = last.exchange(key, held.bytes)
                return held.bytes[100] < 20 ? AlwaysCurrent(bytes: old ?? held.bytes) : held
            }
        },
    ]

    /// A seed shows a fault again.
    @Test(arguments: plants) func isFound(_ plant: Plant) throws {
        let faults = (0..<(plant.isTimed ? 1 : 2)).map { _ -> BackendFault? in
            do throws(BackendFault) { try plant.check.run(on: Self.subject(plant), seed: 11) } catch { return error }
            return nil
        }
        let fault = try #require(faults[0])
        #expect(fault.check == plant.check && fault.seed == 11)
        #expect(fault.reason.contains(plant.reason), "\(fault)")
        #expect(faults.allSatisfy { $0?.reason == fault.reason })
    }

    private static func subject(_ plant: Plant) -> BackendSubject {
        BackendSubject(
            losePower: { backend in
                (backend as? WrongBackend)?.losePower()
                return backend
            }, removeData: { _ in }, soakDuration: .seconds(10), make: plant.make)
    }

    private static let ignoresConditions: @Sendable (inout WrongBackend) -> Void = { backend in
        backend.commitCall = { (memory, writes, durability) throws(BackendError) in
            try memory.commit(writes.map { BackendWrite($0.key, $0.change) }, durability: durability)
        }
    }

    private static let commitOneByOne: @Sendable (inout WrongBackend) -> Void = { backend in
        backend.commitCall = { (memory, writes, durability) throws(BackendError) in
            try memory.traits.requireLimits(of: writes)
            for (index, write) in writes.enumerated() {
                do throws(BackendError) { try memory.commit([write], durability: durability) } catch {
                    throw BackendError(error.code, "write", write.key.name, error.reason, index: index)
                }
            }
        }
    }

    /// Each fifth change is not reported.
    private static let losesChanges: @Sendable (inout WrongBackend) -> Void = { backend in
        backend.changesCall = { (memory, cursor, notify) throws(BackendError) in
            let count = Kept<Int, Int>()
            return ChangedNews(try memory.changes(after: cursor, notify)) { news in
                news.keys = news.keys.filter { _ in
                    let number = (count[0] ?? 0) + 1
                    count.exchange(0, number)
                    return !number.isMultiple(of: 5)
                }
            }
        }
    }
}

/// A backend in memory, some of whose calls are others.
struct WrongBackend: SealedBackend {
    var traits: BackendTraits
    var headCall: @Sendable (MemoryBackend, BackendKey) throws(BackendError) -> BlobHead? = {
        (memory, key) throws(BackendError) in try memory.head(key)
    }
    var readCall: @Sendable (MemoryBackend, BackendKey, Int) throws(BackendError) -> (any HeldBlob)? = {
        (memory, key, limit) throws(BackendError) in try memory.read(key, limit: limit)
    }
    var commitCall: @Sendable (MemoryBackend, [BackendWrite], Durability) throws(BackendError) -> Void = {
        (memory, writes, durability) throws(BackendError) in try memory.commit(writes, durability: durability)
    }
    var settleCall: @Sendable (MemoryBackend, BackendKey) throws(BackendError) -> BlobHead? = {
        (memory, key) throws(BackendError) in try memory.settle(key)
    }
    var scanCall: @Sendable (MemoryBackend, String, BackendKey?, Int) throws(BackendError) -> [BlobHead] = {
        (memory, prefix, key, limit) throws(BackendError) in try memory.scan(prefix, after: key, limit: limit)
    }
    var changesCall:
        @Sendable (MemoryBackend, BackendCursor?, @escaping @Sendable () -> Void) throws(BackendError)
            -> any BackendChanges = { (memory, cursor, notify) throws(BackendError) in
                try memory.changes(after: cursor, notify)
            }
    var preserveCall: @Sendable (MemoryBackend, BackendKey, String, Int) throws(BackendError) -> String? = {
        (memory, key, reason, limit) throws(BackendError) in try memory.preserve(key, reason: reason, limit: limit)
    }
    var afterPowerLoss: @Sendable () -> Void = {}
    /// A commit notifies before it is made, and then not any more.
    var notifiesEarly = false
    /// A commit is reported before it is made, and then not any more.
    var reportsEarly = false

    private let memory: MemoryBackend
    private let early = EarlyReports()

    init(_ memory: MemoryBackend) {
        self.memory = memory
        traits = memory.traits
    }

    func losePower() {
        memory.powerLoss()
        afterPowerLoss()
    }

    func head(_ key: BackendKey) throws(BackendError) -> BlobHead? { try headCall(memory, key) }

    func read(_ key: BackendKey, limit: Int) throws(BackendError) -> (any HeldBlob)? {
        try readCall(memory, key, limit)
    }

    func commit(_ writes: [BackendWrite], durability: Durability) throws(BackendError) {
        if notifiesEarly { early.announce([]) }
        if reportsEarly { early.announce(writes.map(\.key)) }
        try commitCall(memory, writes, durability)
    }

    func settle(_ key: BackendKey) throws(BackendError) -> BlobHead? { try settleCall(memory, key) }

    func scan(_ prefix: String, after key: BackendKey?, limit: Int) throws(BackendError) -> [BlobHead] {
        try scanCall(memory, prefix, key, limit)
    }

    func changes(
        after cursor: BackendCursor?, _ notify: @escaping @Sendable () -> Void
    ) throws(BackendError) -> any BackendChanges {
        guard notifiesEarly || reportsEarly else { return try changesCall(memory, cursor, notify) }
        return early.follow(try memory.changes(after: cursor) {}, reportsEarly: reportsEarly, notify)
    }

    func preserve(_ key: BackendKey, reason: String, limit: Int) throws(BackendError) -> String? {
        try preserveCall(memory, key, reason, limit)
    }
}

/// Values of a test's backend.
private final class Kept<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    private let values = Mutex<[Key: Value]>([:])

    subscript(_ key: Key) -> Value? { values.withLock { $0[key] } }

    /// Returns the former value.
    @discardableResult
    func exchange(_ key: Key, _ value: Value) -> Value? { values.withLock { $0.updateValue(value, forKey: key) } }
}

private struct AlwaysCurrent: HeldBlob {
    let bytes: [UInt8]
    var isCurrent: Bool { true }
}

/// Changes whose news are others.
private final class ChangedNews: BackendChanges {
    private let inner: any BackendChanges
    private let change: @Sendable (inout BackendNews) -> Void

    init(_ inner: any BackendChanges, _ change: @escaping @Sendable (inout BackendNews) -> Void) {
        self.inner = inner
        self.change = change
    }

    func next(limit: Int) throws(BackendError) -> BackendNews {
        var news = try inner.next(limit: limit)
        change(&news)
        return news
    }
}

/// Reports of commits that are not made yet: a commit waits until they were taken.
private final class EarlyReports: Sendable {
    private struct State {
        var keys: Set<BackendKey> = []
        var notify: @Sendable () -> Void = {}
    }

    private let state = Mutex(State())
    private let taken = DispatchSemaphore(value: 0)

    func announce(_ keys: [BackendKey]) {
        let notify = state.withLock { state in
            state.keys.formUnion(keys)
            return state.notify
        }
        while taken.wait(timeout: .now()) == .success {}
        notify()
        // Without a follower the commit is made after a second.
        _ = taken.wait(timeout: .now() + .seconds(1))
        // The follower reads the reported records.
        usleep(20_000)
    }

    func follow(
        _ inner: any BackendChanges, reportsEarly: Bool, _ notify: @escaping @Sendable () -> Void
    ) -> any BackendChanges {
        state.withLock { $0.notify = notify }
        return Changes(self, inner, reportsEarly)
    }

    private final class Changes: BackendChanges {
        private let reports: EarlyReports
        private let inner: any BackendChanges
        private let reportsEarly: Bool

        init(_ reports: EarlyReports, _ inner: any BackendChanges, _ reportsEarly: Bool) {
            (self.reports, self.inner, self.reportsEarly) = (reports, inner, reportsEarly)
        }

        func next(limit: Int) throws(BackendError) -> BackendNews {
            defer { reports.taken.signal() }
            guard reportsEarly else { return try inner.next(limit: limit) }
            let keys = reports.state.withLock { state in
                let keys = state.keys.sorted().prefix(limit)
                state.keys.subtract(keys)
                return keys
            }
            return BackendNews(keys: Array(keys))
        }
    }
}
