import AppGroups
import CryptoPrimitives
import FoundationEssentials
import KeyVault
import SealedState
import Sealing

/// The costs of a writer's signature: the same writes and reads beside a store without a team key.
struct WriterBenchmarks {
    private static let writing = "signed write, beyond an unsigned one"
    private static let reading = "first signed read, beyond an unsigned one"
    /// More records than a process remembers signatures, so that each read verifies a signature again.
    private static let recordCount = 1100
    private static let recordSize = 1024
    private static let largestWrite = 60e-6
    private static let largestRead = 130e-6

    private let parent: String

    init(in parent: String) { self.parent = parent }

    func run(in runner: inout Runner) throws {
        guard runner.isWanted(Self.writing, Self.reading) else { return }
        let (signed, plain) = (try Workspace(in: parent), try Workspace(in: parent))
        let stores = [try Self.governed(signed), try plain.openStore()]
        let rounds = runner.options.rounds
        let payload = Data("\"\(String(repeating: "x", count: Self.recordSize - 2))\"".utf8)
        func write(_ side: Int, _ number: Int) throws {
            let record = RecordPayload(payload, codec: .json, schemaVersion: 1, notAfter: 0)
            _ = try stores[side].write(payload: record, named: Self.name(number), durability: .unsynced)
        }
        try runner.measure(Self.writing) { operation in
            let comparison = try Comparison(
                rounds: rounds, slice: 0.005, ours: { try write(0, 0) }, peer: { try write(1, 0) })
            return Self.figure(operation, comparison, target: Self.largestWrite)
        }
        guard runner.isWanted(Self.reading) else { return }
        for side in stores.indices { for number in 0..<Self.recordCount { try write(side, number) } }
        try runner.measure(Self.reading) { operation in
            var next = [0, 0]
            func read(_ side: Int) throws {
                next[side] = (next[side] + 1) % Self.recordCount
                guard try stores[side].openPayload(named: Self.name(next[side])).plaintext.count == Self.recordSize
                else {
                    throw BenchmarkFailure("a record has other contents")
                }
            }
            let comparison = try Comparison(
                rounds: rounds, ours: { try read(0) }, peer: { try read(1) })
            return Self.figure(operation, comparison, target: Self.largestRead)
        }
    }

    private static func figure(_ operation: String, _ comparison: Comparison, target: Double) -> Finding {
        Finding(
            operation, comparison.difference, target: target,
            note:
                "\(Report.figure(comparison.ourMedian, .seconds)), unsigned \(Report.figure(comparison.peerMedian, .seconds))"
        )
    }

    private static func name(_ number: Int) -> String { "accounts/n\(number)" }

    /// Returns a store of a program that may write every record, in a group with a roster.
    private static func governed(_ workspace: Workspace) throws -> SealedStore {
        let (team, writer) = (try TeamKey.random(), try WriterKey.random())
        _ = try workspace.openStore()
        let roster = Roster(
            group: workspace.group.identifier, id: SecureRandom.bytes(count: 16).withRawBytes { Bytes16($0) },
            version: 1,
            signedAt: 1, team: team.publicKey, writers: [Roster.Writer(writer.publicKey, label: "bench")],
            rules: [Roster.Rule(try GovernedPattern("accounts/*"), grants: [writer.id: .all])])
        let container = try GroupContainer.open(workspace.group, in: workspace.home)
        try RosterFile.put(SignedRoster(signing: roster, with: team), in: container, home: workspace.home)
        var options = StoreOptions()
        options.teamKey = team.publicKey
        options.writerKey = writer
        return try SealedStore(group: workspace.group, in: workspace.home, options: options)
    }
}
