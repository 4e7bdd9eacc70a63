#if SQLite
import Dispatch
import Glibc
import SealedBackends
import SealedState
import Synchronization

/// Records in SQLite against records in files, with a growing number of records, writers and watchers.
struct GrowthBenchmarks {
    private static let recordCounts = [1, 100, 10_000, 100_000]
    private static let writerCounts = [1, 4, 16, 64]
    /// The programs of both backends run at once, and a user may have 128 that watch (inotify(7)).
    private static let watchers: [(programs: Int, each: Int)] = [(1, 1), (10, 1), (50, 1), (50, 2)]
    /// The updates of one turn, by all writers together.
    private static let updatesPerTurn = 64

    private let parent: String
    private let largest: Int

    /// - Parameter largest: The largest number of records.
    init(in parent: String, largest: Int) {
        self.parent = parent
        self.largest = largest
    }

    func run(in runner: inout Runner) throws {
        for count in Self.recordCounts where count <= largest { try grow(count, in: &runner) }
        try write(in: &runner)
        try watch(in: &runner)
    }

    private static func fill(_ count: Int, in parent: String) throws -> (FilledStore, FilledStore) {
        (try FilledStore(.sqlite, count, in: parent), try FilledStore(.files, count, in: parent))
    }

    // MARK: Records

    private func grow(_ count: Int, in runner: inout Runner) throws {
        let operations = ["read", "update, durable", "list by prefix"].map { "growth: \($0), \(count.grouped) records" }
        guard operations.contains(where: { runner.isWanted($0) }) else { return }
        let (ours, peer) = try Self.fill(count, in: parent)
        let names = ours.names()
        let rounds = runner.options.rounds
        try runner.measure(operations[0]) { operation in
            var (next, peerNext) = (names, names)
            return Self.figure(
                operation,
                try Comparison(
                    rounds: rounds, ours: { _ = try ours.store.openPayload(named: next.name()) },
                    peer: { _ = try peer.store.openPayload(named: peerNext.name()) }))
        }
        try runner.measure(operations[1]) { operation in
            var (next, peerNext) = (names, names)
            func update(_ filled: FilledStore, _ name: String) throws {
                try filled.store.update(Entry.self, named: name) { $0.count += 1 }
            }
            return Self.figure(
                operation,
                try Comparison(
                    rounds: max(3, rounds / 4), slice: 0, ours: { try update(ours, next.name()) },
                    peer: { try update(peer, peerNext.name()) }))
        }
        try runner.measure(operations[2]) { operation in
            var (next, peerNext) = (names, names)
            func list(_ filled: FilledStore, _ prefix: String) throws {
                let found = try filled.store.backend.scan(prefix, after: nil, limit: 1000)
                guard found.count == min(count, 100) else { throw BenchmarkFailure("\(found.count) names were listed") }
            }
            return Self.figure(
                operation,
                try Comparison(
                    rounds: max(3, rounds / 10), slice: 0, ours: { try list(ours, next.prefix()) },
                    peer: { try list(peer, peerNext.prefix()) }))
        }
    }

    private static func figure(_ operation: String, _ comparison: Comparison) -> Finding {
        Finding(operation, comparison, against: "files", target: nil, note: "SQLite, against files")
    }

    // MARK: Writers

    /// Writers of different records, as threads with one store and as programs.
    private func write(in runner: inout Runner) throws {
        func title(_ count: Int, _ kind: String) -> String { "growth: update, durable, \(count) writing \(kind)" }
        let isWanted = Self.writerCounts.contains { count in
            runner.isWanted(title(count, "threads"), title(count, "programs"))
        }
        guard isWanted else { return }
        let (ours, peer) = try Self.fill(100, in: parent)
        for count in Self.writerCounts {
            let updates = Self.updatesPerTurn / count
            try compare(title(count, "threads"), in: &runner) {
                (
                    { try WritingThreads.run(count, of: ours.store, updates: updates) },
                    { try WritingThreads.run(count, of: peer.store, updates: updates) }
                )
            }
            try compare(title(count, "programs"), in: &runner) {
                let crews = try [ours, peer].map { filled in
                    try Crew(count) { Crew.writing(filled, "writers/n\($0)", updates: updates) }
                }
                return ({ try crews[0].takeTurn() }, { try crews[1].takeTurn() })
            }
        }
    }

    private func compare(
        _ operation: String, in runner: inout Runner, _ turns: () throws -> (() throws -> Void, () throws -> Void)
    ) throws {
        let rounds = max(3, runner.options.rounds / 20)
        try runner.measure(operation) { operation in
            let (ours, peer) = try turns()
            return Self.figure(
                operation,
                try Comparison(rounds: rounds, slice: 0, ours: ours, peer: peer, calls: Self.updatesPerTurn))
        }
    }

    // MARK: Watchers

    /// Watchers of one record: the time from the beginning of a write until all have the new value.
    private func watch(in runner: inout Runner) throws {
        let rounds = max(5, runner.options.rounds / 5)
        for (count, watchers) in Self.watchers {
            let kind =
                watchers == 1
                ? "\(count) watching \(count == 1 ? "program" : "programs")"
                : "\(count * watchers) watchers in \(count) programs"
            try runner.measure("growth: notify \(kind)") { operation in
                let (ours, peer) = try Self.fill(100, in: parent)
                let name = FilledStore.name(0)
                let crews = try [ours, peer].map { filled in
                    try Crew(count, reports: watchers) { _ in Crew.watching(filled, name, watchers: watchers) }
                }
                func notify(_ filled: FilledStore, _ crew: Crew) throws {
                    try filled.store.update(Entry.self, named: name, durability: .unsynced) { $0.count += 1 }
                    try crew.wait()
                }
                return Self.figure(
                    operation,
                    try Comparison(
                        rounds: rounds, slice: 0, ours: { try notify(ours, crews[0]) },
                        peer: { try notify(peer, crews[1]) }))
            }
        }
    }
}

/// Threads that update different records of one store at the same time: those of the store's calls for tasks.
private final class WritingThreads: Sendable {
    private let failure = Mutex<(any Error)?>(nil)
    private let end = DispatchSemaphore(value: 0)

    /// Runs a turn of all threads.
    static func run(_ count: Int, of store: SealedStore, updates: Int) throws {
        let turn = WritingThreads()
        Task {
            await withTaskGroup(of: Void.self) { group in
                for number in 0..<count { group.addTask { await turn.write(store, "threads/n\(number)", updates) } }
            }
            turn.end.signal()
        }
        turn.end.wait()
        if let error = turn.failure.withLock({ $0 }) { throw error }
    }

    private func write(_ store: SealedStore, _ name: String, _ updates: Int) async {
        do {
            for _ in 0..<updates {
                try await store.update(Entry.self, named: name, startingWith: Entry()) { $0.count += 1 }
            }
        } catch {
            failure.withLock { $0 = error }
        }
    }
}
#endif
