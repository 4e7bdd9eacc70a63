#if SQLite
import AppGroups
import ChildProcesses
import Glibc
import SealedState

/// Copies of this program that work on one store at the same time.
///
/// Each reports a finished turn with a byte on its standard output. A writer begins a turn when it gets a byte; all end
/// with the end of their input.
final class Crew {
    private static let option = "--crew"

    private let results: (reader: Int32, writer: Int32)
    private let reports: Int
    private var inputs: [Int32] = []
    private var processes: [pid_t] = []

    /// Starts the programs, and waits until each has opened the store.
    ///
    /// - Parameters:
    ///   - reports: The number of reports of a program in each turn.
    ///   - arguments: Returns the arguments of a program by its number.
    init(_ count: Int, reports: Int = 1, _ arguments: (Int) -> [String]) throws {
        self.reports = reports
        results = try Self.makePipe()
        for number in 0..<count {
            let input = try Self.makePipe()
            defer { close(input.reader) }
            inputs.append(input.writer)
            var program = ChildProgram(.path(Program.path), [Program.path] + arguments(number))
            program.connect(input.reader, to: STDIN_FILENO)
            program.connect(results.writer, to: STDOUT_FILENO)
            do throws(StartFailure) { processes.append(try program.start()) } catch {
                throw BenchmarkFailure("a program cannot be started: \(error)")
            }
        }
        try wait()
    }

    deinit {
        for input in inputs { close(input) }
        for process in processes { while waitpid(process, nil, 0) < 0 && errno == EINTR {} }
        close(results.reader)
        close(results.writer)
    }

    private static func makePipe() throws -> (reader: Int32, writer: Int32) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw BenchmarkFailure("no pipe can be made") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// Runs a turn of every writer.
    func takeTurn() throws {
        for input in inputs { _ = Glibc.write(input, [1], 1) }
        try wait()
    }

    /// Waits until every program has finished its turn.
    func wait() throws {
        var missing = processes.count * reports
        var bytes = [UInt8](repeating: 0, count: 256)
        while missing > 0 {
            var ready = pollfd(fd: results.reader, events: Int16(POLLIN), revents: 0)
            guard poll(&ready, 1, 30_000) == 1 else { throw BenchmarkFailure("a program does not answer") }
            missing -= max(0, Glibc.read(results.reader, &bytes, min(missing, bytes.count)))
        }
    }
}

/// The work of one program.
extension Crew {
    /// The arguments of a program that updates its own record a number of times in each turn.
    static func writing(_ filled: FilledStore, _ name: String, updates: Int) -> [String] {
        arguments("write", filled, name, updates)
    }

    /// The arguments of a program with a number of watchers, each of which reports each new value of a record.
    static func watching(_ filled: FilledStore, _ name: String, watchers: Int) -> [String] {
        arguments("watch", filled, name, watchers)
    }

    /// The arguments of a program that reads random records, and ends.
    static func reading(_ filled: FilledStore, _ reads: Int) -> [String] {
        arguments("read", filled, String(filled.count), reads)
    }

    private static func arguments(_ task: String, _ filled: FilledStore, _ name: String, _ count: Int) -> [String] {
        [option, task, filled.workspace.path, filled.kind.rawValue, name, String(count)]
    }

    /// Does the work that the arguments of this program ask for; returns `false` if they ask for none.
    static func work(_ arguments: [String]) throws -> Bool {
        guard arguments.first == option, arguments.count == 6, let kind = BackendKind(rawValue: arguments[3]),
            let count = Int(arguments[5])
        else { return false }
        let store = try SealedStore(
            group: try AppGroup(Workspace.groupName), in: GroupsHome(root: arguments[2]), options: kind.options)
        switch arguments[1] {
        case "write": try write(store, arguments[4], count)
        case "watch": try watch(store, arguments[4], count)
        default: try read(store, Int(arguments[4]) ?? 0, count)
        }
        return true
    }

    private static func write(_ store: SealedStore, _ name: String, _ count: Int) throws {
        try store.write(Entry(), named: name, durability: .unsynced)
        report()
        while awaitTurn() {
            for _ in 0..<count { try store.update(Entry.self, named: name) { $0.count += 1 } }
            report()
        }
    }

    private static func watch(_ store: SealedStore, _ name: String, _ watchers: Int) throws {
        for _ in 0..<watchers {
            let updates = try store.updates(of: Entry.self, named: name)
            Task { for await update in updates where update.value != nil { report() } }
        }
        while awaitTurn() {}
    }

    private static func read(_ store: SealedStore, _ records: Int, _ count: Int) throws {
        for _ in 0..<count { _ = try store.openPayload(named: FilledStore.name(Int.random(in: 0..<records))) }
    }

    private static func report() { _ = Glibc.write(STDOUT_FILENO, [1], 1) }

    private static func awaitTurn() -> Bool {
        var byte: UInt8 = 0
        return Glibc.read(STDIN_FILENO, &byte, 1) == 1
    }
}
#endif
