#if SQLite
import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import SealedBackends
import SealedState

/// Many records in SQLite, against plain tables of the same blobs in SQLite and in SQLCipher.
struct SQLiteBenchmarks {
    private static let readsOfChild = 20_000

    private let parent: String
    private let count: Int
    private let title: String

    /// - Parameter count: The number of records.
    init(in parent: String, count: Int) {
        self.parent = parent
        self.count = count
        title = count.grouped
    }

    private var reading: String { "SQLite: read one of \(title), undecoded" }
    private var readingBesideCipher: String { "SQLite: read one of \(title), against SQLCipher" }
    private var readingBlob: String { "SQLite: read a blob of \(title)" }
    private var writingBlob: String { "SQLite: write a blob of \(title), durable" }
    private var updating: String { "SQLite: update one of \(title), durable" }
    private var updatingUnsynced: String { "SQLite: update one of \(title), unsynced" }
    private var transaction: String { "SQLite: 1,000 updates in one transaction, random of \(title)" }
    private var neighbours: String { "SQLite: 1,000 updates in one transaction, neighbours" }
    private var listing: String { "SQLite: list 100 of \(title)" }
    private var opening: String { "SQLite: open the store of \(title)" }
    private var memory: String { "SQLite: read 20,000 of \(title): memory" }

    func run(in runner: inout Runner) throws {
        guard
            runner.isWanted(
                reading, readingBesideCipher, readingBlob, writingBlob, updating, updatingUnsynced, transaction,
                neighbours,
                listing, opening, memory)
        else { return }
        let place = try Workspace(in: parent)
        guard let plain = PlainDatabase(place.path + "/plain.sqlite") else {
            throw BenchmarkFailure("the peer's database cannot be created")
        }
        let cipher = PlainDatabase(place.path + "/cipher.sqlite", isEncrypted: true)
        let filled = try FilledStore(
            .sqlite, count, in: parent, peers: [plain], plainPeers: cipher.map { [$0] } ?? [])
        try read(filled, plain, cipher, in: &runner)
        try useBackend(filled, plain, in: &runner)
        try update(filled, plain, in: &runner)
        try transact(filled, plain, in: &runner)
        try list(filled, plain, in: &runner)
        try open(filled, in: &runner)
        try compareMemory(filled, in: &runner)
    }

    private func read(
        _ filled: FilledStore, _ plain: PlainDatabase, _ cipher: PlainDatabase?, in runner: inout Runner
    ) throws {
        let rounds = runner.options.rounds
        func compare(_ peer: PlainDatabase) throws -> Comparison {
            let names = filled.names()
            var (ours, theirs) = (names, names)
            return try Comparison(
                rounds: rounds, ours: { _ = try filled.store.openPayload(named: ours.name()) },
                peer: { _ = try peer.read(theirs.name()) })
        }
        try runner.measure(reading) { operation in
            Finding(operation, try compare(plain), against: "SQLite", target: 1.3)
        }
        guard let cipher else {
            return say("skipped: \(readingBesideCipher) (no libsqlcipher; .ci/bootstrap bench installs it)")
        }
        try runner.measure(readingBesideCipher) { operation in
            Finding(operation, try compare(cipher), against: "SQLCipher", target: 0.25)
        }
    }

    /// The backend alone: what the database costs beside sealing, locks and accepted states.
    private func useBackend(_ filled: FilledStore, _ plain: PlainDatabase, in runner: inout Runner) throws {
        let (backend, names) = (filled.store.backend, filled.names())
        let rounds = runner.options.rounds
        try runner.measure(readingBlob) { operation in
            var (ours, theirs) = (names, names)
            let comparison = try Comparison(
                rounds: rounds, ours: { _ = try backend.read(BackendKey(ours.name()), limit: 1 << 20) },
                peer: { _ = try plain.read(theirs.name()) })
            return Finding(operation, comparison, against: "SQLite", target: 1.3)
        }
        try runner.measure(writingBlob) { operation in
            // Records of no store, so that no accepted state is left behind.
            let keys = (0..<1000).map { BackendKey("blobs/n\($0)") }
            var (next, blob) = (0, try Self.blob(filled))
            let version = BlobVersion(of: blob)
            try backend.commit(keys.map { BackendWrite($0, .put(blob)) }, durability: .durable)
            try plain.insert(keys.map { ($0.name, blob) })
            var theirs = 0
            let comparison = try Comparison(
                rounds: rounds, slice: 0.005,
                ours: {
                    next = (next + 1) % keys.count
                    blob[blob.count - 1] &+= 1
                    try backend.commit(
                        [BackendWrite(keys[next], .put(blob), if: .version(version))], durability: .durable)
                },
                peer: {
                    theirs = (theirs + 1) % keys.count
                    try plain.update(keys[theirs].name)
                })
            return Finding(operation, comparison, against: "SQLite", target: 1.3)
        }
    }

