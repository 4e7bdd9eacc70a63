import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

@Suite struct WatermarkLogTests {
    let place: TemporaryDirectory
    private let secret = (0..<32).map { UInt8($0) }

    init() throws { place = try TemporaryDirectory() }

    private var path: String { place.path("Watermarks/group.marks") }

    private func log() -> WatermarkLog {
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        return WatermarkLog(directoryPath: GroupsHome(root: place.path).watermarksPath, leaf: "group.marks", key: key)
    }

    private func tag(_ record: UInt8) -> NameTag { NameTag(bytes: Bytes16(filling: { $0[0] = record })) }

    private func entry(
        _ record: UInt8, _ sequence: UInt64, durable: Bool = true, settled: UInt64? = nil, boot: BootID = .current,
        epoch: UInt32 = 1, anchor: Int64 = 0
    ) -> WatermarkEntry {
        let commitment = WatermarkTests.commitment(UInt8(sequence & 0x7F) + 1)
        return WatermarkEntry(
            name: tag(record),
            state: AcceptedState(
                mark: Watermark(epoch: epoch, sequence: sequence, commitment: commitment), isDurable: durable,
                settled: settled ?? (durable ? sequence : 0), anchor: ClockAnchor(milliseconds: anchor)), boot: boot)
    }

    private func write(_ entries: [WatermarkEntry]) throws {
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        if !SystemFile.exists(place.path("Watermarks")) { try place.directory("Watermarks") }
        try SystemFile.write(path, entries.flatMap { $0.encoded(key: key) })
    }

    private func floors() -> [UInt8: UInt64] {
        let floors = log().load().floors
        return Dictionary(
            uniqueKeysWithValues: floors.map { ($0.key.bytes.withUnsafeBytes { $0[0] }, $0.value.mark.sequence) })
    }

    private func compactNow() throws {
        let directory = try Directory.openOwn(GroupsHome(root: place.path).watermarksPath)
        _ = try log().rewrite(in: directory, unlessAbove: .infinity)
    }

    private let before = WatermarkEntryTests.before

    @Test func withoutAFileEverythingIsFirstContact() {
        #expect(log().load().condition == .firstContact)
        #expect(floors() == [:])
        #expect(!SystemFile.exists(place.path("Watermarks")))
    }

    @Test func orderAndRepetitionDoNotMatter() throws {
        let entries = [entry(1, 5), entry(2, 1), entry(1, 7), entry(1, 6), entry(2, 1), entry(1, 7)]
        for shift in entries.indices {
            try write(Array(entries[shift...] + entries[..<shift]))
            #expect(floors() == [1: 7, 2: 1])
            #expect(log().load().condition == .intact)
        }
    }

    @Test func ofOneSequenceTheHigherEpochWins() throws {
        try write([entry(1, 200), entry(1, 3, epoch: 2), entry(1, 200, epoch: 2), entry(1, 200)])
        #expect(log().load().floors[tag(1)]?.mark.epoch == 2)
        #expect(floors() == [1: 200])
    }

    @Test func afterARestartTheFloorIsTheHighestSettledOne() throws {
        try write([entry(1, 5, boot: before), entry(1, 4, boot: before), entry(2, 9, durable: false, boot: before)])
        #expect(floors() == [1: 5])
        try write([entry(1, 5, boot: before), entry(1, 8, durable: false, settled: 6, boot: before)])
        #expect(floors() == [1: 6])
        // In this boot an unsynced state counts, and so does one below another boot's.
        try write([entry(1, 5, boot: before), entry(1, 8, durable: false)])
        #expect(floors() == [1: 8])
        try write([entry(1, 5, boot: before), entry(1, 3)])
        #expect(floors() == [1: 5])
    }

    @Test func theLatestAnchorOfABlobCountsWithinItsBoot() throws {
        try write([entry(1, 5, anchor: 300), entry(1, 5, anchor: 700), entry(1, 5, anchor: 400)])
        #expect(log().load().floors[tag(1)]?.anchor.milliseconds == 700)
        try write([entry(1, 4, anchor: 900), entry(1, 5, anchor: 300), entry(1, 5, boot: before, anchor: 999)])
        #expect(log().load().floors[tag(1)]?.anchor.milliseconds == 300)
    }

    @Test func appendedEntriesAreReadBack() throws {
        let log = log()
        try log.append([entry(1, 1)])
        try log.append([entry(1, 2), entry(2, 7)])
        #expect(floors() == [1: 2, 2: 7])
        #expect(try SystemFile.mode(path) == 0o600)
        #expect(try SystemFile.mode(place.path("Watermarks")) == 0o700)
    }

