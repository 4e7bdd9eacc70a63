import AppGroups
import FoundationEssentials
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SealedState

/// Writing and reading sealed files: every source, every form of reading, and what a file has as a record.
@Suite(.timeLimit(.minutes(10))) struct SealedFileTests {
    let sandbox: FileSandbox
    var files: SealedFiles { sandbox.files }

    init() throws { sandbox = try FileSandbox() }

    static let sizes = [0, 1, 65_535, 65_536, 65_537, 300_000, (1 << 20) + 1, 9 << 20]

    @Test(arguments: sizes) func contentsOfAnySizeAreReadInEveryForm(_ size: Int) async throws {
        let bytes = FileSandbox.bytes(size)
        #expect(try await files.write(bytes, named: "a/b.bin") == 1)
        #expect(try await files.read("a/b.bin") == bytes)
        let file = try await files.open("a/b.bin")
        #expect(file.size == size)
        var pieces: [UInt8] = []
        for try await piece in file.pieces { pieces += piece }
        #expect(pieces == bytes)
        for range in [0..<size, size..<size, size / 3..<size / 2, max(0, size - 70_000)..<size] {
            #expect(try await files.read("a/b.bin", range) == Array(bytes[range]))
        }
        #expect(code { _ = try files.read("a/b.bin", 0..<size + 1) } == .invalidRange)
        #expect(code { _ = try file.read(-1..<0) } == .invalidRange)
        let path = sandbox.fixture.place.path("out")
        let out = Glibc.open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
        defer { close(out) }
        try file.copy(toDescriptor: out)
        #expect(try SystemFile.read(path) == bytes)
        #expect(try sandbox.contents().count == 1)
    }

    @Test(arguments: [0, 70_000, 3 << 20]) func aDescriptorIsReadToItsEnd(_ size: Int) async throws {
        let bytes = FileSandbox.bytes(size)
        let path = sandbox.fixture.place.path("in")
        try SystemFile.write(path, [1, 2, 3] + bytes)
        let input = Glibc.open(path, O_RDONLY | O_CLOEXEC)
        lseek(input, 3, SEEK_SET)
        try await files.write(fromDescriptor: input, named: "a")
        close(input)
        #expect(try await files.read("a") == bytes)
        #expect(code { try files.write(fromDescriptor: -1, named: "a") } == .file)
        #expect(try await files.read("a") == bytes)
        #expect(try sandbox.contents().count == 1)
    }

    @Test func aSequenceIsWrittenPieceByPiece() async throws {
        let pieces = (0..<40).map { FileSandbox.bytes($0 * 7919, $0) }
        let stream = AsyncStream<[UInt8]> { continuation in
            for piece in pieces { continuation.yield(piece) }
            continuation.finish()
        }
        #expect(try await files.write(contentsOf: stream, named: "a") == 1)
        #expect(try await files.read("a") == pieces.flatMap { $0 })
        // The contents of one file, as the source of another.
        try await files.write(contentsOf: files.open("a").pieces, named: "b")
        #expect(try await files.read("b") == pieces.flatMap { $0 })
    }

    @Test func aSequenceOfSmallPiecesIsWritten() async throws {
        let bytes = FileSandbox.bytes(400_000)
        let stream = AsyncStream<[UInt8]> { continuation in
            for byte in bytes { continuation.yield([byte]) }
            continuation.finish()
        }
        try await files.write(contentsOf: stream, named: "a")
        #expect(try await files.read("a") == bytes)
    }

    /// More copies than there are threads for calls: each reads one file and writes another at the same time.
    @Test func manyFilesAreCopiedAtOnce() async throws {
        let (bytes, files) = (FileSandbox.bytes((1 << 20) + 1), files)
        try await files.write(bytes, named: "a", durability: .unsynced)
        try await withThrowingTaskGroup(of: UInt64.self) { group in
            for number in 0..<80 {
                group.addTask {
                    try await files.write(
                        contentsOf: files.open("a").pieces, named: "copies/\(number)", durability: .unsynced,
                        timeout: .seconds(120))
                }
            }
            for try await sequence in group { #expect(sequence == 1) }
        }
        #expect(try await files.read("copies/79") == bytes)
    }

    @Test func aSequenceThatThrowsWritesNothing() async throws {
        struct Broken: Error {}
        try await files.write([1], named: "a")
        let stream = AsyncThrowingStream<[UInt8], any Error> { continuation in
            continuation.yield(FileSandbox.bytes(100_000))
            continuation.finish(throwing: Broken())
        }
        let error = await #expect(throws: StoreError.self) {
            try await files.write(contentsOf: stream, named: "a")
        }
        #expect(error?.code == .declined && error?.cause is Broken)
        #expect(try await files.read("a") == [1])
        #expect(try sandbox.contents().count == 1)
    }

    @Test func aCancelledWriteOfASilentSequenceEnds() async throws {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield([1, 2, 3])
        let task = Task { [files] in try await files.write(contentsOf: stream, named: "a") }
        try await Task.sleep(for: .milliseconds(50))
        task.cancel()
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .cancelled)
        #expect(try sandbox.contents().isEmpty)
    }

    @Test func attributesAreKept() throws {
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        let end = Date() + 3600
        try files.write([1, 2], named: "a", SealedFiles.Attributes(type: "text/plain", modified: date, expiresAt: end))
        let info = try files.info(of: "a")
        #expect(info.value.size == 2 && info.value.type == "text/plain" && info.value.modified == date)
        #expect(info.provenance.sequence == 1 && info.provenance.notAfter != nil)
        #expect(code { try files.write([1], named: "a", SealedFiles.Attributes(type: "a\nb")) } == .invalid)
        #expect(code { try files.write([1], named: "a", SealedFiles.Attributes(type: "")) } == .invalid)
        let never = SealedFiles.Attributes(expiresAt: Date(timeIntervalSince1970: .infinity))
        #expect(code { try files.write([1], named: "a", never) } == .unencodable)
        #expect(try files.read("a") == [1, 2])
    }

    @Test func anExpiredFileIsRefused() throws {
        let clock = TestClock()
        let store = try sandbox.fixture.open { $0.now = { clock.now } }
        try store.files.write([1], named: "a", SealedFiles.Attributes(expiresAt: clock.now + 60))
        #expect(try store.files.read("a") == [1])
        clock.advance(by: 61)
        #expect(code { _ = try store.files.read("a") } == .stale)
    }

    @Test func namesAreThoseOfRecords() throws {
        for name in ["", "/a", "a/", "../a", ".hidden", "a b", "a.sealed", "1/2/3/4/5/6/7"] {
            #expect(code { try files.write([1], named: name) } == .invalidName, "\(name)")
        }
        try files.write([1], named: "1/2/3/4/5/6")
        #expect(try files.list().map(\.name) == ["1/2/3/4/5/6"])
        #expect(refusal { _ = try files.read("none") }?.subject == "none")
    }

    @Test func listsShowFilesAndNoRecords() throws {
        try sandbox.store.write(Note(text: "record"))
        for name in ["b", "a/x", "a/y", "c"] { try files.write([1], named: name) }
        try files.delete("b")
        #expect(try files.list().map(\.name) == ["a/x", "a/y", "b", "c"])
        #expect(try files.list().filter(\.isDeleted).map(\.name) == ["b"])
        #expect(try files.list(prefix: "a/").map(\.name) == ["a/x", "a/y"])
        #expect(try files.list(after: "a/x", limit: 2).map(\.name) == ["a/y", "b"])
        #expect(try sandbox.store.list().map(\.name) == ["note"])
    }

    @Test func conditionsAreCheckedBeforeTheContentsAreRead() throws {
        try files.write([1], named: "a", onlyIf: .absent)
        #expect(code { try files.write([2], named: "a", onlyIf: .absent) } == .conflict)
        #expect(try files.write([2], named: "a", onlyIf: .sequence(1)) == 2)
        // The descriptor is not read.
        #expect(code { try files.write(fromDescriptor: -1, named: "a", onlyIf: .sequence(1)) } == .conflict)
        #expect(code { try files.delete("a", onlyIf: .sequence(1)) } == .conflict)
        #expect(try files.read("a") == [2])
        #expect(try sandbox.contents().count == 1)
    }

    /// The condition holds before the contents are sealed, and not when the manifest is written.
    @Test func aConflictLeavesTheOtherWritersFile() async throws {
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield(FileSandbox.bytes(100_000))
        let task = Task { [files] in try await files.write(contentsOf: stream, named: "a", onlyIf: .absent) }
        try await Task.sleep(for: .milliseconds(100))
        try await files.write([7], named: "a")
        continuation.finish()
        let error = await #expect(throws: StoreError.self) { try await task.value }
        #expect(error?.code == .conflict)
        #expect(try await files.read("a") == [7])
        #expect(try sandbox.contents().count == 1)
    }

    @Test func aLeaseGuardsAFile() async throws {
        var kept: LeaseFence?
        _ = try await sandbox.store.withLease("l", for: .seconds(60)) { fence in
            try await files.write([1], named: "a", holding: fence)
            kept = fence
        }
        let fence = try #require(kept)
        #expect(code { try files.write([2], named: "a", holding: fence) } == .leaseLost)
        #expect(try await files.read("a") == [1])
        #expect(try sandbox.contents().count == 1)
    }

    @Test func aDeletionRemovesTheContents() throws {
        let old = try sandbox.written("a", FileSandbox.bytes(70_000))
        let blob = try SystemFile.read(sandbox.manifest("a"))
        #expect(try files.delete("a") == 2)
        #expect(!SystemFile.exists(old))
        #expect(code { _ = try files.read("a") } == .absent)
        #expect(code { try files.delete("a") } == .absent)
        // The old manifest does not come back.
        try SystemFile.write(sandbox.manifest("a"), blob)
        #expect(code { _ = try files.read("a") } == .replayed)
        #expect(try files.write([3], named: "a") == 3)
        try files.delete("a")
        try files.purge("a")
        #expect(try files.list().isEmpty)
    }

    @Test func anOpenHandleKeepsItsVersion() async throws {
        let bytes = FileSandbox.bytes(3 << 20)
        try await files.write(bytes, named: "a")
        let file = try await files.open("a")
        #expect(try await file.read(0..<10) == Array(bytes[..<10]))
        #expect(try sandbox.probe("file-write", "a", "5", "1000", "unsynced") == "written 2")
        #expect(try await file.read() == bytes)
        #expect(try await files.read("a") == [UInt8](repeating: 5, count: 1000))
        try await files.delete("a")
        #expect(try await file.read() == bytes)
    }

    @Test func aWatchShowsEachVersion() async throws {
        try await files.write([1], named: "a")
        var updates = try files.updates(of: "a").makeAsyncIterator()
        #expect(await updates.next()?.value?.size == 1)
        try await files.write([1, 2], named: "a")
        #expect(await updates.next()?.value?.size == 2)
        try await files.delete("a")
        #expect(await updates.next()?.value == nil)
    }

    @Test func aWatchOfAllFilesReportsThemByTheirNames() async throws {
        try await sandbox.store.write(Note(text: "record"))
        try await files.write([1], named: "a")
        var changes = try files.changes().makeAsyncIterator()
        #expect(await changes.next()?.name == "a")
        try await files.write([1, 2], named: "deep/b")
        let change = await changes.next()
        #expect(change?.name == "deep/b" && change?.provenance?.sequence == 1)
        try await files.delete("a")
        if case .deleted = await changes.next()?.outcome {} else { Issue.record("no deletion") }
        var named = try files.changes(of: ["deep/b"]).makeAsyncIterator()
        #expect(await named.next()?.name == "deep/b")
        #expect(code { _ = try files.changes(of: [".a"]) } == .invalidName)
        // Records alone are reported by the store.
        var records = try sandbox.store.changes().makeAsyncIterator()
        #expect(await records.next()?.name == "note")
    }

    @Test func filesFollowTheContainer() async throws {
        try await files.write([1], named: "a")
        let old = sandbox.fixture.container
        #expect(rename(old, old + ".away") == 0)
        _ = try sandbox.fixture.open()
        #expect(try await files.write([2], named: "a") > 1)
        #expect(try await files.read("a") == [2])
    }

    /// Contents that can be read once are sealed again from the moved container, or refused without it: a rest of them
    /// is never stored as the file.
    @Test(arguments: [true, false]) func aContainerIsReplacedWhileContentsAreRead(_ isKept: Bool) async throws {
        let bytes = FileSandbox.bytes(3 << 20)
        // The sequence is asked for its second piece when the sealing thread has taken bytes of the first one.
        let (hasBegun, began) = AsyncStream<Void>.makeStream()
        let (isReplaced, replaced) = AsyncStream<Void>.makeStream()
        let asked = Mutex(0)
        let pieces = AsyncStream<[UInt8]> {
            switch asked.withLock({
                $0 += 1; return $0
            }) {
            case 1: return Array(bytes[..<(2 << 20)])
            case 2:
                began.yield()
                for await _ in isReplaced { break }
                return Array(bytes[(2 << 20)...])
            default: return nil
            }
        }
        try await files.write([1], named: "b")
        let task = Task { [files] in try await files.write(contentsOf: pieces, named: "a") }
        for await _ in hasBegun { break }
        let old = sandbox.fixture.container
        #expect(rename(old, old + ".away") == 0)
        if !isKept { try #require(try ChildProcess.run("/bin/rm", ["-r", old + ".away"]).exitCode == 0) }
        _ = try sandbox.fixture.open()
        replaced.yield()
        guard isKept else {
            await #expect(throws: StoreError.self) { try await task.value }
            #expect(code { _ = try files.read("a") } == .absent)
            return #expect(try sandbox.contents().isEmpty)
        }
        #expect(try await task.value > 0)
        #expect(try await files.read("a") == bytes)
        #expect(try sandbox.contents().count == 1)
    }

    /// Contents in memory can be read again from the first byte, others cannot.
    @Test func contentsInMemoryAreReadAgain() throws {
        let (bytes, once) = (NewContents([1, 2, 3]), NewContents(size: nil) { _ in 1 })
        for _ in 0..<2 {
            let read = try bytes.begin("a")
            var buffer: [UInt8] = [0, 0, 0, 0]
            #expect(try buffer.withUnsafeMutableBytes { try read($0) } == 3 && buffer == [1, 2, 3, 0])
        }
        let read = try once.begin("a")
        _ = try once.begin("a")
        var buffer: [UInt8] = [0]
        #expect(try buffer.withUnsafeMutableBytes { try read($0) } == 1)
        #expect(code { _ = try once.begin("a") } == .containerMissing)
    }

    @Test func aHugePieceIsWritten() async throws {
        let bytes = FileSandbox.bytes(24 << 20)
        let (stream, continuation) = AsyncStream<[UInt8]>.makeStream()
        continuation.yield(bytes)
        continuation.finish()
        try await files.write(contentsOf: stream, named: "a", durability: .unsynced)
        #expect(try await files.read("a") == bytes)
    }

    @Test func concurrentWritersLeaveOneWholeFile() async throws {
        let contents = (0..<8).map { FileSandbox.bytes(200_000, $0) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for bytes in contents {
                group.addTask { [files] in
                    for _ in 0..<10 { try await files.write(bytes, named: "a", timeout: .seconds(60)) }
                }
            }
            group.addTask { [files] in
                for _ in 0..<200 {
                    guard let bytes = try? await files.read("a") else { continue }
                    #expect(contents.contains(bytes))
                }
            }
            try await group.waitForAll()
        }
        #expect(try files.info(of: "a").provenance.sequence == 80)
        #expect(contents.contains(try await files.read("a")))
        #expect(try sandbox.contents().count == 1)
    }

    /// A process writes and reads 256 MiB, and never holds 32 MiB.
    @Test func aFilesSizeCostsNoMemory() throws {
        let mebibytes = isLongForm ? 4096 : 256
        let numbers = try sandbox.probe("file-memory", "\(mebibytes)").split(separator: " ").compactMap { Int($0) }
        try #require(numbers.count == 4)
        #expect(numbers[0] == mebibytes << 20)
        #expect(numbers[1] < 32 << 10)
    }
}
