import AppGroups
import FoundationEssentials
import Glibc
import SealedState
import SharedFiles
import StateImport
import TestSupport
import Testing

@Suite struct PlaintextImportFileTests {
    private func sealed(_ sandbox: PlaintextImportSandbox, _ name: String) throws -> [UInt8] {
        try sandbox.fixture.open().files.read(name)
    }

    private func sequence(_ sandbox: PlaintextImportSandbox, _ name: String) throws -> UInt64? {
        try sandbox.fixture.open().files.info(of: name).provenance.sequence
    }

    @Test(arguments: [0, 1, 65_536, 65_537, 9 << 20]) func aFileBecomesASealedFile(size: Int) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("photo.jpg", unevenBytes(size))
        var facts = stat()
        stat(path, &facts)
        let item = try sandbox.importer().file(path)
        #expect(item.word == "sealed" && item.isSourceRemoved && item.form == .file && item.target == "photo.jpg")
        #expect(try sandbox.plaintext == [])
        #expect(try sealed(sandbox, "photo.jpg") == unevenBytes(size))
        let info = try sandbox.fixture.open().files.info(of: "photo.jpg")
        #expect(info.value.modified.map { Int($0.timeIntervalSince1970.rounded(.down)) } == facts.st_mtim.tv_sec)
        // The same contents, moved again, equal the sealed ones.
        try sandbox.file("photo.jpg", unevenBytes(size))
        #expect(try sandbox.importer().file(path).word == "alreadySealed")
        #expect(try sequence(sandbox, "photo.jpg") == 1)
        #expect(try sandbox.importer().file(path).word == "gone")
    }

    @Test func aFileHasTheNameThatIsStatedOrItsPathInTheContainer() throws {
        let sandbox = try PlaintextImportSandbox()
        _ = try sandbox.fixture.open()
        let item = try sandbox.importer().file(sandbox.file("My photo.jpg", [1]), named: "photos/1.jpg")
        #expect(item.target == "photos/1.jpg")
        #expect(try sealed(sandbox, "photos/1.jpg") == [1])
        mkdir(sandbox.fixture.container + "/Documents", 0o700)
        try SystemFile.write(sandbox.fixture.container + "/Documents/a", [2])
        #expect(try sandbox.importer().file(sandbox.fixture.container + "/Documents/a").target == "Documents/a")
        #expect(try sealed(sandbox, "Documents/a") == [2])
        let other = try sandbox.file(".Žofie's photo.sealed", [3])
        for name in ["../x", ".hidden", "a//b", "a b"] {
            #expect(code { _ = try sandbox.importer().file(other, named: name) } == .invalidName)
        }
        #expect(try sandbox.importer().file(other).target == "__ofie_s_photo.sealed_")
        let long = try sandbox.file(String(repeating: "n", count: 201), [4])
        #expect(code { _ = try sandbox.importer().file(long) } == .invalidName)
        #expect(SystemFile.exists(long))
    }

    @Test(arguments: [0, 100, 65_536, 200_000])
    func aTargetThatDiffersIsAConflict(size: Int) throws {
        let sandbox = try PlaintextImportSandbox()
        let bytes = unevenBytes(size)
        let path = try sandbox.file("photo.jpg", bytes)
        _ = try sandbox.importer().file(path)
        for other in [
            bytes + [0], bytes.isEmpty ? [1] : Array(bytes.dropLast()),
            bytes.isEmpty ? [2] : [bytes[0] ^ 1] + bytes.dropFirst(),
        ] {
            try sandbox.file("photo.jpg", other)
            #expect(code { _ = try sandbox.importer().file(path) } == .conflict)
            #expect(try SystemFile.read(path) == other)
            #expect(try sealed(sandbox, "photo.jpg") == bytes)
            #expect(try sequence(sandbox, "photo.jpg") == 1)
        }
        #expect(try sandbox.importer { $0.replacesTarget = true }.file(path).isSourceRemoved)
    }

    /// Returns the only contents in the container.
    private func contents(_ sandbox: PlaintextImportSandbox) throws -> String {
        let directory = sandbox.fixture.container + "/Files/.contents"
        let name = try #require(try SystemFile.names(directory).first)
        return "\(directory)/\(name)"
    }

    @Test(arguments: ["garbage", "cut", "missing", "deleted"])
    func filesThatReadersRefuseAreNotReplacedByDefault(kind: String) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        _ = try sandbox.importer { $0.keepsSource = true }.file(path)
        switch kind {
        case "garbage": try SystemFile.write(sandbox.fixture.container + "/Files/f.sealed", [1, 2, 3])
        case "cut": try SystemFile.write(contents(sandbox), Array(SystemFile.read(contents(sandbox)).dropLast()))
        case "missing": unlink(try contents(sandbox))
        default: try sandbox.fixture.open().files.delete("f")
        }
        #expect(code { _ = try sandbox.importer().file(path) } == .conflict)
        #expect(try SystemFile.read(path) == unevenBytes(100))
        #expect(try sandbox.importer { $0.replacesTarget = true }.file(path).isSourceRemoved)
        #expect(try sealed(sandbox, "f") == unevenBytes(100))
    }

    @Test func aFileThatExceedsTheQuotaStays() throws {
        let sandbox = try PlaintextImportSandbox()
        _ = try sandbox.fixture.open()
        let path = try sandbox.file("f", unevenBytes(1 << 20))
        try GroupRegistry(sandbox.fixture.group, in: sandbox.fixture.home).setQuota(100_000)
        for isDryRun in [true, false] {
            #expect(code { _ = try sandbox.importer { $0.isDryRun = isDryRun }.file(path) } == .quotaExceeded)
        }
        #expect(SystemFile.exists(path))
    }

    @Test func aFileThatIsReplacedMeanwhileStays() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        let directory = try Directory.open(sandbox.plain.path)
        let facts = try directory.moment(ofLeaf: "f")
        try sandbox.file("new", unevenBytes(101))
        #expect(rename(sandbox.path("new"), path) == 0)
        #expect(throws: FileError.self) { try directory.remove("f", ifStill: facts) }
        #expect(try SystemFile.read(path) == unevenBytes(101))
        #expect(try sandbox.plaintext == ["f"])
    }

    @Test func aFileThatIsWrittenToMeanwhileStays() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        let directory = try Directory.open(sandbox.plain.path)
        let facts = try directory.moment(ofLeaf: "f")
        try SystemFile.write(path, unevenBytes(101))
        #expect(throws: FileError.self) { try directory.remove("f", ifStill: facts) }
        #expect(try SystemFile.read(path) == unevenBytes(101))
    }

    @Test func setAsideSourcesAreRestoredFirst() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.setAside("f", unevenBytes(100))
        let before = try sandbox.plaintext
        #expect(try sandbox.importer { $0.isDryRun = true }.file(sandbox.path("f")).word == "planned")
        #expect(try sandbox.plaintext == before)
        #expect(try sandbox.importer().file(sandbox.path("f")).word == "sealed")
        #expect(try sandbox.plaintext == [])
    }

    @Test func aSourceThatWasSetAsideAndRewrittenIsAConflict() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.setAside("f", unevenBytes(100))
        try sandbox.file("f", unevenBytes(100))
        #expect(code { _ = try sandbox.importer().file(sandbox.path("f")) } == .conflict)
        #expect(try sandbox.plaintext.count == 2)
    }

    @Test func aProgramsOwnFileOfThatNameIsNotTakenForOurs() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.file(".f.moving", [1])
        try sandbox.file(".f.12.moving", [2])
        #expect(code { _ = try sandbox.importer().file(sandbox.path("f")) } == .sourceUnusable)
        #expect(try sandbox.plaintext == [".f.12.moving", ".f.moving"])
    }

    @Test func aLongNameIsRemovedWithoutBeingSetAside() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file(String(repeating: "n", count: 255), [1])
        #expect(try sandbox.importer().file(path, named: "short").isSourceRemoved)
        #expect(try sandbox.plaintext == [])
    }

    @Test func aFileThatIsOpenForWritingStays() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        let writer = open(path, O_WRONLY | O_CLOEXEC)
        #expect(code { _ = try sandbox.importer().file(path) } == .sourceChanged)
        #expect(try sandbox.plaintext == ["f"])
        close(writer)
        #expect(try sandbox.importer().file(path).isSourceRemoved)
    }

    @Test func aFileThatGetsASecondNameOrItsOldTimesMeanwhileStays() throws {
        let sandbox = try PlaintextImportSandbox()
        let directory = try Directory.open(sandbox.plain.path)
        for change in ["name", "times"] {
            let path = try sandbox.file(change, unevenBytes(100))
            let known = try directory.moment(ofLeaf: change)
            // Longer than a tick of the file system's clock.
            usleep(20_000)
            if change == "name" {
                #expect(link(path, path + ".2") == 0)
            } else {
                var times = stat()
                stat(path, &times)
                try SystemFile.write(path, unevenBytes(100).reversed())
                var both = [times.st_atim, times.st_mtim]
                utimensat(AT_FDCWD, path, &both, 0)
            }
            #expect(throws: FileError.self) { try directory.remove(change, ifStill: known) }
            #expect(SystemFile.exists(path))
        }
    }

    @Test func aSealedFileIsNotSealedTwiceWithoutARequest() throws {
        let sandbox = try PlaintextImportSandbox()
        _ = try sandbox.fixture.open().files.write([1], named: "f")
        let path = try sandbox.file("blob", SystemFile.read(contents(sandbox)))
        #expect(code { _ = try sandbox.importer().file(path) } == .sourceUnusable)
        #expect(try sandbox.importer { $0.sealsAgain = true }.file(path).isSourceRemoved)
    }

    @Test func twoCallsAtOnceLoseNothing() throws {
        let sandbox = try PlaintextImportSandbox()
        for round in 0..<20 {
            let path = try sandbox.file("f\(round)", unevenBytes(10_000))
            let results = try concurrently(2) { _ in try sandbox.importer().file(path) }
            let words = results.map { (try? $0.get())?.word ?? "failed" }
            #expect(words.contains { $0 != "failed" }, "\(results)")
            #expect(try sealed(sandbox, "f\(round)") == unevenBytes(10_000))
            // Independent of the other call's error, the file exists or is sealed; another move completes it.
            #expect(["gone", "alreadySealed"].contains(try sandbox.importer().file(path).word))
            #expect(try sandbox.plaintext == [])
        }
    }
}
