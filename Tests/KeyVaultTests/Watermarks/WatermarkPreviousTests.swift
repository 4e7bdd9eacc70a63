import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of a compactor that is killed, or fails, between its replacement and the carry-over.
@Suite struct WatermarkPreviousTests {
    let place: TemporaryDirectory
    private let secret = (0..<32).map { UInt8($0) }

    init() throws { place = try TemporaryDirectory() }

    private var path: String { place.path("Watermarks/group.marks") }
    private var key: SecretBytes { secret.withRawBytes { SecretBytes(copying: $0) } }

    private func log() -> WatermarkLog {
        WatermarkLog(directoryPath: GroupsHome(root: place.path).watermarksPath, leaf: "group.marks", key: key)
    }

    private func tag(_ record: UInt8) -> NameTag { NameTag(bytes: Bytes16(filling: { $0[0] = record })) }

    private func entry(_ record: UInt8, _ sequence: UInt64) -> WatermarkEntry {
        let mark = Watermark(epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(1))
        return WatermarkEntry(
            name: tag(record), state: AcceptedState(mark: mark, isDurable: true, settled: sequence))
    }

    private func floors(_ log: WatermarkLog) -> [UInt8: UInt64] {
        let floors = log.load().floors
        return Dictionary(
            uniqueKeysWithValues: floors.map { ($0.key.bytes.withUnsafeBytes { $0[0] }, $0.value.mark.sequence) })
    }

    private func compactNow() throws {
        let directory = try Directory.openOwn(GroupsHome(root: place.path).watermarksPath)
        _ = try log().rewrite(in: directory, unlessAbove: .infinity)
    }

    private var names: [String] { get throws { try SystemFile.names(place.path("Watermarks")) } }

    /// Creates the files of a compactor that has read `kept` and was killed right after its replacement, while another
    /// program appended `late`.
    private func leaveBehind(_ kept: [WatermarkEntry], late: [WatermarkEntry]) throws {
        let directory = try Directory.createOwn(GroupsHome(root: place.path).watermarksPath)
        try log().append(kept)
        try log().keepPrevious(in: directory)
        try log().append(late)
        try directory.replace(
            "group.marks", with: kept.flatMap { $0.encoded(key: key) }, mode: 0o600, durability: .unsynced)
    }

    @Test func uncompactedEntriesAreReadAndCompactedNext() throws {
        try leaveBehind([entry(1, 5)], late: [entry(1, 6), entry(2, 3)])
        #expect(floors(log()) == [1: 6, 2: 3])
        #expect(log().load().condition == .intact)
        try compactNow()
        #expect(try names == ["group.marks"])
        #expect(floors(log()) == [1: 6, 2: 3])
    }

    @Test func anEarlierReaderOfTheFileIsNotifiedToo() throws {
        let reader = log()
        try log().append([entry(1, 1)])
        _ = reader.load()
        try leaveBehind([entry(1, 5)], late: [entry(2, 3)])
        #expect(try reader.news()[tag(2)]?.mark.sequence == 3)
        #expect(try reader.news().isEmpty)
    }

    @Test func aCompactorKilledBeforeItsReplaceLeavesNothingThatMatters() throws {
        try log().append([entry(1, 5), entry(2, 3)])
        try log().keepPrevious(in: Directory.openOwn(GroupsHome(root: place.path).watermarksPath))
        #expect(floors(log()) == [1: 5, 2: 3])
        try compactNow()
        #expect(try names == ["group.marks"])
        #expect(try SystemFile.read(path).count == 2 * WatermarkEntry.size)
    }

    // one:     links, replaces ..................................... carries over, removes its own name
    // another: .................. takes over, links
    @Test func aCompactorLeavesTheNextOnesFileAlone() throws {
        try leaveBehind([entry(1, 5)], late: [entry(2, 3)])
        let directory = try Directory.openOwn(GroupsHome(root: place.path).watermarksPath)
        let first = try directory.attributes("group.marks.previous").inode
        try log().adoptPrevious(in: directory)
        try log().keepPrevious(in: directory)
        try log().removePrevious(first, in: directory)
        #expect(try names.sorted() == ["group.marks", "group.marks.previous"])
        #expect(floors(log()) == [1: 5, 2: 3])
    }

    @Test func rubbishInItsPlaceStopsNoReaderForLong() throws {
        try leaveBehind([entry(1, 5)], late: [])
        try SystemFile.write(path + ".previous", [UInt8](repeating: 9, count: 1000))
        #expect(floors(log()) == [1: 5])
        try compactNow()
        #expect(try names == ["group.marks"])
    }
}
