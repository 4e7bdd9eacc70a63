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
    private var table: String { sandbox.path + ".table" }

    init() throws { sandbox = try MarkedPlace() }

    /// Records as many names that the log moves to the table, twice where one move makes it and one adds to it.
    private func record(_ names: Range<UInt32>, _ sequence: UInt64 = 1, in log: WatermarkLog? = nil) throws {
        let log = log ?? sandbox.log()
        for start in stride(from: names.lowerBound, to: names.upperBound, by: 64) {
            let part = start..<min(start + 64, names.upperBound)
            try log.append(part.map { MarkedPlace.entry($0, sequence) })
        }
    }

    private func sequence(_ name: UInt32, in log: WatermarkLog? = nil) throws -> UInt64? {
        let log = log ?? sandbox.log()
        let floor = log.load(compacts: false).floors[MarkedPlace.name(name)]
        let stored = try log.stored(MarkedPlace.name(name))
        return [floor, stored].compactMap { $0?.mark.sequence }.max()
    }

    private func expect(_ names: Range<UInt32>, _ sequence: UInt64) throws {
        let log = sandbox.log()
        let contents = log.load()
        for name in names {
            let known = [contents.floors[MarkedPlace.name(name)], try log.stored(MarkedPlace.name(name))]
            #expect(known.compactMap { $0?.mark.sequence }.max() == sequence, "\(name)")
        }
    }

    @Test func fewRecordsNeedNoTable() throws {
        for sequence in 1...40 as ClosedRange<UInt64> { try record(0..<64, sequence) }
        #expect(!SystemFile.exists(table))
        try expect(0..<64, 40)
    }

    @Test func manyRecordsMoveToTheTable() throws {
        try record(0..<20_000)
        #expect(try SystemFile.mode(table) == 0o600)
        let log = sandbox.log()
        let contents = log.load()
        #expect(contents.condition == .intact && contents.floors.count < WatermarkLog.foldingCount)
        try expect(0..<20_000, 1)
        #expect(try log.stored(MarkedPlace.name(20_000)) == nil)
        // Higher sequences replace those of the table, lower ones do not.
        try record(0..<3000, 5)
        try record(1000..<3000, 3)
        try expect(0..<3000, 5)
        try expect(3000..<20_000, 1)
        var count = 0
        try log.forEachStored { _, _ in
            count += 1
            return true
        }
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
        let state = try #require(try log.stored(MarkedPlace.name(1)))
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

    // mine:   looks up 7 ........................ refreshes, judges
    // theirs: .......... accepts 7, moves the log
    @Test func whatAnotherProcessMovesToTheTableIsNoticed() throws {
        try record(0..<2000)
        let mine = WatermarkTable(log: sandbox.log())
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 1)
        try record(7..<8, 9)
        try record(2000..<4000)
        #expect(try sequence(7) == 9)
        mine.refresh()
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 9)
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
        try expect(0..<8000, 2)
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
        try log.forEachStored { _, _ in
            count += 1
            return true
        }
        #expect(result.outputText == "\(count)\n(None, [])\n", "\(result.errorText)")
    }

    // MARK: Damage and loss

    static let damages: [String] = ["a flipped bit", "zeros", "all zeros", "cut off"]

    @Test(arguments: damages) func damageCostsTheDamagedSlotsAndIsReported(_ how: String) throws {
        try record(0..<4000)
        var bytes = try SystemFile.read(table)
        let empty = Array(bytes[128..<256])
        let slots = stride(from: 128, to: bytes.count, by: 128).map { $0..<$0 + 128 }
        let used = try #require(slots.dropFirst(slots.count / 2).first { Array(bytes[$0]) != empty })
        switch how {
        case "a flipped bit": bytes[used.lowerBound + 40] ^= 1
        case "zeros": bytes.replaceSubrange(used, with: repeatElement(0, count: 128))
        case "all zeros": for slot in slots { bytes.replaceSubrange(slot, with: repeatElement(0, count: 128)) }
        default: bytes.removeLast(bytes.count / 2)
        }
        try SystemFile.write(table, bytes)
        let log = sandbox.log()
        let marks = WatermarkTable(log: log)
        let known = (0..<4000 as Range<UInt32>).count { marks.mark(of: MarkedPlace.name($0)) != nil }
        guard case .damaged = marks.condition else {
            Issue.record("\(how): \(marks.condition)")
            return
        }
        // Others are found, and the damage is reported again, also by the next process.
        if ["a flipped bit", "zeros"].contains(how) { #expect(known == 3999) }
        guard case .damaged = WatermarkTable(log: sandbox.log()).condition else {
            Issue.record("it was forgotten")
            return
        }
        try marks.acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
        // New states are stored again.
        try record(0..<4000, 3)
        try expect(0..<4000, 3)
        #expect(sandbox.log().load().condition == .intact)
    }

    @Test func aLostTableIsReportedUntilItIsAccepted() throws {
        try record(0..<2000)
        unlink(table)
        #expect(sandbox.log().load().condition == .lost)
        try record(0..<2000, 2)
        #expect(sandbox.log().load().condition == .lost)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
        try expect(0..<2000, 2)
        unlink(table)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
    }

    @Test func theTableRemainsWhereTheLogIsLost() throws {
        try record(0..<2000)
        unlink(path)
        #expect(sandbox.log().load().condition == .lost)
        #expect(try sequence(3) == 1)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
        #expect(try sequence(3) == 1)
    }

    @Test func aTableUnderAnotherKeyIsDamaged() throws {
        try record(0..<2000)
        let log = sandbox.log(key: [UInt8](repeating: 9, count: 32))
        let contents = log.load()
        #expect(contents.isForeign)
        guard case .damaged = contents.condition else {
            Issue.record("\(contents.condition)")
            return
        }
        #expect(try log.stored(MarkedPlace.name(1)) == nil)
    }

    /// Without space the log grows, and everything in it counts.
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func withoutSpaceForATableTheLogGoesOn() throws {
        let small = try SmallFileSystem(at: sandbox.directory.path, options: "size=200k")
        defer { withExtendedLifetime(small) {} }
        let log = sandbox.log()
        for name in 0..<900 as Range<UInt32> { try log.append([MarkedPlace.entry(name, 1)]) }
        #expect(!SystemFile.exists(table))
        let floors = sandbox.log().load().floors
        #expect(floors.count == 900)
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
        try expect(0..<3000, 4)
        // Once for each change of it.
        #expect(rename(other.directory.path("away"), other.directory.path("Watermarks")) == 0)
        _ = sandbox.log(other: other.log()).load()
        #expect(try SystemFile.read(table) == before)
    }
}

/// A directory of watermarks with a key.
struct MarkedPlace {
    let directory: TemporaryDirectory
    private static let secret = (0..<32).map { UInt8($0) }

    init() throws { directory = try TemporaryDirectory() }

    var path: String { directory.path("Watermarks/group.marks") }

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
}
