import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests that a missing file is distinguished from one that never existed.
@Suite struct WatermarkLossTests {
    let place: TemporaryDirectory
    private let secret = (0..<32).map { UInt8($0) }

    init() throws {
        place = try TemporaryDirectory()
        try place.directory("Vaults")
    }

    private var path: String { place.path("Watermarks/group.marks") }
    private var marker: [String] {
        get throws { try SystemFile.names(place.path("Vaults")).filter { $0.hasPrefix(".marks.") } }
    }

    private var key: SecretBytes { secret.withRawBytes { SecretBytes(copying: $0) } }

    private func log(at root: String = ".", noted vaults: String = ".") -> WatermarkLog {
        let directory = GroupsHome(root: place.path(root)).watermarksPath
        let marker = WatermarkMarker(in: GroupsHome(root: place.path(vaults)).vaultsPath, for: directory, key: key)
        return WatermarkLog(directoryPath: directory, leaf: "group.marks", key: key, marker: marker)
    }

    private func entry(_ sequence: UInt64) -> WatermarkEntry {
        let mark = Watermark(epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(1))
        return WatermarkEntry(
            name: WatermarkEntryTests.name, state: AcceptedState(mark: mark, isDurable: true, settled: sequence))
    }

    @Test func aFirstContactLeavesItsNoteOnce() throws {
        #expect(log().load().condition == .firstContact)
        #expect(try marker.isEmpty)
        let log = log()
        try log.append([entry(1)])
        let names = try marker
        #expect(names.count == 1)
        try log.append([entry(2)])
        try self.log().append([entry(3)])
        #expect(try marker == names)
        #expect(self.log().load().condition == .intact)
    }

    @Test(arguments: ["removed", "emptied", "the directory removed"])
    func aLostFileIsReportedUntilItIsAccepted(_ how: String) throws {
        try log().append([entry(5)])
        switch how {
        case "removed": unlink(path)
        case "emptied": truncate(path, 0)
        default:
            unlink(path)
            rmdir(place.path("Watermarks"))
        }
        #expect(log().load().condition == .lost)
        // A new file does not hide the loss.
        try log().append([entry(1)])
        #expect(log().load().condition == .lost)
        #expect(log().load().floors.count == 1)
        try log().acceptLosses()
        #expect(log().load().condition == .intact)
        unlink(path)
        #expect(log().load().condition == .lost)
    }

    @Test func acceptanceWhileTheFileWasMissingIsAFirstContactAgain() throws {
        try log().append([entry(5)])
        unlink(path)
        try log().acceptLosses()
        #expect(log().load().condition == .firstContact)
        #expect(try marker.isEmpty)
    }

    @Test func anotherHomeIsNotALoss() throws {
        try log().append([entry(5)])
        #expect(log(at: "Elsewhere").load().condition == .firstContact)
        try log(at: "Elsewhere").append([entry(1)])
        #expect(log(at: "Elsewhere").load().condition == .intact)
        #expect(try marker.count == 2)
    }

    @Test func aVaultThatTakesNoNoteFailsNothing() throws {
        let log = log(noted: "Nowhere")
        try log.append([entry(1)])
        #expect(log.load().condition == .intact)
        unlink(path)
        #expect(log.load().condition == .firstContact)
    }

    @Test func aLogThatWasSetAsideIsNotALoss() throws {
        try log().append([entry(5)])
        unlink(path)
        try place.directory("Watermarks/group.marks")
        try log().setUnreadableAside()
        #expect(log().load().condition == .firstContact)
        try log().append([entry(1)])
        #expect(log().load().condition == .intact)
    }

    // MARK: States without a loss

    // one:     opens, empty ................. reads the note
    // another: ............. appends, notes
    @Test func twoFirstProgramsLoseNothing() throws {
        try place.directory("Watermarks")
        try SystemFile.write(path, [])
        let one = log()
        let directory = try Directory.openOwn(GroupsHome(root: place.path).watermarksPath)
        let file = try directory.openForReading("group.marks")
        try log().append([entry(5)])
        try one.noteLoss(of: file, in: directory)
        let nothing = WatermarkScan()
        #expect(
            one.condition(of: nothing, size: 0, in: directory)
                == .firstContact)
        #expect(try SystemFile.names(place.path("Watermarks")) == ["group.marks"])
        #expect(log().load().condition == .intact)
    }

    // Unsynced states of an earlier boot have no meaning.
    @Test func aCompactionThatKeepsNoStateLeavesNoEmptyFile() throws {
        let log = log()
        let mark = Watermark(epoch: 1, sequence: 7, commitment: WatermarkTests.commitment(1))
        let old = WatermarkEntry(
            name: WatermarkEntryTests.name, state: AcceptedState(mark: mark, isDurable: false, settled: 0),
            boot: WatermarkEntryTests.before)
        for _ in 0..<600 { try log.append([old]) }
        #expect(try SystemFile.read(path).count % (64 * 1024) >= WatermarkEntry.size)
        #expect(self.log().load().condition == .intact)
        #expect(self.log().load().condition == .intact)
        try self.log().append([entry(8)])
        #expect(self.log().load().condition == .intact)
    }

    @Test func acceptingAFileWithoutAnyEntryLeavesNoEmptyOne() throws {
        try log().append([entry(5)])
        try SystemFile.write(path, [UInt8](repeating: 7, count: 70_000))
        #expect(log().load().condition == .damaged(entries: 547))
        #expect(log().load().isForeign)
        try log().acceptLosses()
        #expect(log().load().condition == .firstContact)
        let left = try SystemFile.names(place.path("Watermarks"))
        #expect(left.count == 1 && left[0].hasPrefix("group.marks.damaged-"))
    }

    // MARK: The table

    @Test func aFileThatCouldNotBeReadAtFirstIsReadLater() throws {
        try log().append([entry(5)])
        #expect(rename(path, path + ".moved") == 0)
        #expect(symlink("nowhere", path) == 0)
        let table = WatermarkTable(log: log())
        guard case .unreadable = table.condition else {
            Issue.record("\(table.condition)")
            return
        }
        #expect(table.mark(of: WatermarkEntryTests.name) == nil)
        unlink(path)
        #expect(rename(path + ".moved", path) == 0)
        table.refresh()
        #expect(table.condition == .intact)
        #expect(table.mark(of: WatermarkEntryTests.name)?.sequence == 5)
    }

    @Test func acceptingWritesDownAgainWhatIsKnown() throws {
        try log().append([entry(5)])
        let table = WatermarkTable(log: log())
        unlink(path)
        #expect(symlink("nowhere", path) == 0)
        let other = WatermarkTable(log: log())
        guard case .unreadable = other.condition else {
            Issue.record("\(other.condition)")
            return
        }
        try other.acceptLosses()
        #expect(other.condition == .firstContact)
        try table.acceptLosses()
        #expect(table.condition == .intact)
        #expect(WatermarkTable(log: log()).mark(of: WatermarkEntryTests.name)?.sequence == 5)
    }

    @Test func aPurgeIsRememberedUntilTheNextWrite() throws {
        try log().append([entry(5)])
        let table = WatermarkTable(log: log())
        #expect(!table.isPurged(WatermarkEntryTests.name))
        table.notePurge(of: WatermarkEntryTests.name, at: 5)
        #expect(table.isPurged(WatermarkEntryTests.name))
        let other = WatermarkTable(log: log())
        #expect(other.isPurged(WatermarkEntryTests.name))
        #expect(other.mark(of: WatermarkEntryTests.name)?.sequence == 5)
        try log().append([entry(6)])
        other.refresh()
        #expect(!other.isPurged(WatermarkEntryTests.name))
    }
}
