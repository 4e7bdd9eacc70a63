import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

@Suite struct AccessLogConcurrencyTests {
    /// The test runs with files that never roll over, and with files that roll over constantly.
    @Test(arguments: [AccessLog.maximumSize, Int64(16 * 1024)])
    func sixteenProcessesMakeOneUnbrokenChain(maximumSize: Int64) throws {
        let fixture = try AccessLogFixture(maximumSize: maximumSize)
        let children = try (0..<16).map { _ in
            try ChildProcess("sealed-probe", ["access-log", fixture.place.path, "50", "\(maximumSize)"])
        }
        for child in children { #expect(try child.readLine() == "ready") }
        for child in children { try child.write("\n") }
        for child in children { #expect(try child.finish().outputText.hasSuffix("done\n")) }
        let head = try fixture.append(1)
        let result = try fixture.log.verify(noted: head)
        #expect(result.isIntact, "\(result)")
        #expect(result.notedHead == .found)
        #expect(result.tornCount == 0)
        if maximumSize == AccessLog.maximumSize { #expect(head.count == 801) }
        let pids = Set(try fixture.entries().map(\.pid))
        #expect(pids.count > (maximumSize == AccessLog.maximumSize ? 16 : 1))
    }

    @Test func threadsOfOneLogMakeOneUnbrokenChain() throws {
        let fixture = try AccessLogFixture()
        let log = fixture.log
        _ = try concurrently(8) { _ in
            for _ in 0..<50 { try log.append(.opened, generation: 1, timeLimit: .seconds(60)) }
        }.map { try $0.get() }
        let result = try log.verify(noted: nil)
        #expect(result.count == 400)
        #expect(result.isIntact)
    }

    /// A reader sees an intact log at every moment, even while it rolls over.
    @Test func aReaderNeverSeesABrokenChain() throws {
        let fixture = try AccessLogFixture(maximumSize: 4096)
        let child = try ChildProcess("sealed-probe", ["access-log", fixture.place.path, "0", "4096"])
        try child.write("\n")
        #expect(try child.readLine() == "ready")
        #expect(try child.readLine() == "started")
        for _ in 0..<300 {
            let result = try fixture.log.verify(noted: nil)
            #expect(result.isIntact, "\(result)")
        }
        child.kill(SIGKILL)
    }
}
