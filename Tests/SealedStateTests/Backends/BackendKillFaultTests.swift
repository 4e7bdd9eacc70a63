import Glibc
import SealedBackends
import TestSupport
import Testing

/// Writers of batches that are killed: each batch is whole or absent, and each acknowledged one is there.
@Suite(.timeLimit(.minutes(60))) struct BackendKillFaultTests {
    // writer: batch 1, say 1, batch 2, say 2, ... killed        (for each round)
    // test:                                        reads all keys; the next writer continues after the number found
    @Test(arguments: BackendSandbox.kinds, ["unsynced", "durable"])
    func killingAWriterAtRandomLeavesWholeBatches(_ kind: BackendSandbox.Kind, _ durability: String) throws {
        let sandbox = try BackendSandbox(kind)
        let backend = try sandbox.open()
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededGenerator(seed: seed)
        var found = 0
        for round in 0..<(isLongForm ? 500 : 15) {
            let writer = try sandbox.child("backend-batches", "\(found + 1)", "0", "\(kind.keys)", durability)
            var lines = [try #require(try writer.readLine())]
            usleep(UInt32.random(in: 0..<20_000, using: &random))
            writer.kill(SIGKILL)
            let end = try writer.finish()
            #expect(end.status == .signalled(SIGKILL))
            // The last line may be a part of one.
            lines += end.outputText.split(separator: "\n", omittingEmptySubsequences: false).dropLast().map(String.init)
            let acknowledged = BackendSandbox.last(lines, [durability])
            // A program that is open all the time, and one that is opened after the kill.
            for view in [backend, try sandbox.open()] {
                found = try BackendSandbox.batch(in: view, keys: kind.keys)
                #expect((acknowledged...acknowledged + 1).contains(found), "round \(round), seed \(seed)")
            }
        }
    }

    @Test(
        .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"),
        arguments: BackendSandbox.kinds, ["unsynced", "durable"])
    func killingAWriterAtEachCallLeavesWholeBatches(_ kind: BackendSandbox.Kind, _ durability: String) throws {
        let sandbox = try BackendSandbox(kind)
        let batches = 3
        func traced(_ first: Int) -> TracedProcess {
            sandbox.traced("backend-batches", "\(first)", "\(batches)", "\(kind.keys)", durability)
        }
        defer { traced(1).removeLog() }
        #expect(try traced(1).run().outputText.hasSuffix("made 3 \(durability)\n"))
        let all = try traced(1).calls(from: kind == .files ? "Records/batch" : "Records.sqlite")
        let names: Set = ["write", "pwrite64", "renameat", "linkat", "fdatasync", "fsync", "ftruncate", "unlink"]
        let calls = all.filter { names.contains($0.name) && !$0.line.hasPrefix("write(1<") }
        #expect(calls.count >= batches)
        // The first writer is alone: the last one to close the database moves the log into it.
        var found = batches
        var outcomes: Set<Int> = []
        for call in isLongForm ? calls : calls.enumerated().filter({ $0.offset % 3 == 0 }).map(\.element) {
            let killed = try traced(found + 1).run(killedAt: call)
            let acknowledged = max(
                found, BackendSandbox.last(killed.outputText.split(separator: "\n"), [durability]))
            let present = try BackendSandbox.batch(in: try sandbox.open(), keys: kind.keys)
            #expect((acknowledged...acknowledged + 1).contains(present), "\(call)")
            outcomes.insert(present - found)
            found = present
        }
        // The sweep crossed the commits.
        #expect(outcomes.count > 1)
    }
}
