import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the table, to which the states of many records move.
@Suite struct WatermarkFoldingTests {
    private let sandbox: MarkedPlace
    private var path: String { sandbox.path }
    private var table: String { sandbox.table }

    init() throws { sandbox = try MarkedPlace() }

    private func record(_ names: Range<UInt32>, _ sequence: UInt64 = 1, in log: WatermarkLog? = nil) throws {
        try sandbox.record(names, sequence, in: log)
    }

    private func sequence(_ name: UInt32) -> UInt64? { sandbox.sequence(name) }

    private func expect(_ names: Range<UInt32>, _ sequence: UInt64) { sandbox.expect(names, sequence) }

    @Test func fewRecordsNeedNoTable() throws {
        for sequence in 1...40 as ClosedRange<UInt64> { try record(0..<64, sequence) }
        #expect(!SystemFile.exists(table))
        expect(0..<64, 40)
    }

    @Test func manyRecordsMoveToTheTable() throws {
        try record(0..<20_000)
        #expect(try SystemFile.mode(table) == 0o600)
        let log = sandbox.log()
        let contents = log.load()
        #expect(contents.condition == .intact && contents.floors.count < WatermarkLog.foldingCount)
        expect(0..<20_000, 1)
        #expect(log.stored(MarkedPlace.name(20_000)) == nil)
        // Higher sequences replace those of the table, lower ones do not.
        try record(0..<3000, 5)
        try record(1000..<3000, 3)
        expect(0..<3000, 5)
        expect(3000..<20_000, 1)
        var count = 0
        #expect(
            log.forEachStored { _, _ in
                count += 1
                return true
            })
        #expect(count >= 19_488 && count <= 20_000)
        #expect(try SystemFile.names(sandbox.directory.path("Watermarks")) == ["group.marks", "group.marks.table"])
    }

    @Test func aPurgeAndWhatHoldsAfterARestartMoveAsWell() throws {
        var purged = MarkedPlace.entry(1, 5).state
        purged.isPurged = true
        let unsynced = AcceptedState(
            mark: Watermark(epoch: 1, sequence: 6, commitment: WatermarkTests.commitment(1)), isDurable: false,
            settled: 0)
        let log = sandbox.log()
        try log.append([purged, unsynced].map { WatermarkEntry(name: MarkedPlace.name(1), state: $0) })
        try record(100..<2000)
        _ = log.load()
        let state = try #require(log.stored(MarkedPlace.name(1)))
        #expect(state.mark.sequence == 6 && !state.isPurged && state.settled == 5)
        let later = try #require(state.afterRestart)
        #expect(later.mark.sequence == 5 && later.isPurged)
    }

    // this process:  accepts 0 to 40,000 .................. judges
    // the file:                          is another process's
    @Test func aProcessForgetsNothingThatItHasAccepted() throws {
        let log = sandbox.log()
        let mine = WatermarkTable(log: log)
        let count: UInt32 = 40_000
        func mark(_ name: UInt32, _ sequence: UInt64) -> Watermark {
            Watermark(epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(UInt8(sequence)))
        }
        for name in 0..<count { #expect(mine.accept(compartment: MarkedPlace.name(name), mark(name, 2)) == .advances) }
        let theirs = WatermarkTable(log: sandbox.log())
        for table in [mine, theirs] {
            for name in 0..<count {
                #expect(table.accept(compartment: MarkedPlace.name(name), mark(name, 1)) == .replayed, "\(name)")
            }
        }
        #expect(theirs.condition == .intact)
        var names: Set<NameTag> = []
        theirs.forEachMark { name, _ in
            names.insert(name)
            return true
        }
        #expect(names.count == Int(count))
    }

    // threads:  judge older values of all names, while others are accepted and forgotten
    @Test func noThreadForgetsWhatAnotherJudgesBy() async throws {
        try record(0..<30_000, 5)
        let mine = WatermarkTable(log: sandbox.log())
        func mark(_ sequence: UInt64) -> Watermark {
            Watermark(epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(UInt8(sequence)))
        }
        try await withThrowingTaskGroup(of: Int.self) { group in
            for part in 0..<2 as Range<UInt32> {
                group.addTask {
                    (part * 15_000..<(part + 1) * 15_000).count {
                        mine.accept(compartment: MarkedPlace.name($0), mark(3)) != .replayed
                    }
                }
                group.addTask {
                    (part * 10_000..<(part + 1) * 10_000).count {
                        let name = MarkedPlace.name(100_000 + $0)
                        return mine.accept(compartment: name, mark(7)) != .advances
                            || mine.accept(compartment: name, mark(6)) != .replayed
                    }
                }
            }
            for try await wrong in group { #expect(wrong == 0) }
        }
    }

    // mine:   looks up 7 ........................ refreshes, judges
    // theirs: .......... accepts 7, moves the log
    @Test func whatAnotherProcessMovesToTheTableIsNoticed() throws {
        try record(0..<2000)
        let mine = WatermarkTable(log: sandbox.log())
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 1)
        try record(7..<8, 9)
        try record(2000..<4000)
        #expect(sequence(7) == 9)
        mine.refresh()
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 9)
    }

    // theirs:   accepts 5 of a name
    // threads:                       each judges 3 of it
    @Test func noThreadJudgesByTheAbsenceOfWhatAnotherReads() async throws {
        try record(0..<2000)
        let mine = WatermarkTable(log: sandbox.log())
        let theirs = sandbox.log()
        let candidate = Watermark(epoch: 1, sequence: 3, commitment: WatermarkTests.commitment(3))
        for name in 0..<1500 as Range<UInt32> {
            try theirs.append([MarkedPlace.entry(name, 5)])
            let verdicts = await withTaskGroup(of: Watermark.Verdict.self) { group in
                for _ in 0..<4 {
                    group.addTask { mine.accept(compartment: MarkedPlace.name(name), candidate) }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(verdicts == [.replayed, .replayed, .replayed, .replayed], "\(name)")
        }
    }

    @Test func programsThatMoveAtOnceLoseNothing() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for part in 0..<4 as Range<UInt32> {
                group.addTask {
                    let log = sandbox.log()
                    for round in 1...2 as ClosedRange<UInt64> {
                        try record(part * 2000..<part * 2000 + 2000, round, in: log)
                    }
                }
            }
            group.addTask {
                let table = WatermarkTable(log: sandbox.log())
                for name in 0..<8000 as Range<UInt32> where name % 5 == 0 { _ = table.mark(of: MarkedPlace.name(name)) }
            }
            try await group.waitForAll()
        }
        expect(0..<8000, 2)
        #expect(sandbox.log().load().condition == .intact)
    }

    /// The second implementation, from the document alone, finds the same.
    @Test func theTableIsTheDocumentedOne() throws {
        try record(0..<3000, 3)
        let script = """
            import sys
            sys.path.insert(0, sys.argv[1])
            import memory
            table = memory.Table(open(sys.argv[2], "rb").read(), bytes(range(32)))
            found = [table.find(number.to_bytes(4, "little") + bytes(12)) for number in range(3000)]
            print(sum(1 for mark, damaged in found if mark and mark.sequence == 3 and not damaged))
            print(table.find(bytes([255] * 16)))
            """
        let result = try ChildProcess.run(
            "/usr/bin/env", ["python3", "-B", "-c", script, VectorManifest.folder, table])
        var count = 0
        let log = sandbox.log()
        _ = log.load()
        #expect(
            log.forEachStored { _, _ in
                count += 1
                return true
            })
        #expect(result.outputText == "\(count)\n(None, [])\n", "\(result.errorText)")
    }

    // MARK: The other directory

    // here:   .................... takes over ........... keeps
    // other:  fills up .........................  renamed
    @Test func theOtherDirectorysTableIsTakenOver() throws {
        let other = try MarkedPlace()
        let theirs = other.log()
        for start in stride(from: 0 as UInt32, to: 3000, by: 100) {
            try theirs.append((start..<start + 100).map { MarkedPlace.entry($0, 4) })
        }
        try record(0..<10, 2)
        let mine = sandbox.log(other: other.log())
        _ = mine.load()
        let before = try SystemFile.read(table)
        #expect(rename(other.directory.path("Watermarks"), other.directory.path("away")) == 0)
        expect(0..<3000, 4)
        // Once for each change of it.
        #expect(rename(other.directory.path("away"), other.directory.path("Watermarks")) == 0)
        _ = sandbox.log(other: other.log()).load()
        #expect(try SystemFile.read(table) == before)
    }

    // a: written here, b read     opens ........ opens
    // b: written here, a read           opens ........ opens
    @Test func twoProgramsDoNotCopyTheirTablesForEver() throws {
        let other = try MarkedPlace()
        try record(0..<2000, 2)
        try other.record(1000..<3000, 4)
        func openBoth() throws -> [[UInt8]] {
            _ = WatermarkTable(log: sandbox.log(other: other.log()))
            _ = WatermarkTable(log: other.log(other: sandbox.log()))
            return try [SystemFile.read(table), SystemFile.read(other.table)]
        }
        _ = try openBoth()
        let settled = try openBoth()
        #expect(try openBoth() == settled)
        other.expect(0..<1000, 2)
        expect(1000..<3000, 4)
    }
}