    private static func blob(_ filled: FilledStore) throws -> [UInt8] {
        guard let held = try filled.store.backend.read(BackendKey(FilledStore.name(0)), limit: 1 << 20) else {
            throw BenchmarkFailure("a record is missing")
        }
        return held.bytes
    }

    /// An update reads the record and writes it with other contents; the peer reads and writes a row.
    private func update(_ filled: FilledStore, _ plain: PlainDatabase, in runner: inout Runner) throws {
        for (operation, durability, target) in [
            (updating, Durability.durable, 1.3 as Double?), (updatingUnsynced, .unsynced, nil),
        ] {
            let rounds = runner.options.rounds
            try runner.measure(operation) { operation in
                try plain.setDurable(durability == .durable)
                let names = filled.names()
                var (ours, theirs) = (names, names)
                let comparison = try Comparison(
                    rounds: rounds, slice: 0.005,
                    ours: {
                        try filled.store.update(Entry.self, named: ours.name(), durability: durability) {
                            $0.count += 1
                        }
                    }, peer: { try plain.update(theirs.name()) })
                return Finding(operation, comparison, against: "SQLite", target: target)
            }
        }
    }

    /// Each transaction reads 1,000 records and writes them with other contents.
    private func transact(_ filled: FilledStore, _ plain: PlainDatabase, in runner: inout Runner) throws {
        let (updates, rounds) = (1000, runner.options.rounds)
        guard count > updates else { return }
        for (operation, areNeighbours, target) in [(transaction, false, 1.3), (neighbours, true, 2.5)] {
            try runner.measure(operation) { operation in
                try plain.setDurable(true)
                var generator = SystemRandomNumberGenerator()
                func names() -> [String] {
                    let first = Int.random(in: 0..<count - updates, using: &generator)
                    let numbers =
                        areNeighbours
                        ? Array(first..<first + updates)
                        : (0..<updates).map { _ in Int.random(in: 0..<count, using: &generator) }
                    return Array(Set(numbers)).sorted().map(FilledStore.name)
                }
                let sets = (0..<64).map { _ in names() }
                var (ours, theirs) = (0, 0)
                let comparison = try Comparison(
                    rounds: rounds, slice: 0.005,
                    ours: {
                        ours = (ours + 1) % sets.count
                        try filled.store.transaction { transaction in
                            for name in sets[ours] {
                                try transaction.update(Entry.self, named: name) { $0.count += 1 }
                            }
                        }
                    },
                    peer: {
                        theirs = (theirs + 1) % sets.count
                        try plain.update(sets[theirs])
                    })
                return Finding(operation, comparison, against: "SQLite", target: target)
            }
        }
    }

    private func list(_ filled: FilledStore, _ plain: PlainDatabase, in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure(listing) { operation in
            let names = filled.names()
            var (ours, theirs) = (names, names)
            let comparison = try Comparison(
                rounds: rounds,
                ours: {
                    let found = try filled.store.backend.scan(ours.prefix(), after: nil, limit: 1000)
                    guard found.count == 100 else { throw BenchmarkFailure("\(found.count) names were listed") }
                },
                peer: {
                    let found = plain.list(theirs.prefix(), limit: 1000)
                    guard found == 100 else { throw BenchmarkFailure("the peer listed \(found) names") }
                })
            return Finding(operation, comparison, against: "SQLite", target: 1.3)
        }
    }

    private func open(_ filled: FilledStore, in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure(opening) { operation in
            let times = try Comparison.time(rounds: rounds) {
                _ = try SealedStore(
                    group: filled.workspace.group, in: filled.workspace.home, options: filled.kind.options)
            }
            return Finding(operation, times, target: 0.005)
        }
    }

    /// Compares a program that opens the store and reads, beside all records and beside a few.
    private func compareMemory(_ filled: FilledStore, in runner: inout Runner) throws {
        try runner.measure(memory) { operation in
            let few = try FilledStore(.sqlite, Self.readsOfChild, in: parent)
            func peak(_ filled: FilledStore) throws -> Double {
                let program = ChildProcess([Program.path] + Crew.reading(filled, Self.readsOfChild))
                return try (0..<3).map { _ in try program.run(watchingMemory: true).peakMemory }.max() ?? 0
            }
            var finding = Finding(operation, try peak(filled), .bytes, target: 1.2)
            finding.compare(with: try peak(few), "beside 20,000 records")
            return finding
        }
    }
}

extension Int {
    /// The number with a comma between each three digits.
    var grouped: String {
        let digits = Array(String(self))
        return digits.indices.reduce(into: "") { text, index in
            if index > 0, (digits.count - index) % 3 == 0 { text.append(",") }
            text.append(digits[index])
        }
    }
}
#endif
