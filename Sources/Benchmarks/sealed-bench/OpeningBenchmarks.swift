import AppGroups
import KeyVault
import SealedState

/// What a program pays once, when it starts. For information: there is nothing fair to compare it with.
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
