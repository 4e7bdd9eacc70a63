import AppGroups
import CryptoPrimitives
import Glibc
import KeyVault
import Sealing

/// Accepted states of a million records: accepting one more, a look-up, and an opening beside them.
struct WatermarkBenchmarks {
    private static let count: UInt64 = 1_000_000
    /// The number of states that are recorded at once.
    private static let batch = 8000
    /// The number of accepted states and of look-ups for a measurable time.
    private static let accepted: UInt64 = 600
    private static let lookUps: UInt64 = 2000
    private static let accepting = "accept a mark beside 1,000,000"
    private static let finding = "look up one of 1,000,000 marks"
    private static let opening = "open a vault beside 1,000,000 marks"

    private let workspace: Workspace

    /// - Parameter workspace: A separate one, since no other measurement shall have so many records.
    init(_ workspace: Workspace) { self.workspace = workspace }

    func run(in runner: inout Runner) throws {
        guard runner.isWanted(Self.accepting, Self.finding, Self.opening) else { return }
        let rounds = runner.options.rounds
        let vault = try Vault.openOrCreate(AccessGroup(workspace.group), in: workspace.home)
        for start in stride(from: 0, to: Self.count, by: Self.batch) {
            vault.watermarks.record((start..<start + UInt64(Self.batch)).map { (Self.name($0), Self.mark($0)) })
        }
        try runner.measure(Self.accepting) { operation in
            var next = Self.count
            let times = try Comparison.time(rounds: rounds) {
                for _ in 0..<Self.accepted {
                    _ = vault.watermarks.accept(compartment: Self.name(next), Self.mark(next), isAcknowledged: true)
                    next += 1
                }
            }
            return Finding(operation, times / Double(Self.accepted), note: "the table is synced")
        }
        var next: UInt64 = 0
        try runner.measure(Self.finding) { operation in
            // Each name once, so that the process does not remember it.
            let alias = try Alias(of: workspace)
            let table = try alias.open().watermarks
            let times = try Comparison.time(rounds: rounds) {
                for _ in 0..<Self.lookUps {
                    next = (next + 7919) % Self.count
                    guard table.mark(of: Self.name(next))?.sequence == 2 else {
                        throw BenchmarkFailure("a state was forgotten")
                    }
                }
            }
            return Finding(operation, times / Double(Self.lookUps), target: 3e-6)
        }
        try open(in: &runner)
    }

    private func open(in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        let empty = try Workspace(in: workspace.path)
        _ = try Vault.openOrCreate(AccessGroup(empty.group), in: empty.home)
        try runner.measure(Self.opening) { operation in
            let comparison = try Comparison(
                rounds: rounds, slice: 0, ours: { _ = try Alias(of: workspace).open() },
                peer: { _ = try Alias(of: empty).open() })
            return Finding(operation, comparison.difference, target: 0.001, note: "longer than beside none")
        }
    }

    private static func mark(_ number: UInt64) -> Watermark {
        let commitment = Commitment(bytes: Bytes32(filling: { $0.storeBytes(of: number &+ 1, as: UInt64.self) }))
        return Watermark(epoch: 1, sequence: 2, commitment: commitment)
    }

    private static func name(_ number: UInt64) -> NameTag {
        NameTag(bytes: Bytes16(filling: { $0.storeBytes(of: number &* 0x9E37_79B9_7F4A_7C15, as: UInt64.self) }))
    }
}

/// Another path to a workspace. A process remembers the accepted states of each path, so this is an opening as in a new
/// process.
private final class Alias {
    private let path: String
    private let group: AccessGroup

    init(of workspace: Workspace) throws {
        path = "\(workspace.path).\(UInt64.random(in: .min ... .max))"
        group = AccessGroup(workspace.group)
        guard symlink(workspace.path, path) == 0 else { throw BenchmarkFailure("no link can be made") }
    }

    func open() throws -> Vault { try Vault.open(group, in: GroupsHome(root: path)) }

    deinit { unlink(path) }
}