    // MARK: Damage

    @Test func aDamagedEntryIsReportedAndTheOthersHold() throws {
        try write([entry(1, 5), entry(2, 6), entry(3, 7)])
        var bytes = try SystemFile.read(path)
        bytes[WatermarkEntry.size + 30] ^= 1
        try SystemFile.write(path, bytes)
        #expect(log().load().condition == .damaged(entries: 1))
        #expect(floors() == [1: 5, 3: 7])
        #expect(try SystemFile.read(path) == bytes)
    }

    @Test(arguments: [1, 64, 127]) func aTornTailIsReportedAndCostsOneEntryOnly(_ count: Int) throws {
        // Of no boot, so that its bytes are the same in each run.
        try write([entry(1, 5), entry(2, 6, boot: .unknown)])
        let bytes = try SystemFile.read(path)
        try SystemFile.write(path, Array(bytes[..<(WatermarkEntry.size + count)]))
        #expect(log().load().condition == .damaged(entries: 1))
        #expect(floors() == [1: 5])
        // Later entries are read nevertheless.
        let log = log()
        try log.append([entry(2, 8)])
        try log.append([entry(1, 9)])
        #expect(floors() == [1: 9, 2: 8])
        #expect(self.log().load().condition == .damaged(entries: 1))
    }

    /// One in 256 entries without its last byte is completed by the first one of the next.
    @Test func anEntryWhoseFirstByteCompletesATornOneCounts() throws {
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        let next = entry(2, 5000)
        let torn = try #require(
            (1...4000 as ClosedRange<UInt64>).lazy.map { entry(1, $0).encoded(key: key) }
                .first { $0.last == next.encoded(key: key).first })
        try write([entry(3, 1)])
        try SystemFile.write(path, try SystemFile.read(path) + torn.dropLast())
        try log().append([next, entry(3, 2)])
        #expect(floors()[2] == 5000 && floors()[3] == 2)
    }

    /// Bytes that are not entries: their number and their value.
    static let gaps: [(Int, UInt8)] = [(1, 0), (127, 0), (128, 7), (129, 1), (191, 0), (300, 0xFF), (4096, 0)]

    // one process:     torn ..... fills up, writes
    // another process: ..... fills up, writes
    @Test(arguments: gaps) func entriesAreFoundAmongOtherBytes(_ count: Int, _ byte: UInt8) throws {
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        let gap = [UInt8](repeating: byte, count: count)
        try write([entry(1, 5)])
        let bytes = try SystemFile.read(path) + gap + entry(2, 6).encoded(key: key) + entry(1, 7).encoded(key: key)
        try SystemFile.write(path, bytes + gap)
        let log = log()
        let contents = log.load()
        #expect(contents.condition == .damaged(entries: 2 * ((count + 127) / 128)))
        #expect(floors() == [1: 7, 2: 6])
        // Later entries are reported as news, at any offset.
        let other = self.log()
        try other.append([entry(2, 9)])
        #expect(try log.news().values.map(\.mark.sequence) == [9])
        #expect(try log.news().isEmpty)
    }

    @Test func anEntryThatIsOnlyHalfThereIsReadWhenItIsWhole() throws {
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        try write([entry(1, 5)])
        let log = log()
        _ = log.load()
        let (start, next) = (try SystemFile.read(path), entry(1, 6).encoded(key: key))
        for count in [1, 60, 127] {
            try SystemFile.write(path, start + next[..<count])
            #expect(try log.news().isEmpty)
        }
        try SystemFile.write(path, start + next)
        #expect(try log.news().values.map(\.mark.sequence) == [6])
    }

    @Test func anotherKeysEntriesAreDamage() throws {
        let other = SecretBytes.random(count: 32)
        try place.directory("Watermarks")
        try SystemFile.write(path, entry(1, 5).encoded(key: other) + entry(2, 5).encoded(key: other))
        #expect(log().load().condition == .damaged(entries: 2))
        #expect(floors() == [:])
    }

    @Test func specialFilesAreUnreadable() throws {
        try place.directory("Watermarks")
        try place.link("Watermarks/group.marks", to: "/etc/passwd")
        guard case .unreadable = log().load().condition else {
            Issue.record("a link was read")
            return
        }
        unlink(path)
        try place.fifo("Watermarks/group.marks")
        guard case .unreadable = log().load().condition else {
            Issue.record("a FIFO was read")
            return
        }
    }

    /// No size ends the check: an older blob would be accepted.
    @Test func aLogOfAnySizeIsRead() throws {
        try write([entry(1, 5)])
        let others = [UInt8](
            [entry(2, 1)].flatMap { $0.encoded(key: secret.withRawBytes { SecretBytes(copying: $0) }) })
        let size = 65 << 20
        try SystemFile.write(path, Array(try SystemFile.read(path) + repeatElement(others, count: size / 128).joined()))
        #expect(floors() == [1: 5, 2: 1])
        #expect(log().load().condition == .intact)
    }

    @Test func aHoleInTheLogIsDamage() throws {
        try write([entry(1, 5)])
        #expect(truncate(path, 1 << 40) == 0)
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        let file = open(path, O_WRONLY | O_APPEND)
        defer { close(file) }
        let last = entry(2, 6).encoded(key: key)
        #expect(Glibc.write(file, last, last.count) == last.count)
        #expect(log().load().condition == .damaged(entries: (1 << 40) / 128 - 1))
        #expect(floors() == [1: 5, 2: 6])
    }

    // MARK: News

    @Test func entriesAppendedByOthersAreNewsOnlyOnce() throws {
        let (mine, theirs) = (log(), log())
        _ = mine.load()
        #expect(try mine.news().isEmpty)
        try theirs.append([entry(1, 5)])
        #expect(try mine.news().values.map(\.mark.sequence) == [5])
        #expect(try mine.news().isEmpty)
        // mine:   append 6 ........... append 8 .... news: 7
        // theirs: ......... append 7
        try mine.append([entry(1, 6)])
        try theirs.append([entry(1, 7)])
        try mine.append([entry(1, 8)])
        #expect(try mine.news().values.map(\.mark.sequence) == [8])
        #expect(try mine.news().isEmpty)
        try mine.append([entry(1, 9)])
        #expect(try mine.news().isEmpty)
    }

    @Test func aReplacedFileIsNewsAltogether() throws {
        let mine = log()
        try mine.append([entry(1, 5)])
        _ = try mine.news()
        unlink(path)
        #expect(try mine.news().isEmpty)
        try write([entry(2, 3), entry(1, 2)])
        #expect(try mine.news().count == 2)
    }

    /// The file is held open between appends.
    @Test func anAppendGoesToTheFileThatHasTheNameNow() throws {
        let mine = log()
        try mine.append([entry(1, 5)])
        try mine.append([entry(1, 6)])
        #expect(floors() == [1: 6])
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        try SystemFile.write(path + ".new", entry(2, 3).encoded(key: key))
        #expect(rename(path + ".new", path) == 0)
        try mine.append([entry(1, 7)])
        #expect(floors() == [1: 7, 2: 3])
        unlink(path)
        try mine.append([entry(1, 8)])
        #expect(floors() == [1: 8])
        #expect(rename(place.path("Watermarks"), place.path("Moved")) == 0)
        try mine.append([entry(1, 9)])
        #expect(floors() == [1: 9])
        try mine.append([entry(1, 10)])
        #expect(floors() == [1: 10])
    }

    @Test func aFileHeldOpenInADirectoryThatOthersMayWriteIsNotUsed() throws {
        let mine = log()
        try mine.append([entry(1, 5)])
        try mine.append([entry(1, 6)])
        _ = try mine.news()
        #expect(chmod(place.path("Watermarks"), 0o777) == 0)
        #expect(throws: FileError.self) { try mine.append([entry(1, 7)]) }
        #expect(throws: FileError.self) { try mine.news() }
        #expect(chmod(place.path("Watermarks"), 0o700) == 0)
        #expect(floors() == [1: 6])
        try mine.append([entry(1, 8)])
        #expect(floors() == [1: 8])
    }

    @Test func aCompactionBetweenTwoAppendsLosesNeither() throws {
        let (mine, other) = (log(), log())
        try mine.append([entry(1, 5)])
        for sequence in 1...600 as ClosedRange<UInt64> { try other.append([entry(2, sequence)]) }
        #expect(floors() == [1: 5, 2: 600])
        try mine.append([entry(1, 6)])
        #expect(floors() == [1: 6, 2: 600])
    }

    // MARK: Compaction

    @Test func compactionKeepsEveryFloorOfNowAndOfAfterARestart() throws {
        var entries: [WatermarkEntry] = []
        for sequence in 1...400 as ClosedRange<UInt64> {
            entries.append(entry(1, sequence, settled: sequence - 1, boot: before))
            entries.append(entry(2, sequence, settled: sequence - 1, anchor: Int64(sequence)))
            // The state was durable once, and unsynced since then.
            entries.append(entry(3, sequence, durable: sequence == 100))
            entries.append(entry(4, sequence, durable: false))
        }
        try write(entries)
        let size = try SystemFile.read(path).count
        #expect(floors() == [1: 399, 2: 400, 3: 400, 4: 400])
        let left = try SystemFile.read(path)
        #expect(left.count < size / 100)
        #expect(floors() == [1: 399, 2: 400, 3: 400, 4: 400])
        #expect(log().load().floors[tag(2)]?.anchor.milliseconds == 400)
        #expect(log().load().condition == .intact)
        #expect(try SystemFile.mode(path) == 0o600)
        #expect(try SystemFile.names(place.path("Watermarks")) == ["group.marks"])
        let later = WatermarkEntryTests.here
        let key = secret.withRawBytes { SecretBytes(copying: $0) }
        var floors: [UInt8: UInt64] = [:]
        for start in stride(from: 0, to: left.count, by: WatermarkEntry.size) {
            let entry = left[start..<start + WatermarkEntry.size].withUnsafeBytes {
                WatermarkEntry(parsing: $0, key: key)
            }
            let record = try #require(entry).name.bytes.withUnsafeBytes { $0[0] }
            floors[record] = max(floors[record] ?? 0, entry?.floor(in: later)?.mark.sequence ?? 0)
        }
        #expect(floors == [1: 399, 2: 399, 3: 100, 4: 0])
    }

    @Test func damageIsKeptBesideTheCompactedFileAndStillReported() throws {
        try write((1...600).map { entry(1, $0) })
        var bytes = try SystemFile.read(path)
        bytes[5] ^= 1
        bytes += [1, 2, 3]
        try SystemFile.write(path, bytes)
        #expect(log().load().condition == .damaged(entries: 2))
        #expect(try SystemFile.read(path).count == WatermarkEntry.size)
        let damaged = bytes[..<128] + [1, 2, 3] + [UInt8](repeating: 0, count: 125)
        #expect(try SystemFile.read(path + ".damaged") == Array(damaged))
        #expect(try SystemFile.mode(path + ".damaged") == 0o600)
        #expect(log().load().condition == .damaged(entries: 2))
        #expect(floors() == [1: 600])
        // A person has confirmed the loss. The bytes remain.
        try log().acceptLosses()
        #expect(log().load().condition == .intact)
        let names = try SystemFile.names(place.path("Watermarks")).filter { $0.hasPrefix("group.marks.damaged-") }
        #expect(names.count == 1)
        #expect(floors() == [1: 600])
    }

    @Test func acceptingTakesDamageOutOfASmallFileAsWell() throws {
        try write([entry(1, 5), entry(2, 6)])
        var bytes = try SystemFile.read(path)
        bytes[5] ^= 1
        try SystemFile.write(path, bytes)
        try log().acceptLosses()
        #expect(log().load().condition == .intact)
        #expect(floors() == [2: 6])
        #expect(try SystemFile.names(place.path("Watermarks")).count == 2)
    }

    @Test func evenAFileFullOfRubbishStaysReadable() throws {
        try write([entry(1, 5)])
        let rubbish = (0..<200_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 7) }
        try SystemFile.write(path, try SystemFile.read(path) + rubbish)
        #expect(floors() == [1: 5])
        try log().append([entry(1, 6)])
        #expect(try SystemFile.read(path).count == 2 * WatermarkEntry.size)
        #expect(log().load().condition == .damaged(entries: 1563))
        #expect(floors() == [1: 6])
    }

    // Eight writers have separate file descriptors, and the file is compacted repeatedly meanwhile.
    @Test func nothingIsLostToACompactionThatComesBetween() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for record in 0..<8 as Range<UInt8> {
                group.addTask {
                    let log = log()
                    for sequence in 1...300 as ClosedRange<UInt64> { try log.append([entry(record, sequence)]) }
                }
            }
            group.addTask {
                for _ in 0..<60 { try? compactNow() }
            }
            try await group.waitForAll()
        }
        #expect(floors() == Dictionary(uniqueKeysWithValues: (0..<8).map { (UInt8($0), 300) }))
        #expect(log().load().condition == .intact)
    }

    // A program that runs for months must not grow the file beyond the readable size.
    @Test func aLongLivedProcessCompactsAsItGoes() throws {
        let log = log()
        for sequence in 1...1200 as ClosedRange<UInt64> { try log.append([entry(1, sequence)]) }
        #expect(try SystemFile.read(path).count < 64 * 1024 + 2 * WatermarkEntry.size)
        #expect(floors() == [1: 1200])
    }

}
