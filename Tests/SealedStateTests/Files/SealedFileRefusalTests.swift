import AppGroups
import FoundationEssentials
import Glibc
import KeyVault
import TestSupport
import Testing

@testable import SealedState

/// Files that are damaged, exchanged or put back: each is refused with its reason, and a write repairs it.
@Suite(.timeLimit(.minutes(10))) struct SealedFileRefusalTests {
    let sandbox: FileSandbox
    var files: SealedFiles { sandbox.files }

    init() throws { sandbox = try FileSandbox() }

    private func refused(_ name: String = "a") -> StoreError.Code? { code { _ = try files.read(name) } }

    /// Files of the kernel state a size that they do not have; a log may be cut while it is read.
    @Test(arguments: [0, 3, 70_000]) func aSourceMayHaveFewerBytesThanItStates(count: Int) throws {
        let (bytes, position) = (FileSandbox.bytes(count), ByteCount())
        let source = NewContents(size: 300_000) { buffer throws(StoreError) in
            let part = bytes[position.value..<min(position.value + buffer.count, count)]
            buffer.copyBytes(from: part)
            position.add(part.count)
            return part.count
        }
        let request = sandbox.store.writer.request()
        _ = try files.write(source, "a", SealedFiles.Attributes(), request)
        #expect(try files.read("a") == FileSandbox.bytes(count))
    }

    @Test func aSizeThatNoFileHasIsRefused() throws {
        try files.write([1], named: "a")
        let source = NewContents(size: .max) { _ throws(StoreError) in 0 }
        let request = sandbox.store.writer.request()
        #expect(code { _ = try files.write(source, "a", SealedFiles.Attributes(), request) } == .tooLarge)
        #expect(try files.read("a") == [1])
    }

    @Test(arguments: [0..<Int.max, Int.min..<1, -1..<0, 1..<(1 << 46), 2..<2]) func noRangeOutsideIsRead(
        range: Range<Int>
    ) throws {
        try files.write([1], named: "a")
        #expect(code { _ = try files.read("a", range) } == .invalidRange)
        let file = try files.open("a")
        #expect(code { try file.copy(toDescriptor: 1, range) } == .invalidRange)
    }

    @Test func exchangedContentsAreRefused() throws {
        let a = try sandbox.written("a", FileSandbox.bytes(1000))
        let b = try sandbox.written("b", FileSandbox.bytes(1000, 1))
        let bytes = (try SystemFile.read(a), try SystemFile.read(b))
        try SystemFile.write(a, bytes.1)
        try SystemFile.write(b, bytes.0)
        #expect(refused() == .wrongName && refused("b") == .wrongName)
        try files.write([1], named: "a")
        #expect(try files.read("a") == [1])
    }

    @Test func anotherVersionsContentsAreRefused() throws {
        let old = try SystemFile.read(sandbox.written("a", FileSandbox.bytes(1000)))
        let path = try sandbox.written("a", FileSandbox.bytes(1000, 1))
        try SystemFile.write(path, old)
        #expect(refused() == .wrongName)
    }

    @Test func anOlderManifestIsRefused() throws {
        try files.write([1], named: "a")
        let blob = try SystemFile.read(sandbox.manifest("a"))
        try files.write([2], named: "a")
        try SystemFile.write(sandbox.manifest("a"), blob)
        #expect(refused() == .replayed)
    }

    /// A member that holds the keys seals other contents in the place of the named ones.
    @Test func contentsThatTheManifestDoesNotVouchForAreRefused() throws {
        let path = try sandbox.written("a", FileSandbox.bytes(200_000))
        let id = try #require(ContentID(leaf: String(path.split(separator: "/").last ?? "")))
        let file = try SealedFileName("a")
        let forged = FileSandbox.bytes(200_000, 9)
        let key = try sandbox.store.vault.activeKey()
        let blob = try Self.seal(forged, key, id.context(of: file, in: sandbox.fixture.group))
        try SystemFile.write(path, blob)
        #expect(refused() == .tampered)
    }

    @Test func truncatedContentsAreRefused() throws {
        let path = try sandbox.written("a", FileSandbox.bytes(200_000))
        let blob = try SystemFile.read(path)
        for size in [0, 10, 175, 176, 200, 65_728, 131_280, blob.count - 1] {
            try SystemFile.write(path, Array(blob[..<size]))
            let found = refused()
            #expect(found == .malformed || found == .tampered, "\(size)")
        }
        try SystemFile.write(path, blob + [0])
        #expect(refused() == .tampered)
        try SystemFile.write(path, blob)
        #expect(try files.read("a").count == 200_000)
    }

    @Test func damageFurtherOnIsAnErrorInTheMiddle() async throws {
        let bytes = FileSandbox.bytes(5 << 20)
        let path = try sandbox.written("a", bytes)
        var blob = try SystemFile.read(path)
        blob[176 + 50 * 65_552 + 3] ^= 1
        try SystemFile.write(path, blob)
        let file = try await files.open("a")
        #expect(try await file.read(0..<1000) == Array(bytes[..<1000]))
        #expect(code { _ = try file.read() } == .tampered)
        #expect(code { _ = try file.read(50 * 65_536..<50 * 65_536 + 1) } == .tampered)
        #expect(try await file.read(51 * 65_536..<51 * 65_536 + 1) == [bytes[51 * 65_536]])
        var released: [UInt8] = []
        let error = await #expect(throws: StoreError.self) {
            for try await piece in file.pieces { released += piece }
        }
        #expect(error?.code == .tampered)
        #expect(released == Array(bytes[..<(3 << 20)]))
    }

    @Test func missingContentsAreReported() throws {
        let path = try sandbox.written("a", [1, 2, 3])
        unlink(path)
        let error = try #require(refusal { _ = try files.read("a") })
        #expect(error.code == .missing && error.subject == "a" && error.reason.contains(".contents/"))
        #expect(try files.info(of: "a").value.size == 3)
        try files.write([4], named: "a")
        #expect(try files.read("a") == [4])
    }

    @Test func aLinkInThePlaceOfContentsIsNotFollowed() throws {
        let path = try sandbox.written("a", [1, 2, 3])
        let elsewhere = sandbox.fixture.place.path("elsewhere")
        #expect(rename(path, elsewhere) == 0)
        #expect(symlink(elsewhere, path) == 0)
        #expect(refused() == .malformed)
    }

    @Test func aDamagedManifestIsReplacedByAWrite() throws {
        try files.write([1], named: "a")
        try SystemFile.write(sandbox.manifest("a"), [1, 2, 3])
        #expect(refused() == .malformed)
        try files.write([2], named: "a")
        #expect(try files.read("a") == [2])
        // Its contents were not known to the write; a sweep finds them.
        #expect(try sandbox.contents().count == 2)
        #expect(try files.removeLeftovers() == 1)
        #expect(try files.read("a") == [2])
    }

    /// The contents of a file whose manifest is refused stay: a person may put the right manifest back.
    @Test func aSweepKeepsTheContentsOfARefusedManifest() throws {
        try files.write([1], named: "a")
        try files.write([9], named: "b")
        let blob = try SystemFile.read(sandbox.manifest("a"))
        try SystemFile.write(sandbox.manifest("a"), [1, 2, 3])
        try SystemFile.write("\(sandbox.contentsDirectory)/\(String(repeating: "a", count: 32)).sealed", [5])
        #expect(try files.removeLeftovers() == 0)
        try SystemFile.write(sandbox.manifest("a"), blob)
        #expect(try files.read("a") == [1])
        #expect(try files.removeLeftovers() == 1)
        #expect(try files.read("a") == [1] && files.read("b") == [9])
    }

    // writer: seals, names ……………………………………… manifest
    // sweep:                  finds no manifest
    @Test func aSweepKeepsTheContentsOfAWriterAtWork() throws {
        try files.write([1], named: "a")
        let id = ContentID()
        let path = "\(sandbox.contentsDirectory)/\(id.leaf)"
        do {
            let lock = try sandbox.store.reader.locks.presence(id.lock)
            try SystemFile.write(path, [1])
            #expect(try files.removeLeftovers() == 0)
            _ = consume lock
        }
        #expect(try files.removeLeftovers() == 1)
        #expect(!SystemFile.exists(path))
    }

    @Test func aWriteBeyondTheQuotaLeavesTheOldFile() throws {
        try files.write(FileSandbox.bytes(50_000), named: "a")
        try GroupRegistry(sandbox.fixture.group, in: sandbox.fixture.home).setQuota(100_000)
        #expect(code { try files.write(FileSandbox.bytes(200_000), named: "a") } == .quotaExceeded)
        #expect(try files.read("a").count == 50_000)
        #expect(try sandbox.contents().count == 1)
    }
}

