import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct DescriptorTests {
    // A pipe holds 64 KiB: both sides see short transfers, and the non-blocking writer must wait.
    @Test func transfersThroughANonBlockingPipeAreWhole() throws {
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        for end in ends { try #require(fcntl(end, F_SETFL, O_NONBLOCK) == 0) }
        let (reader, writer) = (ends[0], ends[1])
        let content = (0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 / 7) }
        let received = try concurrently(2) { index in
            if index == 0 {
                let descriptor = Descriptor(owning: writer, path: "pipe")
                try content.withUnsafeBytes { try descriptor.write($0) }
                return [UInt8]()
            }
            let descriptor = Descriptor(owning: reader, path: "pipe")
            var buffer = [UInt8](repeating: 0, count: content.count + 1)
            let count = try buffer.withUnsafeMutableBytes { try descriptor.read(into: $0) }
            return Array(buffer[..<count])
        }.map { try $0.get() }
        #expect(received.contains(content))
    }

    @Test func closingReportsAndEndsTheDescriptor() throws {
        let number = open("/dev/null", O_RDONLY)
        try Descriptor(owning: number, path: "null").close()
        do {
            try Descriptor(owning: 1_000_000, path: "none").close()
            Issue.record("closing what is not open was accepted")
        } catch {
            #expect(error.errno == EBADF)
        }
    }

    @Test func standardStreamsStayOpen() throws {
        do { _ = Descriptor.standardOutput }
        try Descriptor.standardOutput.close()
        #expect(fcntl(1, F_GETFD) >= 0)
    }
}
