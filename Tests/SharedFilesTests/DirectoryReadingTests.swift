import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite struct DirectoryReadingTests {
    @Test(arguments: [0, 1, 4095, 4096, 70_000]) func aWholeFileIsRead(_ count: Int) throws {
        let sandbox = try Sandbox()
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try SystemFile.write(sandbox.path("x"), content)
        #expect(try sandbox.inside.read("x", limit: count) == content)
        #expect(try sandbox.inside.read("x", limit: .max) == content)
        let prefix = try sandbox.inside.readPrefix("x", count: 100)
        #expect(prefix.bytes == Array(content.prefix(100)))
        #expect(prefix.size == Int64(count))
    }

    @Test func oneByteOverTheLimitIsRefused() throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "12345")
        #expect(try sandbox.inside.read("x", limit: 5) == bytes("12345"))
        #expect(fileError { _ = try sandbox.inside.read("x", limit: 4) }?.code == .tooLarge)
    }

    // Eight tebibytes of hole: allocating before the check would end the process.
    @Test func theLimitIsCheckedBeforeAnythingIsAllocated() throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "start")
        try #require(truncate(sandbox.path("x"), 8 << 40) == 0)
        #expect(fileError { _ = try sandbox.inside.read("x", limit: 1 << 20) }?.code == .tooLarge)
        let prefix = try sandbox.inside.readPrefix("x", count: 5)
        #expect(prefix.bytes == bytes("start"))
        #expect(prefix.size == 8 << 40)
    }

    // Files in /proc have size 0 but contents, like a file that grows.
    @Test func aFileThatGrowsIsReadOnUpToTheLimit() throws {
        let process = try Directory.open("/proc/\(getpid())")
        let content = try process.read("limits", limit: 1 << 20)
        #expect(content.count > 200)
        #expect(fileError { _ = try process.read("limits", limit: 100) }?.code == .tooLarge)
        #expect(fileError { _ = try process.read("limits", limit: content.count - 1) }?.code == .tooLarge)
        #expect(try process.read("limits", limit: content.count).count == content.count)
    }

    @Test func readingLeavesNoDescriptorOpen() throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "1")
        try sandbox.place.fifo("inside/fifo")
        for _ in 0..<3 {
            _ = try sandbox.inside.read("x", limit: 10)
            _ = try sandbox.inside.openForReading("x")
            try? _ = sandbox.inside.read("fifo", limit: 10)
            try? _ = sandbox.inside.read("x", limit: 0)
        }
        #expect(try sandbox.openDescriptors("x").isEmpty)
        #expect(try sandbox.openDescriptors("fifo").isEmpty)
    }

    @Test func aFileThatAPersonNamedMayBeALinkOrAPipeButNoDirectory() throws {
        let sandbox = try Sandbox()
        try sandbox.place.link("inside/link", to: "../outside/precious")
        for path in [sandbox.path("link"), "/dev/null"] {
            let file = try Descriptor.openForReading(path: path)
            #expect(file.path == path)
        }
        #expect(fileError { _ = try Descriptor.openForReading(path: sandbox.path("")) }?.code == .notRegularFile)
        #expect(fileError { _ = try Descriptor.openForReading(path: sandbox.path("none")) }?.code == .notFound)
    }

    @Test func aNameExistsRegardlessOfItsKind() throws {
        let sandbox = try Sandbox()
        try sandbox.place.link("inside/dangling", to: "nothing")
        #expect(try sandbox.inside.exists("dangling"))
        #expect(try !sandbox.inside.exists("none"))
        #expect(fileError { _ = try sandbox.inside.exists("../outside/precious") }?.code == .unsafePath)
    }

    @Test func attributesShowTheKindOfAName() throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "123", mode: 0o640)
        try sandbox.place.link("inside/link", to: "../outside/precious")
        let facts = try sandbox.inside.attributes("x")
        #expect(facts.kind == .regular)
        #expect(facts.mode == 0o640)
        #expect(facts.size == 3)
        #expect(facts.nlink == 1)
        #expect(facts.uid == geteuid())
        #expect(facts.modifiedNanoseconds > 1_600_000_000_000_000_000)
        #expect(try sandbox.inside.attributes("link").kind == .symbolicLink)
        #expect(try sandbox.inside.attributes(".").kind == .directory)
        #expect(fileError { _ = try sandbox.inside.attributes("none") }?.code == .notFound)
    }
}
