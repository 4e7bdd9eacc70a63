import SealedState

/// Defaults: a value of a suite that was read before, and a suite of a thousand keys that was not.
struct DefaultsBenchmarks {
    private static let keys = 1000
    /// The number of reads for a measurable time.
    private static let reads = 2000

    let workspace: Workspace

    func run(in runner: inout Runner) throws {
        let rounds = runner.options.rounds
        let defaults = try workspace.openStore().defaults(suite: "measured")
        try defaults.setPersistentDomain(
            Dictionary(
                uniqueKeysWithValues: (0..<Self.keys).map { index in
                    let value: PropertyListValue =
                        index.isMultiple(of: 2) ? .integer(Int64(index)) : .string("value \(index)")
                    return ("key \(index)", value)
                }))
        let key = DefaultsKey("key 500", default: 0)
        try runner.measure("read a warm default") { operation in
            let times = try Comparison.time(rounds: rounds) {
                for _ in 0..<Self.reads {
                    guard try defaults.value(for: key) == 500 else { throw BenchmarkFailure("not what was set") }
                }
            }
            return Finding(operation, times / Double(Self.reads), target: 2e-6)
        }
        try runner.measure("open a suite of 1,000 keys") { operation in
            let times = try Comparison.time(rounds: rounds) {
                let opened = try workspace.openStore().defaults(suite: "measured")
                guard try opened.integer(forKey: "key 500") == 500 else { throw BenchmarkFailure("not what was set") }
            }
            return Finding(operation, times, target: 2e-3, note: "with its store")
        }
        var number = 0
        try runner.measure("set a default among 1,000") { operation in
            let times = try Comparison.time(rounds: rounds) {
                number += 1
                try defaults.set(number, forKey: "key 0")
            }
            return Finding(operation, times, note: "durable")
        }
    }
}
