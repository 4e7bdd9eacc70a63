import TestSupport
import Testing

/// Tests of the amount that a command reads from a vault with many items, counted by strace(1).
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
struct GetCostTests {
    private static let mebibyte = 1 << 20

    /// Creates a sandbox with a record and 64 MiB of items. The names of the items alone are larger than the limit for
    /// a `get`.
    private func filled() throws -> Sandbox {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("app", "{}")
        let service = String(repeating: "s", count: 1024)
        let value = [UInt8](repeating: UInt8(ascii: "x"), count: Self.mebibyte)
        for number in 1...64 {
            try sandbox.succeed(["vault", "add", "-s", service, "-a", "\(number)"], input: value)
        }
        return sandbox
    }

    /// Returns the number of bytes that a command reads from the files of the vaults' directory, and the lines of its
    /// reads.
    private func bytesRead(_ arguments: [String], _ sandbox: Sandbox) throws -> (count: Int, lines: [String]) {
        let process = TracedProcess(arguments, of: "sealctl", log: sandbox.path("strace"), showingPaths: true)
        let result = try process.run(everyThread: true, environment: sandbox.environment)
        try #require(result.exitCode == 0, "\(result.errorText)")
        let lines = try process.lines()
        var reads: [String] = []
        var count = 0
        for (index, line) in lines.enumerated() where line.contains("<\(sandbox.path("groups/Vaults"))/") {
            #expect(!line.contains("mmap("), "a mapped file is read without a call")
            guard line.contains(#/\b(read|readv|pread64|preadv2?|copy_file_range|sendfile)\(/#) else { continue }
            reads.append(line)
            count += try #require(Self.answer(of: line, in: lines[index...]), "\(line)")
        }
        return (count, reads)
    }

    /// Returns the result of a call. If another thread's call interrupts it, a later line of its thread contains the
    /// result.
    private static func answer(of line: String, in lines: ArraySlice<String>) -> Int? {
        guard line.hasSuffix("<unfinished ...>") else { return line.split(separator: " ").last.flatMap { Int($0) } }
        let thread = line.prefix { $0 != " " } + " "
        let end = lines.first { $0.hasPrefix(thread) && $0.contains(" resumed>") }
        return end?.split(separator: " ").last.flatMap { Int($0) }
    }

    @Test func getBesideSixtyFourMebibytesOfItemsReadsLessThanSixtyFourKibibytes() throws {
        let sandbox = try filled()
        let get = try bytesRead(["get", "app"], sandbox)
        #expect(get.count < 64 << 10, "\(get.lines.joined(separator: "\n"))")
        // Vault and register are read, so the lines are those of the reads.
        #expect(get.count > 500)
        #expect(!get.lines.contains { $0.contains("/values/") })
        // The index of items and a value are larger.
        #expect(try bytesRead(["vault", "list"], sandbox).count > 64 << 10)
        let found = ["vault", "find", "-s", String(repeating: "s", count: 1024), "-a", "64", "-w"]
        #expect(try bytesRead(found, sandbox).count > Self.mebibyte)
    }
}
