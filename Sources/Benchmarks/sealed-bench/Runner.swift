import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import SealedState
import Synchronization

/// Runs the requested measurements and keeps their findings.
struct Runner {
    let options: Options
    private(set) var findings: [Finding] = []

    init(_ options: Options) { self.options = options }

    /// Runs one measurement, unless the filter excludes it. Progress goes to standard error.
    mutating func measure(_ operation: String, _ body: (String) throws -> Finding) throws {
        guard isWanted(operation) else { return }
        try Interruption.check()
        say("measuring \(operation)")
        findings.append(try body(operation))
    }

    /// Returns whether the filter includes any of these; their setup runs only then.
    func isWanted(_ operations: String...) -> Bool {
        options.filter.isEmpty || operations.contains { $0.contains(options.filter) }
    }
}

/// Writes a line to standard error.
func say(_ line: String) {
    let bytes = Array((line + "\n").utf8)
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// The reason why the benchmarks could not run.
struct BenchmarkFailure: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

/// The parsed command line.
struct Options {
    static let usage = """
        usage: sealed-bench [--filter TEXT] [--rounds N] [--records N] [--mebibytes N]
               [--directory DIR] [--json] [--check]

        Measures SealedState against the same calls made from C, and sealctl against age. See docs/benchmarks.md.

          --filter TEXT      only operations whose name contains TEXT
          --rounds N         rounds of each comparison; 101 unless given
          --records N        records in SQLite; 100,000 unless given, and a tenth in files
          --mebibytes N      size of sealed files in MiB; 64 unless given
          --directory DIR    directory of the records; the program's directory unless given
          --json             the results for machines
          --check            exit status 1 when a target is missed
        """

    var filter = ""
    var rounds = 101
    var records = 100_000
    var mebibytes = 64
    var directory: String?
    var isJSON = false
    var isChecking = false

    /// Parses the arguments; returns nil if they are invalid.
    init?(_ arguments: some Sequence<String>) {
        var rest = arguments.makeIterator()
        while let argument = rest.next() {
            switch argument {
            case "--json": isJSON = true
            case "--check": isChecking = true
            case "--filter":
                guard let text = rest.next() else { return nil }
                filter = text
            case "--rounds":
                guard let count = rest.next().flatMap({ Int($0) }), count > 0 else { return nil }
                rounds = count
            case "--records":
                guard let count = rest.next().flatMap({ Int($0) }), count >= 1000 else { return nil }
                records = count
            case "--mebibytes":
                guard let count = rest.next().flatMap({ Int($0) }), (1...1 << 20).contains(count) else { return nil }
                mebibytes = count
            case "--directory":
                guard let path = rest.next() else { return nil }
                directory = path
            default: return nil
            }
        }
    }
}

/// Ctrl-C ends the measurements, not the program: its files on disk and in memory are removed first.
enum Interruption {
    private static let isAsked = Atomic(false)

    /// Takes over SIGINT and SIGTERM.
    static func watch() {
        // Initialised here: a signal handler must not be its first user.
        isAsked.store(false, ordering: .relaxed)
        for number in [SIGINT, SIGTERM] {
            signal(number) { _ in Interruption.isAsked.store(true, ordering: .relaxed) }
        }
    }

    /// - Throws: `BenchmarkFailure` after a signal.
    static func check() throws {
        if isAsked.load(ordering: .relaxed) { throw BenchmarkFailure("interrupted") }
    }
}

/// A test group in a new directory, which is removed at the end.
final class Workspace {
    static let groupName = "group.org.example.bench"
    let path: String
    let group: AppGroup
    var home: GroupsHome { GroupsHome(root: path) }

    /// - Parameter parent: An existing directory; its file system is measured.
    init(in parent: String) throws {
        path = "\(parent)/sealed-bench.\(getpid()).\(UInt32.random(in: .min ... .max))"
        guard mkdir(path, 0o700) == 0 else {
            throw BenchmarkFailure("no directory can be created in \(parent): \(String(cString: strerror(errno)))")
        }
        group = try AppGroup(Self.groupName)
    }

    func openStore() throws -> SealedStore { try SealedStore(group: group, in: home) }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
