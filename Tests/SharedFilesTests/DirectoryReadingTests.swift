import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite struct DirectoryReadingTests {
    @Test(arguments: [0, 1, 4095, 4096, 70_000]) func aWholeFileIsRead(_ count: Int) throws {
        let yard = try Yard()
        let content = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        try SystemFile.write(yard.path("x"), content)
        #expect(try yard.inside.read("x", limit: count) == content)
        #expect(try yard.inside.read("x", limit: .max) == content)
        let prefix = try yard.inside.readPrefix("x", count: 100)
        #expect(prefix.bytes == Array(content.prefix(100)))
        #expect(prefix.size == Int64(count))
    }

    @Test func oneByteOverTheLimitIsRefused() throws {
        let yard = try Yard()
        try yard.file("x", "12345")
        #expect(try yard.inside.read("x", limit: 5) == bytes("12345"))
        #expect(fileError { _ = try yard.inside.read("x", limit: 4) }?.code == .tooLarge)
    }

    // Eight tebibytes of hole: allocating before the check would end the process.
    @Test func theLimitIsCheckedBeforeAnythingIsAllocated() throws {
        let yard = try Yard()
        try yard.file("x", "start")
        try #require(truncate(yard.path("x"), 8 << 40) == 0)
        #expect(fileError { _ = try yard.inside.read("x", limit: 1 << 20) }?.code == .tooLarge)
        let prefix = try yard.inside.readPrefix("x", count: 5)
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
        let yard = try Yard()
        try yard.file("x", "1")
        try yard.place.fifo("inside/fifo")
        for _ in 0..<3 {
            _ = try yard.inside.read("x", limit: 10)
            _ = try yard.inside.openForReading("x")
            try? _ = yard.inside.read("fifo", limit: 10)
            try? _ = yard.inside.read("x", limit: 0)
        }
        #expect(try yard.openDescriptors("x").isEmpty)
        #expect(try yard.openDescriptors("fifo").isEmpty)
    }

    @Test func aFileThatAPersonNamedMayBeALinkOrAPipeButNoDirectory() throws {
        let yard = try Yard()
        try yard.place.link("inside/link", to: "../outside/precious")
        for path in [yard.path("link"), "/dev/null"] {
            let file = try Descriptor.openForReading(path: path)
            #expect(file.path == path)
        }
        #expect(fileError { _ = try Descriptor.openForReading(path: yard.path("")) }?.code == .notRegularFile)
        #expect(fileError { _ = try Descriptor.openForReading(path: yard.path("none")) }?.code == .notFound)
    }

    @Test func aNameExistsWhateverItStandsFor() throws {
        let yard = try Yard()
        try yard.place.link("inside/dangling", to: "nothing")
        #expect(try yard.inside.exists("dangling"))
        #expect(try !yard.inside.exists("none"))
        #expect(fileError { _ = try yard.inside.exists("../outside/precious") }?.code == .unsafePath)
    }

    @Test func attributesTellWhatANameStandsFor() throws {
        let yard = try Yard()
        try yard.file("x", "123", mode: 0o640)
        try yard.place.link("inside/link", to: "../outside/precious")
        let facts = try yard.inside.attributes("x")
        #expect(facts.kind == .regular)
        #expect(facts.mode == 0o640)
        #expect(facts.size == 3)
        #expect(facts.nlink == 1)
        #expect(facts.uid == geteuid())
        #expect(facts.modifiedNanoseconds > 1_600_000_000_000_000_000)
        #expect(try yard.inside.attributes("link").kind == .symbolicLink)
        #expect(try yard.inside.attributes(".").kind == .directory)
        #expect(fileError { _ = try yard.inside.attributes("none") }?.code == .notFound)
    }
}
