import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests that a table that is damaged, lost, replaced or unreadable is reported, and ends no check.
@Suite struct WatermarkTableFaultTests {
    private let sandbox: MarkedPlace
    private var path: String { sandbox.path }
    private var table: String { sandbox.table }

    init() throws { sandbox = try MarkedPlace() }

    // MARK: Lost and replaced tables

    static let losses = ["removed", "emptied", "another one"]

    @Test(arguments: losses) func aLossIsReportedUntilItIsAccepted(_ how: String) throws {
        try sandbox.record(0..<2000)
        switch how {
        case "removed": unlink(table)
        case "emptied": truncate(table, 0)
        default: try replaceTable()
        }
        #expect(sandbox.log().load().condition == .lost)
        // The log moves to a new table, or to the other one.
        try sandbox.record(0..<2000, 2)
        #expect(sandbox.log().load().condition == .lost)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
        sandbox.expect(0..<2000, 2)
        unlink(table)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
    }

    private func replaceTable() throws {
        let other = try MarkedPlace()
        try other.record(5000..<7000)
        try SystemFile.write(table + ".new", try SystemFile.read(other.table))
        #expect(rename(table + ".new", table) == 0)
    }

    // mine:   looks up 7 ...................... refreshes, judges
    // table:             replaced by another one
    @Test func aRunningProgramSearchesTheLostTableOn() throws {
        try sandbox.record(0..<4000, 3)
        let mine = WatermarkTable(log: sandbox.log())
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 3)
        try replaceTable()
        // Another program's compaction takes the other one.
        try sandbox.record(0..<600, 2)
        mine.refresh()
        for name in 0..<3000 as Range<UInt32> { #expect(mine.mark(of: MarkedPlace.name(name))?.sequence == 3) }
        #expect(mine.mark(of: MarkedPlace.name(6000)) != nil, "the new one counts as well")
        #expect(mine.condition == .lost)
        try mine.acceptLosses()
        #expect(mine.condition == .intact && sandbox.log().load().condition == .intact)
    }

