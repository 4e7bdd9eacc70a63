import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests with files of eight entries: the first file begins at 0, and each later one begins with the log's own
/// `continued`.
@Suite struct AccessLogRollOverTests {
    let fixture: AccessLogFixture

    init() throws { fixture = try AccessLogFixture(maximumSize: 2048) }

    private func verify(_ head: AccessLogHead?) throws -> AccessLogVerification { try fixture.log.verify(noted: head) }

    @Test(arguments: 1...40) func theChainContinuesThroughEveryRollOver(count: Int) throws {
        let head = try fixture.append(count)
        let result = try verify(head)
        #expect(result.isIntact)
        #expect(result.notedHead == .found)
        #expect(result.firstIndex + UInt64(result.count) == head.count)
        #expect(result.count <= 16)
        let entries = try fixture.entries()
        #expect(entries.map(\.index) == Array(result.firstIndex..<head.count))
        let events = entries.filter { $0.event != .continued }.count
        #expect(result.firstIndex > 0 || events == count)
    }

    @Test func theModeOfTheNewFileIsExact() throws {
        try fixture.append(9)
        #expect(try SystemFile.mode(fixture.path) == 0o600)
        #expect(try SystemFile.mode(fixture.olderPath) == 0o600)
        #expect(try SystemFile.names(fixture.place.path) == [".access.lock", "access.log", "access.log.1"])
    }

    @Test func aNotedHeadThatRolledAwayCannotBeCompared() throws {
        let head = try fixture.append(2)
        try fixture.append(30)
        let result = try verify(head)
        #expect(result.notedHead == .rolledAway)
        #expect(result.isIntact)
    }

    @Test(arguments: [9, 17]) func aMissingFileIsNotMissedBeforeItIsGone(count: Int) throws {
        #expect(try !verify(try fixture.append(count)).isOlderFileMissing)
    }

    @Test(arguments: [nil, 0, 255]) func aMissingOlderFileIsFound(left: Int?) throws {
        let head = try fixture.append(10)
        if let left { truncate(fixture.olderPath, left) } else { unlink(fixture.olderPath) }
        let result = try verify(head)
        #expect(result.isOlderFileMissing)
        #expect(!result.isIntact)
        #expect(result.firstIndex == 8)
    }

    @Test func anOlderFileOfAnotherTimeIsFound() throws {
        try fixture.append(9)
        let older = try SystemFile.read(fixture.olderPath)
        try fixture.append(12)
        try SystemFile.write(fixture.olderPath, older)
        #expect(try verify(nil).badIndexes.first == 8)
    }

    @Test func anOlderFileThatWasCutIsFound() throws {
        try fixture.append(12)
        let older = try SystemFile.read(fixture.olderPath)
        try SystemFile.write(fixture.olderPath, older.dropLast(256))
        #expect(try verify(nil).badIndexes.first == 7)
    }

    @Test func everyByteOfBothFilesCounts() throws {
        let head = try fixture.append(10)
        for path in [fixture.olderPath, fixture.path] {
            let original = try SystemFile.read(path)
            for place in original.indices {
                try fixture.patch(path, place, original[place] ^ 0x10)
                #expect(try !verify(head).isIntact, "\(path) \(place)")
                try fixture.patch(path, place, original[place])
            }
        }
        #expect(try verify(head).isIntact)
    }

    @Test func aRollOverThatWasInterruptedIsReadOnceAndTakenUpAgain() throws {
        let head = try fixture.append(8)
        link(fixture.path, fixture.olderPath)
        let half = try verify(head)
        #expect(half.isIntact)
        #expect(half.count == 8)
        let next = try fixture.append(1)
        #expect(next.count == 10)
        let result = try verify(next)
        #expect(result.isIntact)
        #expect(result.count == 10)
    }

    @Test func aSecondRollOverThatWasInterruptedMissesNothing() throws {
        try fixture.append(15)
        #expect(try fixture.bytes().count == 2048)
        unlink(fixture.olderPath)
        link(fixture.path, fixture.olderPath)
        let result = try verify(nil)
        #expect(result.isIntact)
        #expect(result.firstIndex == 8)
    }

    @Test func aTornTailAtTheRollOverIsRepaired() throws {
        try fixture.append(8)
        try fixture.write(try fixture.bytes() + [1, 2, 3])
        let result = try verify(try fixture.append(1))
        #expect(result.isIntact)
        #expect(result.tornCount == 1)
    }

    @Test func aProgramWithoutAKeyDoesNotRollOverAndEndsAtTwiceTheSize() throws {
        try fixture.append(8)
        for _ in 0..<8 { try noteFailedOpening() }
        #expect(try fixture.bytes().count == 4096)
        let error = #expect(throws: FileError.self) { try noteFailedOpening() }
        #expect(error?.code == .tooLarge)
        let head = try fixture.append(1)
        #expect(try verify(head).isIntact)
        #expect(head.count == 18)
    }

    private func noteFailedOpening() throws {
        let noKey = UnsafeRawBufferPointer(start: nil, count: 0)
        _ = try AccessLogFile(directory: fixture.directory, mode: 0o600, maximumSize: 2048)
            .append(AccessDraft(event: .openFailed), key: noKey, number: 0, durable: false, timeLimit: .seconds(1))
    }
}