/// A directory of watermarks with a key.
struct MarkedPlace {
    let directory: TemporaryDirectory
    private static let secret = (0..<32).map { UInt8($0) }

    init() throws { directory = try TemporaryDirectory() }

    var path: String { directory.path("Watermarks/group.marks") }
    var table: String { path + ".table" }

    func log(key: [UInt8] = MarkedPlace.secret, other: WatermarkLog? = nil) -> WatermarkLog {
        WatermarkLog(
            directoryPath: GroupsHome(root: directory.path).watermarksPath, leaf: "group.marks",
            key: key.withRawBytes { SecretBytes(copying: $0) }, other: other)
    }

    static func name(_ number: UInt32) -> NameTag {
        NameTag(bytes: Bytes16(filling: { $0.storeBytes(of: number, as: UInt32.self) }))
    }

    static func entry(_ name: UInt32, _ sequence: UInt64) -> WatermarkEntry {
        let mark = Watermark(
            epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(UInt8(sequence & 0x7F)))
        return WatermarkEntry(
            name: Self.name(name), state: AcceptedState(mark: mark, isDurable: true, settled: sequence))
    }

    /// Records as many names that the log moves to the table, twice where one move makes it and one adds to it.
    func record(_ names: Range<UInt32>, _ sequence: UInt64 = 1, in log: WatermarkLog? = nil) throws {
        let log = log ?? self.log()
        for start in stride(from: names.lowerBound, to: names.upperBound, by: 64) {
            let part = start..<min(start + 64, names.upperBound)
            try log.append(part.map { Self.entry($0, sequence) })
        }
    }

    /// Returns the sequence that a new program finds.
    func sequence(_ name: UInt32) -> UInt64? {
        let log = log()
        let known = [log.load(compacts: false).floors[Self.name(name)], log.stored(Self.name(name))]
        return known.compactMap { $0?.mark.sequence }.max()
    }

    func expect(_ names: Range<UInt32>, _ sequence: UInt64) {
        let log = log()
        let contents = log.load()
        for name in names {
            let known = [contents.floors[Self.name(name)], log.stored(Self.name(name))]
            #expect(known.compactMap { $0?.mark.sequence }.max() == sequence, "\(name)")
        }
    }
}
