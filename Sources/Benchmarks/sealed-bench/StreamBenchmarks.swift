import AppGroups
import Glibc

/// `sealctl encrypt` as a whole program, against age, on a memory file system.
struct StreamBenchmarks {
    private static let memoryFileSystem = "/dev/shm"
    private static let comparedSize = 512 << 20
    private static let largeSize = 1 << 30
    private static let largestMemory = 32.0 * 1_048_576

    private let workspace: Workspace
    private let sealctl: String

    /// - Throws: `BenchmarkFailure` without a memory file system.
    init(_ workspace: Workspace) throws {
        self.workspace = workspace
        sealctl = Program.directory + "/sealctl"
        _ = try workspace.openStore()
    }

    func run(in runner: inout Runner) throws {
        guard access(sealctl, X_OK) == 0 else {
            return say("skipped: encrypt (no sealctl beside this program: make bench builds it)")
        }
        try compare(in: &runner)
        try measureMemory(in: &runner)
    }

    /// Few rounds, since each process takes seconds.
    private func compare(in runner: inout Runner) throws {
        let operation = "encrypt 512 MiB"
        guard runner.isWanted(operation) else { return }
        guard let recipient = try ageRecipient() else {
            return say("skipped: \(operation) (age is not installed)")
        }
        let files = try StreamFiles(in: Self.memoryFileSystem, size: Self.comparedSize)
        let age = ChildProcess(["age", "-r", recipient, "-o", files.output, files.input])
        let ours = encrypt(files)
        let rounds = max(1, runner.options.rounds / 10)
        try runner.measure(operation) { operation in
            var load: [Double] = []
            let comparison = try Comparison(
                rounds: rounds, slice: 0,
                ours: {
                    let cost = try ours.run()
                    load.append(cost.processor / cost.wall)
                }, peer: { try age.run() }, after: files.removeOutput)
            return Finding(
                operation, comparison, against: "age", target: 1,
                note: Self.note(throughput: Double(Self.comparedSize) / comparison.ourMedian, load: load.median))
        }
    }

    private func measureMemory(in runner: inout Runner) throws {
        let operation = "encrypt 1 GiB: memory"
        guard runner.isWanted(operation) else { return }
        let files = try StreamFiles(in: Self.memoryFileSystem, size: Self.largeSize)
        try runner.measure(operation) { operation in
            let cost = try encrypt(files).run(watchingMemory: true)
            return Finding(
                operation, cost.peakMemory, .bytes, target: Self.largestMemory,
                note: Self.note(throughput: Double(Self.largeSize) / cost.wall, load: cost.processor / cost.wall))
        }
    }

    private func encrypt(_ files: StreamFiles) -> ChildProcess {
        ChildProcess(
            [sealctl, "encrypt", "--group", workspace.group.identifier, "-o", files.output, files.input],
            environment: ["SEALED_GROUPS_HOME=" + workspace.path])
    }

    /// Returns the public half of a new age-keygen key; nil if age is not installed.
    private func ageRecipient() throws -> String? {
        let keyFile = workspace.path + "/age.key"
        do {
            try ChildProcess(["age-keygen", "-o", keyFile], isSilent: true).run()
        } catch { return nil }
        let words = Program.text(ofFile: keyFile).split(whereSeparator: \.isWhitespace)
        return words.first { $0.hasPrefix("age1") }.map { String($0) }
    }

    static func note(throughput: Double, load: Double) -> String {
        let figures = "\(Int(throughput / 1e6)) MB/s at \(Int((load * 100).rounded()))% of a core"
        // Several threads have no effect on a machine without an idle second core.
        return load < 1.5 ? figures + ": the other cores were busy or missing" : figures
    }
}

/// Random input and a path for output, both removed at the end.
final class StreamFiles {
    let input: String
    let output: String

    init(in directory: String, size: Int) throws {
        input = "\(directory)/sealed-bench.\(getpid()).in"
        output = "\(directory)/sealed-bench.\(getpid()).out"
        try Self.fill(input, size: size)
    }

    func removeOutput() { unlink(output) }

    deinit {
        unlink(input)
        unlink(output)
    }

    private static func fill(_ path: String, size: Int) throws {
        let file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        guard file >= 0 else {
            throw BenchmarkFailure("\(path) cannot be created: \(String(cString: strerror(errno)))")
        }
        defer { close(file) }
        let block = (0..<1 << 17).map { _ in UInt64.random(in: .min ... .max) }
        let isFull = block.withUnsafeBytes { block in
            (0..<size / block.count).allSatisfy { _ in write(file, block.baseAddress, block.count) == block.count }
        }
        guard isFull else {
            unlink(path)
            throw BenchmarkFailure("\(path) cannot be filled: \(size >> 20) MiB of free memory are needed")
        }
    }
}
