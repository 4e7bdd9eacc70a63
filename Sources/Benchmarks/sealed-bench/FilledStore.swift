#if SQLite
import AppGroups
import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import SealedBackends
import SealedState
import SealedStateSQLite
import Sealing

/// A record of the measurements with many records.
struct Entry: SealedRecord {
    static let recordName = "many/entry"
    static let schemaVersion = 1
    var count = 0
    var text = String(repeating: "a value of a usual size ", count: 5)
}

/// The place of a store's records.
enum BackendKind: String {
    case files, sqlite

    var options: StoreOptions {
        var options = StoreOptions()
        if self == .sqlite { options.backend = SQLiteProvider() }
        return options
    }
}

/// A store with many records, a hundred under each prefix. It is filled without the store's writes, which would take
/// minutes.
struct FilledStore {
    private static let batch = 8000
    private static let namesPerPrefix = 100

    let workspace: Workspace
    let store: SealedStore
    let kind: BackendKind
    let count: Int

    /// Creates the records.
    ///
    /// - Parameters:
    ///   - peers: Databases that get the same blobs.
    ///   - plainPeers: Databases that get the plaintexts.
    init(
        _ kind: BackendKind, _ count: Int, in parent: String, peers: [PlainDatabase] = [],
        plainPeers: [PlainDatabase] = []
    ) throws {
        workspace = try Workspace(in: parent)
        self.kind = kind
        self.count = count
        store = try SealedStore(group: workspace.group, in: workspace.home, options: kind.options)
        // The first write makes the directories, and what else a store needs.
        try store.write(Entry(), named: Self.name(0), durability: .unsynced)
        let key = try store.vault.activeKey()
        let payload = Array(try JSONEncoder().encode(Entry()))
        for start in stride(from: 0, to: count, by: Self.batch) {
            try Interruption.check()
            let places = try (start..<min(start + Self.batch, count)).map { try store.places.place(Self.name($0)) }
            let blobs = places.map { place in
                payload.withRawBytes { Self.seal($0, place.context, key) }
            }
            try put(zip(places, blobs).map { ($0.key, $1.bytes) })
            let marks = blobs.map { blob in
                let header = blob.header.header
                return (
                    header.nameTag,
                    Watermark(epoch: header.epoch, sequence: header.sequence, commitment: header.commitment)
                )
            }
            store.vault.watermarks.record(marks)
            for peer in peers { try peer.insert(zip(places, blobs).map { ($0.name.text, $1.bytes) }) }
            for peer in plainPeers { try peer.insert(places.map { ($0.name.text, payload) }) }
        }
        try readAll()
    }

    private static func seal(
        _ payload: UnsafeRawBufferPointer, _ context: BlobContext, _ key: SealingKey
    ) -> SealedBlob {
        BlobSealer.sealWhole(
            payload,
            as: BlobDescription(
                record: context, schemaVersion: UInt32(Entry.schemaVersion), sequence: 2,
                sealedAt: UInt64(Date().timeIntervalSince1970 * 1000), codec: .json),
            key: key)
    }

    private func put(_ blobs: [(key: BackendKey, bytes: [UInt8])]) throws {
        guard kind == .files else {
            return try store.backend.commit(
                blobs.map { BackendWrite($0.key, .put($0.bytes)) }, durability: .unsynced)
        }
        for blob in blobs {
            try store.backend.commit([BackendWrite(blob.key, .put(blob.bytes))], durability: .unsynced)
        }
    }

    /// Reads each record once, so that its state is accepted as after an earlier use.
    private func readAll() throws {
        for number in 0..<count { _ = try store.openPayload(named: Self.name(number)) }
    }

    static func name(_ number: Int) -> String { "many/n\(number / namesPerPrefix)/\(number % namesPerPrefix)" }

    /// The prefix of the names of up to 100 records.
    static func prefix(_ number: Int) -> String { "many/n\(number / namesPerPrefix)/" }

    /// Names of records far apart, each with the prefix of its list. Two readers that begin together take the same.
    func names() -> NameCycle { NameCycle(count) }
}

/// An endless sequence of random names, made before the measurement.
struct NameCycle {
    private static let length = 1 << 16
    private let names: [String]
    private let prefixes: [String]
    private var next = 0

    init(_ count: Int) {
        var generator = SystemRandomNumberGenerator()
        let numbers = (0..<min(Self.length, count)).map { _ in Int.random(in: 0..<count, using: &generator) }
        names = numbers.map(FilledStore.name)
        prefixes = numbers.map(FilledStore.prefix)
    }

    mutating func name() -> String {
        next = (next + 1) % names.count
        return names[next]
    }

    mutating func prefix() -> String {
        next = (next + 1) % names.count
        return prefixes[next]
    }
}
#endif