/// A disk that becomes full while a file is written.
@Suite(
    .enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"), .timeLimit(.minutes(5)))
struct SealedFileFullDiskTests {
    @Test(arguments: [false, true]) func aFullDiskLeavesTheOldFileAndNoPart(_ isPipe: Bool) async throws {
        let fixture = try StoreFixture()
        let disk = try SmallFileSystem(at: fixture.place.path, options: "size=2m,nr_inodes=200")
        let store = try fixture.open { $0.durability = .durable }
        try await store.files.write(FileSandbox.bytes(100_000), named: "a")
        let large = FileSandbox.bytes(4 << 20)
        if isPipe {
            let stream = AsyncStream<[UInt8]> { continuation in
                continuation.yield(large)
                continuation.finish()
            }
            let error = await #expect(throws: StoreError.self) {
                try await store.files.write(contentsOf: stream, named: "a")
            }
            #expect(error?.code == .noSpace)
        } else {
            #expect(code { try store.files.write(large, named: "a") } == .noSpace)
        }
        #expect(try await store.files.read("a") == FileSandbox.bytes(100_000))
        #expect(try SystemFile.names(fixture.container + "/Files/.contents").count == 1)
        try disk.fillBytes()
        #expect(code { try store.files.write([1], named: "b") } == .noSpace)
        #expect(try SystemFile.names(fixture.container + "/Files/.contents").count == 1)
        // Deleting works on a full disk, and makes room.
        try await store.files.delete("a")
        try await store.files.write(FileSandbox.bytes(10_000), named: "b")
        #expect(try await store.files.read("b") == FileSandbox.bytes(10_000))
    }
}
