import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of space that is reserved for deletions.
@Suite struct DeletionReserveTests {
    let sandbox: TemporaryDirectory
    let directory: Directory
    let reserve: DeletionReserve

    init() throws {
        sandbox = try TemporaryDirectory()
        directory = try Directory.open(sandbox.path)
        reserve = DeletionReserve(in: directory, prefix: ".reserve.")
    }

    private var path: String { sandbox.path(".reserve.\(geteuid())") }

    private func replace(_ name: String, _ bytes: [UInt8], in directory: DeletionReserve) throws {
        try bytes.withUnsafeBytes { try directory.replace(name, with: $0, mode: 0o640, durability: .durable) }
    }

    @Test func theFileHasItsBlocksAndIsClosedToOthers() throws {
        reserve.expect(9000)
        reserve.keep()
        let facts = try directory.attributes(".reserve.\(geteuid())")
        #expect(facts.size == 12_288 + DeletionReserve.slack && facts.allocatedSize >= facts.size)
        #expect(facts.mode == 0o600)
    }

    @Test func itGrowsAndNeverShrinks() throws {
        reserve.keep()
        reserve.expect(50_000)
        reserve.expect(1)
        reserve.keep()
        #expect(try directory.attributes(".reserve.\(geteuid())").size == 53_248 + DeletionReserve.slack)
    }

    @Test func withSpaceADeletionLeavesTheReserve() throws {
        reserve.keep()
        try replace("a", [1, 2], in: reserve)
        #expect(try directory.read("a", limit: 10) == [1, 2])
        #expect(SystemFile.exists(path))
    }

    /// A directory under its name, a file of several names, and a link are not written to.
    @Test(arguments: ["directory", "link", "second name"]) func otherFilesOfItsNameAreLeftAlone(planted: String) throws
    {
        try SystemFile.write(sandbox.path("other"), [7])
        switch planted {
        case "directory": try sandbox.directory(".reserve.\(geteuid())")
        case "link": #expect(symlink(sandbox.path("other"), path) == 0)
        default: #expect(link(sandbox.path("other"), path) == 0)
        }
        reserve.keep()
        #expect(try SystemFile.read(sandbox.path("other")) == [7])
    }

    enum Shortage: CaseIterable, Sendable { case bytes, inodes }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"), arguments: Shortage.allCases)
    func aFullDiskTakesADeletionAndNothingElse(_ shortage: Shortage) throws {
        let small = try SmallFileSystem(at: sandbox.directory("small"), options: "size=256k,nr_inodes=40")
        let directory = try Directory.open(small.path)
        _ = try directory.makeDirectory("below", mode: 0o700)
        try directory.replace("below/a", with: [9], mode: 0o600, durability: .durable)
        let reserve = DeletionReserve(in: directory, prefix: ".reserve.")
        reserve.keep()
        if shortage == .bytes { try small.fillBytes() } else { try small.fillInodes() }
        let refused = #expect(throws: FileError.self) {
            try directory.replace("below/a", with: [1, 2], mode: 0o600, durability: .durable)
        }
        #expect(refused?.code == .noSpace)
        try replace("below/a", [1, 2, 3], in: reserve)
        #expect(try directory.read("below/a", limit: 10) == [1, 2, 3])
        #expect(try directory.attributes("below/a").mode == 0o640)
        #expect(!SystemFile.exists("\(small.path)/.reserve.\(geteuid())"))
        // The replaced file has made room for the next one.
        reserve.keep()
        #expect(SystemFile.exists("\(small.path)/.reserve.\(geteuid())"))
        try replace("below/a", [4], in: reserve)
        #expect(try directory.read("below/a", limit: 10) == [4])
    }

    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func withoutAReserveTheErrorIsThatOfTheFullDisk() throws {
        let small = try SmallFileSystem(at: sandbox.directory("small"))
        let directory = try Directory.open(small.path)
        try directory.replace("a", with: [9], mode: 0o600, durability: .durable)
        let reserve = DeletionReserve(in: directory, prefix: ".reserve.")
        reserve.keep()
        try small.fillBytes()
        // Another member of a shared directory can remove it.
        unlink("\(small.path)/.reserve.\(geteuid())")
        try small.fillBytes()
        let refused = #expect(throws: FileError.self) { try replace("a", [1], in: reserve) }
        #expect(refused?.code == .noSpace)
        #expect(try directory.read("a", limit: 10) == [9])
        // A smaller reserve of another user may not be taken either.
        let tooLarge = [UInt8](repeating: 1, count: 20_000)
        #expect(throws: FileError.self) { try replace("a", tooLarge, in: reserve) }
    }
}
