import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests that a program that is killed while it moves accepted states to their table, or makes that larger, forgets none.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(60)))
struct WatermarkFoldFaultTests {
    /// The records in the table before the change, of the 1536 that its first size holds.
    enum Fold: Int, CaseIterable, Sendable {
        case makes = 0
        case adds = 600
        case grows = 1500
    }

    @Test(arguments: Fold.allCases) func killingAMoveAtEverySystemCallForgetsNothing(_ fold: Fold) throws {
        let fixture = try VaultFixture()
        let vault = try fixture.create()
        let log = { fixture.place.watermarkLog(vaultID: vault.vaultID, key: vault.heldContents.watermarkKey.secret) }
        let probe = TracedProcess(
            ["store-change", fixture.directory.path, fixture.group.identifier, "write", "1"],
            log: fixture.directory.path + ".trace")
        defer { probe.removeLog() }
        // The group's container, and its first record.
        #expect(try probe.run().outputText == "done\n")
        let (marks, moved) = (fixture.directory.path("Watermarks"), UInt32(fold.rawValue))
        for start in stride(from: 0, to: moved, by: 100) {
            try log().append((start..<start + 100).map { MarkedPlace.entry($0, 1) })
        }
        if fold != .makes { try compact(log()) }
        // Half of them are new where there is a table. There are so many that the next program moves them.
        let news = moved / 2..<moved / 2 + UInt32(WatermarkLog.foldingCount + 8)
        let path = try #require(try logPath(in: marks))
        let bytes = news.flatMap { MarkedPlace.entry($0, 2).encoded(key: vault.heldContents.watermarkKey.secret) }
        try SystemFile.write(path, try SystemFile.read(path) + bytes)
        let before = try SystemFile.names(marks).map { ($0, try SystemFile.read("\(marks)/\($0)")) }
        #expect(before.count == (fold == .makes ? 1 : 2))
        let tableSize = before.first { $0.0.hasSuffix(".table") }?.1.count
        func restore() throws {
            for name in try SystemFile.names(marks) { unlink("\(marks)/\(name)") }
            for (name, bytes) in before { try SystemFile.write("\(marks)/\(name)", bytes) }
        }
        var states: Set<Bool> = []
        for call in try calls(of: probe, from: fold, restore) {
            try restore()
            #expect(try probe.run(killedAt: call).status == .signalled(SIGKILL), "\(call)")
            try expect(news, 2, moved, log(), "\(call)")
            states.insert(try SystemFile.read(try #require(try logPath(in: marks))).count > 1 << 15)
            // The next program completes it.
            try compact(log())
            try expect(news, 2, moved, log(), "\(call), completed")
            let names = try SystemFile.names(marks)
            #expect(names.count == 2 && names.contains { $0.hasSuffix(".table") }, "\(call): \(names)")
        }
        #expect(states == [true, false])
        try restore()
        #expect(try probe.run().outputText == "done\n")
        let size = try SystemFile.names(marks).first { $0.hasSuffix(".table") }.map {
            try SystemFile.read("\(marks)/\($0)").count
        }
        #expect((size == tableSize) == (fold == .adds))
    }

    /// Returns the calls of an undisturbed change that can change files. The short form has those that name, sync or
    /// remove a file, and a few of the writes of slots.
    private func calls(
        of probe: TracedProcess, from fold: Fold, _ restore: () throws -> Void
    ) throws -> [TracedProcess.Call] {
        try restore()
        #expect(try probe.run().outputText == "done\n")
        let calls = try probe.calls().filter(\.isChange)
        let writes = calls.filter { $0.name == "pwrite64" }
        #expect(writes.count > WatermarkLog.foldingCount / 2, "the log was not moved")
        let step = isLongForm ? 1 : writes.count / 4
        var skipped = 0
        return calls.filter { call in
            guard call.name == "pwrite64" else { return isLongForm || Self.steps.contains(call.name) }
            skipped += 1
            return skipped % step == 1 || step == 1 || skipped > writes.count - 3
        }
    }

    private static let steps: Set = ["fallocate", "linkat", "fdatasync", "renameat", "fsync", "unlinkat"]

    private func compact(_ log: WatermarkLog) throws {
        let directory = try Directory.openOwn(log.directoryPath)
        _ = try log.rewrite(in: directory, unlessAbove: .infinity)
    }

    private func logPath(in marks: String) throws -> String? {
        try SystemFile.names(marks).first { $0.hasSuffix(".marks") }.map { "\(marks)/\($0)" }
    }

    private func expect(
        _ news: Range<UInt32>, _ sequence: UInt64, _ moved: UInt32, _ log: WatermarkLog, _ comment: Comment
    ) throws {
        let contents = log.load(compacts: false)
        #expect(contents.condition == .intact, comment)
        for name in 0..<max(moved, news.upperBound) {
            let states = [contents.floors[MarkedPlace.name(name)], log.stored(MarkedPlace.name(name))]
            let expected: UInt64? = news.contains(name) ? sequence : name < moved ? 1 : nil
            let found = states.compactMap { $0?.mark.sequence }.max()
            if found != expected { #expect(found == expected, comment) }
        }
    }
}
