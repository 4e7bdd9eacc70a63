import Glibc

/// `sealctl audit` as a whole program, on trees in memory: against ripgrep, and against its own limits.
struct AuditBenchmarks {
    private static let memoryFileSystem = "/dev/shm"
    private static let treeSize = 200 << 20
    private static let manyFiles = 100_000
    /// "At least half of ripgrep's", as times; 60 MB/s where every line is a finding; 100,000 files in 10 s.
    private static let largestRatio = 2.0
    private static let denseTime = Double(treeSize) / 60e6
    private static let manyFilesTime = 10.0
    private static let largestMemory = 128.0 * 1_048_576

    private let workspace: Workspace
    private let sealctl = Program.directory + "/sealctl"

    init(_ workspace: Workspace) { self.workspace = workspace }

    func run(in runner: inout Runner) throws {
        guard access(sealctl, X_OK) == 0 else {
            return say("skipped: audit (no sealctl beside this program: make bench builds it)")
        }
        try compare(in: &runner)
        try dense(in: &runner)
        try many(in: &runner)
    }

    /// The tree holds text without secrets, so that both programs read all of it and write nothing.
    private func compare(in runner: inout Runner) throws {
        let operation = "audit 200 MB of text"
        guard runner.isWanted(operation) else { return }
        let tree = try AuditTree(in: Self.memoryFileSystem)
        try tree.fill(files: 400, bytes: Self.treeSize, line: AuditTree.harmlessLine)
        let ripgrep = ChildProcess(
            ["rg", "-a", "-c"] + AuditPatterns.ripgrep.flatMap { ["-e", $0] } + [tree.path], isSilent: true,
            accepting: [0, 1])
        let ours = audit(tree)
        guard (try? ChildProcess(["rg", "--version"]).run()) != nil else {
            say("\(operation): no comparison, ripgrep is not installed")
            return try runner.measure(operation) { operation in
                Finding(operation, try Comparison.time(rounds: 3) { try ours.run() })
            }
        }
        let rounds = max(3, runner.options.rounds / 10)
        try runner.measure(operation) { operation in
            let comparison = try Comparison(
                rounds: rounds, slice: 0, ours: { try ours.run() }, peer: { try ripgrep.run() })
            let note =
                "\(Self.rate(Self.treeSize, comparison.ourMedian)), rg \(Self.rate(Self.treeSize, comparison.peerMedian))"
            return Finding(operation, comparison, against: "rg", target: Self.largestRatio, note: note)
        }
    }

    private func dense(in runner: inout Runner) throws {
        let operation = "audit 200 MB, each line a finding"
        guard runner.isWanted(operation) else { return }
        let tree = try AuditTree(in: Self.memoryFileSystem)
        try tree.fill(files: 20, bytes: Self.treeSize, line: AuditTree.secretLine)
        try measure(operation, tree, target: Self.denseTime, in: &runner)
    }

    private func many(in runner: inout Runner) throws {
        let operation = "audit 100,000 files"
        guard runner.isWanted(operation) else { return }
        let tree = try AuditTree(in: Self.memoryFileSystem)
        try tree.fill(files: Self.manyFiles, bytes: Self.manyFiles * 200, line: AuditTree.harmlessLine)
        try measure(operation, tree, target: Self.manyFilesTime, in: &runner)
    }

    /// Time and memory of the same runs.
    private func measure(
        _ operation: String, _ tree: AuditTree, target: Double, in runner: inout Runner
    ) throws {
        let ours = audit(tree)
        var peak = 0.0
        try runner.measure(operation) { operation in
            let time = try Comparison.time(rounds: 3) {
                peak = max(peak, try ours.run(watchingMemory: true).peakMemory)
            }
            return Finding(operation, time, target: target, note: Self.rate(tree.bytes, time.wall))
        }
        try runner.measure(operation + ": memory") { operation in
            Finding(operation, peak, .bytes, target: Self.largestMemory)
        }
    }

    private func audit(_ tree: AuditTree) -> ChildProcess {
        ChildProcess(
            [sealctl, "audit", "--exit-zero", "--format", "json", tree.path],
            environment: ["SEALED_GROUPS_HOME=" + workspace.path, "HOME=" + workspace.path])
    }

    private static func rate(_ bytes: Int, _ seconds: Double) -> String { "\(Int(Double(bytes) / seconds / 1e6)) MB/s" }
}