    @Test func aRunningProgramTakesNoOlderCopyOfItsTable() throws {
        try sandbox.record(0..<2000)
        let old = (try SystemFile.read(path), try SystemFile.read(table))
        try sandbox.record(0..<2000, 5)
        let mine = WatermarkTable(log: sandbox.log())
        for (name, bytes) in [(path, old.0), (table, old.1)] {
            try SystemFile.write(name + ".new", bytes)
            #expect(rename(name + ".new", name) == 0)
        }
        mine.refresh()
        for name in 0..<1000 as Range<UInt32> { #expect(mine.mark(of: MarkedPlace.name(name))?.sequence == 5) }
        #expect(mine.condition == .lost)
        // The copy changes more often than the table that it has replaced.
        for round in 2...8 as ClosedRange<UInt64> { try sandbox.record(3000..<4000, round) }
        mine.refresh()
        for name in 0..<1000 as Range<UInt32> { #expect(mine.mark(of: MarkedPlace.name(name))?.sequence == 5) }
        #expect(mine.condition == .lost)
    }

    @Test func anOlderTableBesideTheLogIsALoss() throws {
        try sandbox.record(0..<2000)
        let old = try SystemFile.read(table)
        try sandbox.record(0..<2000, 5)
        try SystemFile.write(table + ".new", old)
        #expect(rename(table + ".new", table) == 0)
        #expect(sandbox.log().load().condition == .lost)
        for round in 2...8 as ClosedRange<UInt64> { try sandbox.record(3000..<4000, round) }
        #expect(sandbox.log().load().condition == .lost)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
    }

    /// The write of the head that ends a change may be lost, and no other.
    @Test(arguments: [false, true]) func aPowerLossAfterAMoveIsNoLoss(_ isChanging: Bool) throws {
        try sandbox.record(0..<2000)
        let log = sandbox.log()
        let directory = try Directory.openOwn(log.directoryPath)
        let file = try LockFile(directory: directory, name: log.tableLeaf).acquire(
            .whole, .exclusive, timeout: .zero)
        var head = try #require(try WatermarkHashFile(reading: file.file, key: log.key))
        try head.update(count: head.head.count, isChanging: isChanging, key: log.key)
        file.unlock()
        try log.append([WatermarkEntry(.table, head.head.id, changes: head.head.changes + 1)])
        #expect(sandbox.log().load().condition == (isChanging ? .intact : .lost))
    }

    @Test(arguments: [false, true]) func aLogThatOnlyNamesALostTableCanBeAccepted(_ isTakenOver: Bool) throws {
        try sandbox.record(0..<512)
        let log = sandbox.log()
        if isTakenOver { try log.append([WatermarkEntry(.takenOver, Bytes16(filling: { $0[0] = 7 }), changes: 3)]) }
        let directory = try Directory.openOwn(log.directoryPath)
        _ = try log.rewrite(in: directory, unlessAbove: .infinity)
        #expect(try SystemFile.read(path).count == (isTakenOver ? 2 : 1) * WatermarkEntry.size)
        unlink(table)
        #expect(sandbox.log().load().condition == .lost)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition != .lost)
        try sandbox.record(0..<10)
        #expect(sandbox.log().load().condition == .intact)
    }

    // MARK: Unreadable tables

    // mine:   looks up 7 .............................. refreshes .............. refreshes
    // theirs: .......... accepts 7, replaces the log
    // table:                                  is a directory    is a file again
    @Test func aTableThatCannotBeOpenedEndsNoCheck() throws {
        try sandbox.record(0..<2000)
        let mine = WatermarkTable(log: sandbox.log())
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 1)
        try sandbox.record(7..<8, 9)
        try SystemFile.write(path + ".new", try SystemFile.read(path))
        #expect(rename(path + ".new", path) == 0 && rename(table, table + ".away") == 0)
        try sandbox.directory.directory("Watermarks/group.marks.table")
        mine.refresh()
        #expect(mine.mark(of: MarkedPlace.name(8))?.sequence == 1)
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 9)
        for condition in [mine.condition, WatermarkTable(log: sandbox.log()).condition] {
            guard case .unreadable = condition else {
                Issue.record("\(condition)")
                continue
            }
        }
        #expect(!mine.forEachMark { _, _ in true })
        #expect(rmdir(table) == 0 && rename(table + ".away", table) == 0)
        mine.refresh()
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 9)
        #expect(mine.condition == .intact)
        #expect(mine.forEachMark { _, _ in true })
    }

    @Test func acceptingAnUnreadableTableKeepsTheLog() throws {
        try sandbox.record(0..<2000)
        try sandbox.record(7..<8, 9)
        #expect(rename(table, table + ".away") == 0)
        try sandbox.directory.directory("Watermarks/group.marks.table")
        let mine = WatermarkTable(log: sandbox.log())
        #expect(mine.mark(of: MarkedPlace.name(7))?.sequence == 9)
        try mine.acceptLosses()
        #expect(mine.condition == .intact)
        #expect(sandbox.sequence(7) == 9 && sandbox.sequence(8) == nil)
        #expect(sandbox.log().load().condition == .intact)
    }

    @Test func acceptingAnUnreadableLogKeepsTheTable() throws {
        try sandbox.record(0..<2000)
        unlink(path)
        try sandbox.directory.directory("Watermarks/group.marks")
        let mine = WatermarkTable(log: sandbox.log())
        guard case .unreadable = mine.condition else {
            Issue.record("\(mine.condition)")
            return
        }
        try mine.acceptLosses()
        #expect(mine.condition == .intact)
        #expect(sandbox.sequence(7) == 1)
        #expect(WatermarkTable(log: sandbox.log()).condition == .intact)
    }

    @Test func anUnreadableRestOfACompactionCanBeAccepted() throws {
        try sandbox.record(0..<2000)
        try sandbox.directory.directory("Watermarks/group.marks.previous")
        let mine = WatermarkTable(log: sandbox.log())
        guard case .unreadable = mine.condition else {
            Issue.record("\(mine.condition)")
            return
        }
        let log = try SystemFile.read(path)
        try mine.acceptLosses()
        #expect(mine.condition == .intact && sandbox.sequence(7) == 1)
        #expect(try SystemFile.read(path).starts(with: log))
    }

    // MARK: Damage

    static let damages: [String] = ["a flipped bit", "zeros", "all zeros", "cut off"]

    @Test(arguments: damages) func damageCostsTheDamagedSlotsAndIsReported(_ how: String) throws {
        try sandbox.record(0..<4000)
        var bytes = try SystemFile.read(table)
        let slots = slots(of: bytes)
        let used = try usedSlot(of: bytes)
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
        try sandbox.record(0..<4000, 3)
        sandbox.expect(0..<4000, 3)
        #expect(sandbox.log().load().condition == .intact)
    }

    @Test func theTableRemainsWhereTheLogIsLost() throws {
        try sandbox.record(0..<2000)
        unlink(path)
        #expect(sandbox.log().load().condition == .lost)
        #expect(sandbox.sequence(3) == 1)
        try sandbox.log().acceptLosses()
        #expect(sandbox.log().load().condition == .intact)
        #expect(sandbox.sequence(3) == 1)
    }

    @Test func aTableUnderAnotherKeyIsDamaged() throws {
        try sandbox.record(0..<2000)
        let log = sandbox.log(key: [UInt8](repeating: 9, count: 32))
        let contents = log.load()
        #expect(contents.isForeign)
        guard case .damaged = contents.condition else {
            Issue.record("\(contents.condition)")
            return
        }
        #expect(log.stored(MarkedPlace.name(1)) == nil)
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

    /// A table with one damaged slot has no second name after the acceptance, and the damage is kept.
    @Test func acceptedDamageIsKept() throws {
        try sandbox.record(0..<4000)
        let damaged = try damageSlot(of: table)
        try sandbox.log().acceptLosses()
        let names = try SystemFile.names(sandbox.directory.path("Watermarks"))
        let kept = try #require(names.first { $0.hasPrefix("group.marks.damaged-") })
        #expect(try SystemFile.read(sandbox.directory.path("Watermarks/\(kept)")) == damaged)
        #expect(names.count == 3, "\(names)")
        #expect(sandbox.log().load().condition == .intact)
        try sandbox.record(0..<4000, 2)
        sandbox.expect(0..<4000, 2)
    }

    private func slots(of bytes: [UInt8]) -> [Range<Int>] {
        stride(from: 128, to: bytes.count, by: 128).map { $0..<$0 + 128 }
    }

    /// Returns a slot in the second half of a table that contains an entry.
    private func usedSlot(of bytes: [UInt8]) throws -> Range<Int> {
        let (slots, empty) = (slots(of: bytes), Array(bytes[128..<256]))
        return try #require(slots.dropFirst(slots.count / 2).first { Array(bytes[$0]) != empty })
    }

    /// Flips a bit of an entry; returns its bytes.
    private func damageSlot(of table: String) throws -> [UInt8] {
        var bytes = try SystemFile.read(table)
        let used = try usedSlot(of: bytes)
        bytes[used.lowerBound + 40] ^= 1
        try SystemFile.write(table, bytes)
        return Array(bytes[used])
    }

    @Test func damageInTheOtherDirectoryCanBeAccepted() throws {
        let other = try MarkedPlace()
        try other.record(0..<4000)
        try sandbox.record(0..<10)
        _ = sandbox.log(other: other.log()).load()
        _ = try damageSlot(of: other.table)
        let mine = WatermarkTable(log: sandbox.log(other: other.log()))
        for name in 0..<4000 as Range<UInt32> { #expect(mine.mark(of: MarkedPlace.name(name))?.sequence == 1) }
        #expect(mine.condition == .damaged(entries: 1))
        try WatermarkTable(log: sandbox.log(other: other.log())).acceptLosses()
        let next = WatermarkTable(log: sandbox.log(other: other.log()))
        for name in 0..<4000 as Range<UInt32> { #expect(next.mark(of: MarkedPlace.name(name))?.sequence == 1) }
        #expect(next.condition == .intact)
        #expect(next.forEachMark { _, _ in true })
    }

    @Test func anUnreadableTableOfTheOtherDirectoryDoesNotCount() throws {
        let other = try MarkedPlace()
        try other.record(0..<600)
        try sandbox.record(0..<4000)
        unlink(other.table)
        try other.directory.directory("Watermarks/group.marks.table")
        let mine = WatermarkTable(log: sandbox.log(other: other.log()))
        #expect(mine.forEachMark { _, _ in true })
        #expect(mine.mark(of: MarkedPlace.name(3)) != nil)
    }
}
