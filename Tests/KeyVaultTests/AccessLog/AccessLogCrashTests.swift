import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

@Suite struct AccessLogCrashTests {
    let fixture: AccessLogFixture

    init() throws { fixture = try AccessLogFixture() }

    @Test(arguments: [1, 31, 32, 128, 224, 255]) func aTornTailIsReportedAndRepairedByTheNextEntry(left: Int) throws {
        let head = try fixture.append(3)
        try fixture.write(try fixture.bytes() + [UInt8](repeating: 0xAA, count: left))
        let torn = try fixture.log.verify(noted: head)
        #expect(torn.endsTorn)
        #expect(torn.isIntact)
        #expect(torn.count == 3)
        let next = try fixture.append(1)
        let repaired = try fixture.log.verify(noted: next)
        #expect(repaired.isIntact)
        #expect(!repaired.endsTorn)
        #expect(repaired.tornCount == 1)
        #expect(repaired.count == 4)
    }

    @Test(arguments: [256, 700, 2048]) func zerosThatAPowerLossLeftAreATornTail(zeros: Int) throws {
        let head = try fixture.append(3)
        try fixture.write(try fixture.bytes() + [UInt8](repeating: 0, count: zeros))
        #expect(try fixture.log.verify(noted: head).endsTorn)
        let next = try fixture.append(1)
        let repaired = try fixture.log.verify(noted: next)
        #expect(repaired.isIntact)
        #expect(repaired.count == 4)
        #expect(repaired.tornCount == 1)
    }

    @Test func aFileOfOnlyTornBytesIsStartedAgain() throws {
        try fixture.write([1, 2, 3])
        #expect(try fixture.append(1).count == 1)
        #expect(try fixture.log.verify(noted: nil).isIntact)
    }

    /// The limit cuts the 41st entry in two: 40 * 256 = 10240, and 100 bytes of the next.
    @Test func anEntryThatFindsNoRoomIsATypedErrorAndLeavesNothing() throws {
        let child = try ChildProcess.run(
            "sealed-probe", ["access-log", fixture.place.path, "100", "1000000", "10340"], input: Array("\n".utf8))
        #expect(child.outputText.split(separator: "\n").last == "tooLarge 40")
        let result = try fixture.log.verify(noted: nil)
        #expect(result.isIntact)
        #expect(result.count == 40)
        #expect(!result.endsTorn)
        #expect(try fixture.append(1).count == 41)
    }

    @Test(.enabled(if: SmallFileSystem.isPossible)) func aFullDiskIsATypedErrorAndLeavesAVerifiableLog() throws {
        let small = try SmallFileSystem(at: try fixture.place.directory("small"))
        let child = try ChildProcess.run(
            "sealed-probe", ["access-log", small.path, "1000", "1000000"], input: Array("\n".utf8))
        let answer = try #require(child.outputText.split(separator: "\n").last).split(separator: " ")
        #expect(answer.first == "noSpace")
        let log = AccessLogFixture.log(in: try .open(small.path))
        let result = try log.verify(noted: nil)
        #expect(result.isIntact)
        #expect(result.count > 0)
        #expect("\(result.count)" == answer.last.map(String.init))
    }

    @Test func aRollOverThatFailsIsPutOffUntilTwiceTheSize() throws {
        // Nothing can be renamed to the older name, because it is a directory.
        let fixture = try AccessLogFixture(maximumSize: 1024)
        try fixture.place.directory("access.log.1")
        let head = try fixture.append(8)
        #expect(head.count == 8)
        #expect(throws: FileError.self) { try fixture.append(1) }
        #expect(try fixture.bytes().count == 2048)
        rmdir(fixture.olderPath)
        let next = try fixture.append(1)
        #expect(next.count == 10)
        #expect(try fixture.log.verify(noted: head).isIntact)
    }

    /// A hole is cheap to create, and reading it would take hours.
    @Test(arguments: [2048 + 257, 1 << 40, Int.max]) func aFileThatIsLargerThanAnyLogIsRefused(size: Int) throws {
        let fixture = try AccessLogFixture(maximumSize: 1024)
        try fixture.append(2)
        let file = open(fixture.path, O_WRONLY | O_CLOEXEC)
        // The file is as large as the file system allows.
        var made = size
        while ftruncate(file, made) != 0 && made > 4096 { made /= 2 }
        close(file)
        var uses: [() throws -> Void] = [
            { try fixture.append(1) }, { _ = try fixture.log.verify(noted: nil) },
        ]
        // A reader without a key knows no smaller limit than the usual one.
        if size > 1 << 30 { uses.append { try AccessLog.readUnverified(in: fixture.directory) { _ in } } }
        for use in uses {
            let error = #expect(throws: FileError.self) { try use() }
            #expect(error?.code == .tooLarge)
        }
        truncate(fixture.path, 512)
        #expect(try fixture.append(1).count == 3)
    }

    @Test func anOlderFileThatIsLargerThanAnyLogIsRefused() throws {
        let fixture = try AccessLogFixture(maximumSize: 1024)
        try fixture.append(6)
        truncate(fixture.olderPath, 1 << 40)
        let error = #expect(throws: FileError.self) { _ = try fixture.log.verify(noted: nil) }
        #expect(error?.code == .tooLarge)
        // Appending is not affected.
        #expect(throws: Never.self) { try fixture.append(1) }
    }

    @Test func killsDuringAppendsLeaveAVerifiableLog() throws {
        var random = SystemRandomNumberGenerator()
        for _ in 0..<12 {
            let children = try (0..<3).map { _ in
                try ChildProcess("sealed-probe", ["access-log", fixture.place.path, "0", "8192"])
            }
            for child in children { #expect(try child.readLine() == "ready") }
            for child in children { try child.write("\n") }
            for child in children { #expect(try child.readLine() == "started") }
            usleep(UInt32.random(in: 0...20_000, using: &random))
            for child in children { child.kill(SIGKILL) }
            for child in children { _ = try child.finish() }
            let result = try fixture.log.verify(noted: nil)
            #expect(result.isIntact, "\(result)")
        }
        let head = try fixture.append(1)
        #expect(try fixture.log.verify(noted: head).notedHead == .found)
    }
}
