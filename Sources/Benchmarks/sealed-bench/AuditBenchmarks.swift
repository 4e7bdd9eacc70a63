import FoundationEssentials
import Glibc

/// `sealctl audit` as a whole program, on trees in memory: against ripgrep, and against its own limits.
struct AuditBenchmarks {
    private static let memoryFileSystem = "/dev/shm"
    private static let treeSize = 200 << 20
    private static let manyFiles = 100_000
    /// The targets as times: "at least half of ripgrep's"; 60 MB/s if every line is a finding; 100,000 files in 10 s.
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

    /// The tree contains text without secrets, so that both programs read all of it and write nothing.
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

    /// Measures time and memory in the same runs.
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

/// Twenty of the audit's rules as regular expressions for ripgrep.
enum AuditPatterns {
    static let ripgrep = [
        #"\b(AKIA|ASIA)[A-Z2-7]{16}\b"#,
        #"\bgh[pousr]_[A-Za-z0-9]{36}\b"#,
        #"\bgithub_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}\b"#,
        #"\bglpat-[A-Za-z0-9_-]{20}\b"#,
        #"\bxox[baprs]-[A-Za-z0-9-]{10,72}"#,
        #"hooks\.slack\.com/services/T[A-Za-z0-9]+/B[A-Za-z0-9]+/[A-Za-z0-9]{24}"#,
        #"\b[sr]k_live_[A-Za-z0-9]{24,}"#,
        #"\bAIza[A-Za-z0-9_-]{35}"#,
        #"\bGOCSPX-[A-Za-z0-9_-]{28}"#,
        #"\bSG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}"#,
        #"\bnpm_[A-Za-z0-9]{36}\b"#,
        #"\bpypi-[A-Za-z0-9_-]{50,}"#,
        #"\bsk-ant-[a-z0-9]+-[A-Za-z0-9_-]{90,}"#,
        #"\bhf_[A-Za-z]{34}\b"#,
        #"\bdop_v1_[a-f0-9]{64}\b"#,
        #"\bshpat_[a-fA-F0-9]{32}\b"#,
        #"-----BEGIN [A-Z ]*PRIVATE KEY-----"#,
        #"\beyJ[A-Za-z0-9_-]{10,}\.eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}"#,
        #"(?i)[a-z+]{3,10}://[^\s:/@]{1,64}:[^\s:/@]{4,64}@"#,
        #"(?i)(password|passwd|secret|token|api_?key)["']?\s*[:=]\s*["']?[^\s"']{8,}"#,
    ]
}

/// A directory of files of the same kind with different contents; removed at the end.
final class AuditTree {
    let path: String
    private(set) var bytes = 0
    private var random = SystemRandomNumberGenerator()

    init(in parent: String) throws {
        path = "\(parent)/sealed-bench.\(getpid()).tree"
        try? FileManager.default.removeItem(atPath: path)
        guard mkdir(path, 0o700) == 0 else {
            throw BenchmarkFailure("no directory can be created in \(parent): \(String(cString: strerror(errno)))")
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Writes the given number of files with the given total size; a thousand per directory.
    func fill(files: Int, bytes total: Int, line: (UInt64) -> String) throws {
        let size = total / files
        for index in 0..<files {
            let directory = "\(path)/\(index / 1000)"
            if index % 1000 == 0 { mkdir(directory, 0o700) }
            try write("\(directory)/file\(index).txt", size: size, line: line)
        }
    }

    private func write(_ path: String, size: Int, line: (UInt64) -> String) throws {
        var text: [UInt8] = []
        text.reserveCapacity(size + 200)
        while text.count < size { text.append(contentsOf: line(random.next()).utf8) }
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0, Glibc.write(file, text, text.count) == text.count else {
            throw BenchmarkFailure("\(path) cannot be written: \(String(cString: strerror(errno)))")
        }
        close(file)
        bytes += text.count
    }

    /// Returns a line of typical program output: requests, settings, prose.
    static func harmlessLine(_ number: UInt64) -> String {
        switch number % 4 {
        case 0:
            "2026-11-21T10:00:\(number % 60)Z INFO request \(number) took \(number % 900) ms for user \(number >> 40)\n"
        case 1: "the widget of account \(number >> 32) shows \(number % 7) appointments and the weather of tomorrow\n"
        case 2: "window.width = \(number % 2000)\nwindow.height = \(number >> 52)\ntheme = dark\n"
        default: "let frame = CGRect(x: \(number % 400), y: \(number >> 50), width: 320, height: 44)\n"
        }
    }

    /// Returns a line with one unique secret.
    static func secretLine(_ number: UInt64) -> String {
        let digits = String(number, radix: 16)
        return
            "service\(number % 1000).password = \"\(String(number &* 0x9E37_79B9_7F4A_7C15, radix: 36))Q\(digits)\"\n"
    }
}
