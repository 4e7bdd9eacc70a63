import AppGroups
import CBaseline
import CryptoPrimitives
import FoundationEssentials
import KeyVault
import SealedState
import Sealing
import SharedFiles

/// A record of typical size and shape for the decoding figures.
private struct Account: SealedRecord {
    static let recordName = "measured"
    static let schemaVersion = 1
    var isAuthenticated = true
    var displayName = "Ada Lovelace"
    var mail = "ada@example.org"
    var scopes = ["read", "write", "share"]
    var tokenExpiresAt = Date(timeIntervalSince1970: 4_102_444_800)
    var expiresAt: Date? { tokenExpiresAt }
}

/// Read and write of a record in a real container, against the same system calls from C on the same files.
struct RecordBenchmarks {
    private static let leaf = Account.recordName + ContainerLayout.recordSuffix

    private let store: SealedStore
    private let container: GroupContainer
    private let files: PeerFiles
    private let place: cbaseline_place
    private let payload: Data

    init(_ workspace: Workspace) throws {
        store = try workspace.openStore()
        container = try GroupContainer.open(workspace.group, in: workspace.home)
        files = try PeerFiles(
            container: container.root.descriptor.rawValue, lockFile: ContainerLayout.lockFile,
            folder: ContainerLayout.records, leaf: Self.leaf, watermarks: "\(workspace.home.watermarksPath)",
            vault: store.vault.path)
        let context = try store.places.place(stored: Account.recordName).context
        place = cbaseline_place(context, try store.vault.activeKey(), schemaVersion: 1)
        try store.write(Account())
        payload = try store.openPayload(named: Account.recordName).plaintext.withUnsafeBytes { Data($0) }
    }

    func run(in runner: inout Runner) throws {
        try checkPeer()
        try read(in: &runner)
        try write(in: &runner)
    }

    /// Checks that each side reads the other's blobs: both do the same work.
    private func checkPeer() throws {
        guard writePeer(.durable), try readOurs() == payload.count, try writeOurs(.durable) > 2,
            readPeer() == payload.count
        else { throw BenchmarkFailure("the C side does not speak the same format") }
    }

    private func read(in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        try runner.measure("read a record, undecoded") { operation in
            let comparison = try Comparison(
                rounds: rounds, ours: { _ = try readOurs() }, peer: { _ = readPeer() })
            return Finding(operation, comparison, against: "C", target: 1.2)
        }
        try runner.measure("read a record, decoded") { operation in
            let comparison = try Comparison(
                rounds: rounds, ours: { _ = try store.read(Account.self) }, peer: { _ = readPeer() })
            return Finding(operation, comparison, against: "C", target: nil, note: "C decodes nothing")
        }
    }

    private func write(in runner: inout Runner) throws {
        try write(in: &runner, "write a record, durable", .durable, slice: 0.01, target: 1.1)
        try write(in: &runner, "write a record, unsynced", .unsynced, slice: 0.005, target: nil)
    }

    private func write(
        in runner: inout Runner, _ operation: String, _ durability: Durability, slice: Double, target: Double?
    ) throws {
        let rounds = runner.options.rounds
        try runner.measure(operation) { operation in
            let comparison = try Comparison(
                rounds: rounds, slice: slice, ours: { _ = try writeOurs(durability) },
                peer: {
                    guard writePeer(durability) else { throw BenchmarkFailure("the C side could not write") }
                })
            return Finding(operation, comparison, against: "C", target: target)
        }
    }
}

extension RecordBenchmarks {
    private func readOurs() throws -> Int { try store.openPayload(named: Account.recordName).plaintext.count }

    private func readPeer() -> Int? {
        withUnsafePointer(to: place) { place in
            var size = 0
            guard let bytes = cbaseline_read(place, files.target.container, files.target.path, &size) else {
                return nil
            }
            cbaseline_forget(bytes, size)
            return size
        }
    }

    private func writeOurs(_ durability: Durability) throws -> UInt64 {
        let payload = RecordPayload(payload, codec: .json, schemaVersion: 1, notAfter: 0)
        return try store.write(payload: payload, named: Account.recordName, durability: durability)
    }

    private func writePeer(_ durability: Durability) -> Bool {
        payload.withUnsafeBytes { bytes in
            withUnsafePointer(to: place) { place in
                withUnsafePointer(to: files.target) { target in
                    cbaseline_write(
                        place, target, bytes.bindMemory(to: UInt8.self).baseAddress, bytes.count,
                        durability == .durable ? 1 : 0) == 0
                }
            }
        }
    }
}

/// The one-time cost of a program's start. For information: there is no fair comparison.
struct OpeningBenchmarks {
    let workspace: Workspace

    func run(in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        _ = try workspace.openStore()
        try runner.measure("open the vault with its key file") { operation in
            let accessGroup = AccessGroup(workspace.group)
            return Finding(
                operation, try Comparison.time(rounds: rounds) { _ = try Vault.open(accessGroup, in: workspace.home) })
        }
        try runner.measure("open the store") { operation in
            Finding(operation, try Comparison.time(rounds: rounds) { _ = try workspace.openStore() })
        }
    }
}
