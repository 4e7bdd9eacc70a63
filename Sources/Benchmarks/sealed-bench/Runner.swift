import Glibc

/// Runs the measurements that were asked for and keeps what they found.
struct Runner {
    let options: Options
    private(set) var findings: [Finding] = []

    init(_ options: Options) { self.options = options }

    /// Runs one measurement, unless the filter leaves it out. Progress goes to standard error.
    mutating func measure(_ operation: String, _ body: (String) throws -> Finding) throws {
        guard isWanted(operation) else { return }
        try Interruption.check()
        say("measuring \(operation)")
        findings.append(try body(operation))
    }

    /// Whether the filter lets any of these through: what they need is only set up then.
    func isWanted(_ operations: String...) -> Bool {
        options.filter.isEmpty || operations.contains { $0.contains(options.filter) }
    }
}

/// Writes a line to standard error.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Why the benchmarks could not run.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
