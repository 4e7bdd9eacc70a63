import TestSupport

/// One replace in a child under strace(1), which kills it or fails its system calls at chosen places.
struct TracedReplace {
    let yard: Yard
    let strategy: TemporaryStrategyName
    var durability = "durable"

    /// Which strategy the child is told to use.
    enum TemporaryStrategyName: String, CaseIterable, Sendable { case anonymous, named, automatic }

    /// One system call: its name, and which call of that name it is in the whole life of the process.
    struct Call: Hashable {
        let name: String
        let ordinal: Int
    }

    /// False where strace is missing or tracing is forbidden.
    static let isPossible: Bool = {
        guard let path else { return false }
        return (try? ChildProcess.run(path, ["-qq", "-o", "/dev/null", "/bin/true"]).exitCode) == 0
    }()

    private static var path: String? { ["/usr/bin/strace", "/bin/strace"].first { SystemFile.exists($0) } }

    static let size = 100
    static let newValue = String(repeating: "n", count: size)

    /// Runs it with strace's injections, such as `fsync:error=EIO`.
    func run(injecting injections: [String] = []) throws -> ChildResult {
        let words =
            ["-qq", "-s", "4096", "-o", yard.place.path("trace")] + injections.flatMap { ["-e", "inject=\($0)"] } + [
                builtProduct("sealed-probe"), "replace-limited", yard.path(""), "x", "\(Self.size)",
                strategy.rawValue, durability,
            ]
        return try ChildProcess.run(Self.path ?? "", words)
    }

    /// Every system call of an undisturbed run from opening the directory to the end.
    func calls() throws -> [Call] {
        _ = try run()
        let trace = String(decoding: try SystemFile.read(yard.place.path("trace")), as: UTF8.self)
        var counts: [String: Int] = [:]
        var calls: [Call] = []
        for line in trace.split(separator: "\n") {
            let name = String(line.prefix { $0 != "(" })
            counts[name, default: 0] += 1
            let isStart = line.contains(yard.place.path("inside\"")) && name == "openat"
            if isStart || !calls.isEmpty { calls.append(Call(name: name, ordinal: counts[name] ?? 0)) }
        }
        return calls
    }
}
