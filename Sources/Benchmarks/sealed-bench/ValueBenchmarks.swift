import AppGroups
import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import SealedState
import Sealing

/// A vault with 63 values of 1 MiB: their effect on reading a record and adding an item, against a vault without
/// values.
struct ValueBenchmarks {
    private static let valueCount = 63
    private static let valueSize = 1 << 20
    private static let addedSize = 1024
    private static let reading = "get beside 63 MiB of items"
    private static let adding = "add an item beside 63 MiB of items"
    private static let name = "measured"
    private static let largestRatio = 1.2

    private let parent: String
    private let sealctl = Program.directory + "/sealctl"

    /// - Parameter parent: The directory for a workspace with the items, and one without.
    init(in parent: String) { self.parent = parent }

    func run(in runner: inout Runner) throws {
        let operations = [Self.reading, Self.adding]
        guard operations.contains(where: { runner.isWanted($0, $0 + ": memory") }) else { return }
        let (full, empty) = (try Workspace(in: parent), try Workspace(in: parent))
        for workspace in [full, empty] {
            let payload = RecordPayload(Data("[1]".utf8), codec: .json, schemaVersion: 1, notAfter: 0)
            _ = try workspace.openStore().write(payload: payload, named: Self.name, durability: .unsynced)
        }
        let vault = try Vault.open(AccessGroup(full.group), in: full.home)
        for number in 0..<Self.valueCount {
            try Self.add(SecureRandom.bytes(count: Self.valueSize), "value \(number)", to: vault)
        }
        try add(full, empty, in: &runner)
        guard access(sealctl, X_OK) == 0 else {
            return say("skipped: \(Self.reading) (no sealctl beside this program: make bench builds it)")
        }
        try get(full, empty, in: &runner)
        try compareMemory(Self.adding, add(to: full), add(to: empty), in: &runner)
    }

    private static func add(_ value: [UInt8], _ account: String, to vault: Vault) throws {
        try value.withRawBytes { try vault.addItem(service: "measured", account: account, value: $0) }
    }

    /// Measures in one process: each side adds items and deletes them unmeasured.
    private func add(_ full: Workspace, _ empty: Workspace, in runner: inout Runner) throws {
        let value = SecureRandom.bytes(count: Self.addedSize)
        let vaults = try [full, empty].map { try Vault.open(AccessGroup($0.group), in: $0.home) }
        let rounds = runner.options.rounds
        try runner.measure(Self.adding) { operation in
            var added: [[String]] = [[], []]
            func add(_ side: Int) throws {
                let account = "added \(added[side].count)"
                try Self.add(value, account, to: vaults[side])
                added[side].append(account)
            }
            let comparison = try Comparison(
                rounds: rounds, slice: 0.01, ours: { try add(0) }, peer: { try add(1) },
                after: {
                    for side in vaults.indices {
                        for account in added[side] {
                            _ = try? vaults[side].deleteItem(service: "measured", account: account)
                        }
                        added[side] = []
                    }
                })
            return Finding(
                operation, comparison, against: "beside none", target: Self.largestRatio, note: "against beside none")
        }
    }

    private func get(_ full: Workspace, _ empty: Workspace, in runner: inout Runner) throws {
        let (ours, peer) = (get(from: full), get(from: empty))
        let rounds = max(5, runner.options.rounds / 5)
        try runner.measure(Self.reading) { operation in
            let comparison = try Comparison(
                rounds: rounds, slice: 0, ours: { try ours.run() }, peer: { try peer.run() })
            return Finding(
                operation, comparison, against: "beside none", target: Self.largestRatio,
                note: "whole program, against beside none")
        }
        try compareMemory(Self.reading, ours, peer, in: &runner)
    }

    private func compareMemory(
        _ operation: String, _ ours: ChildProcess, _ peer: ChildProcess, in runner: inout Runner
    ) throws {
        try runner.measure(operation + ": memory") { operation in
            func peak(_ program: ChildProcess) throws -> Double {
                try (0..<5).map { _ in try program.run(watchingMemory: true).peakMemory }.max() ?? 0
            }
            var finding = Finding(operation, try peak(ours), .bytes, target: Self.largestRatio)
            finding.compare(with: try peak(peer), "beside none")
            return finding
        }
    }

    private func get(from workspace: Workspace) -> ChildProcess {
        program(workspace, ["get", Self.name, "--group", workspace.group.identifier])
    }

    /// An item without contents, since a measured program has empty input. It replaces itself.
    private func add(to workspace: Workspace) -> ChildProcess {
        _ = try? Vault.open(AccessGroup(workspace.group), in: workspace.home)
            .addItem(service: "measured", account: "replaced", value: UnsafeRawBufferPointer(start: nil, count: 0))
        return program(
            workspace,
            ["vault", "update", "-s", "measured", "-a", "replaced", "--value-file", "/dev/null"]
                + ["--access-group", workspace.group.identifier])
    }

    private func program(_ workspace: Workspace, _ arguments: [String]) -> ChildProcess {
        ChildProcess([sealctl] + arguments, environment: ["SEALED_GROUPS_HOME=" + workspace.path])
    }
}
