import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the sweep of value files. A writer's value file has no name in any index until `vault` is renamed, so the
/// lock prevents another writer's sweep.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(5)))
struct ValueSweepTests {
    private let fixture: VaultFixture
    private var home: String { fixture.directory.path }

    init() throws {
        fixture = try VaultFixture()
        let vault = try fixture.create()
        for account in ["a", "b"] { try vault.add("s", account, [UInt8](repeating: 1, count: 300)) }
    }

    private func update(_ account: String, _ size: Int) -> TracedProcess {
        TracedProcess(
            ["vault-change", home, fixture.group.identifier, "update", account, "\(size)"],
            log: "\(home).\(account).trace")
    }

    /// Returns the last call of one of these names before the one that a line of an undisturbed run shows.
    private func call(
        before text: String, after start: String? = nil, named names: Set<String>, in traced: TracedProcess
    ) throws -> TracedProcess.Call {
        let calls = try traced.calls()
        let from =
            try start.map { start in
                try #require(calls.lastIndex { $0.name == "renameat" && $0.line.contains(start) })
            } ?? 0
        let end = try #require(calls[from...].firstIndex { $0.line.contains(text) }, "no \(text)")
        return try #require(calls[from..<end].last { names.contains($0.name) })
    }

    /// Starts a program that stops after a call, and waits until it has stopped.
    private func start(_ traced: TracedProcess, stoppedAt call: TracedProcess.Call) throws -> ChildProcess {
        let child = try traced.start(injecting: ["\(call.name):signal=STOP:when=\(call.ordinal)"])
        try #require(
            eventually { (try? traced.lines())?.contains { $0.contains("SIGSTOP") } == true }, "no stop at \(call)")
        return child
    }

    /// Continues the traced program.
    private func resume(_ child: ChildProcess) throws {
        let children = "/proc/\(child.pid)/task/\(child.pid)/children"
        let text = String(decoding: try SystemFile.read(children), as: UTF8.self)
        kill(try #require(text.split(separator: " ").first.flatMap { pid_t($0) }), SIGCONT)
    }

    @Test func aValueFileThatIsNotIndexedYetSurvivesAnotherWritersSweep() throws {
        // sweeper: update b, unlock, list values, stop ................... lock: busy ......... locked, sweep
        // writer:  ................................... lock, value file, stop ......... rename, unlock, sweep
        let (sweeper, writer) = (update("b", 400), update("a", 500))
        defer { for traced in [sweeper, writer] { traced.removeLog() } }
        for traced in [sweeper, writer] { #expect(try traced.run().outputText == "done\n") }
        let sweep = try call(before: "\".lock\"", after: "\"vault\"", named: ["getdents64"], in: sweeper)
        let write = try call(before: "\"vault\")", named: ["fdatasync", "fsync", "write"], in: writer)
        let sweeping = try start(sweeper, stoppedAt: sweep)
        let writing = try start(writer, stoppedAt: write)
        // The files are the old value of each, the sweeper's new one, and the writer's new one.
        #expect(try SystemFile.names(fixture.beside("values")).count == 4)
        try resume(sweeping)
        #expect(try eventually { try sweeper.lines().contains { $0.contains("EAGAIN") } })
        #expect(try SystemFile.names(fixture.beside("values")).count == 4)
        try resume(writing)
        for child in [sweeping, writing] { #expect(try child.finish().outputText == "done\n") }
        let vault = try fixture.open()
        #expect(try vault.value("s", "a").count == 500)
        #expect(try vault.value("s", "b").count == 400)
        #expect(try SystemFile.names(fixture.beside("values")).count == 2)
    }

    /// A sweep only removes files with names of value files.
    @Test func aSweepTouchesOnlyNamesOfValueFiles() throws {
        let kept = ["README", String(repeating: "A", count: 32), String(repeating: "a", count: 31), ".hidden"]
        for name in kept { try SystemFile.write(fixture.beside("values/\(name)"), [1]) }
        let folder = String(repeating: "b", count: 32)
        #expect(mkdir(fixture.beside("values/\(folder)"), 0o700) == 0)
        try SystemFile.write(fixture.beside("values/\(String(repeating: "c", count: 32))"), [1])
        let vault = try fixture.open()
        try vault.update("s", "a", value: [UInt8](repeating: 2, count: 300))
        let names = try SystemFile.names(fixture.beside("values"))
        #expect(Set(names).isSuperset(of: kept + [folder]) && names.count == kept.count + 3)
    }
}
