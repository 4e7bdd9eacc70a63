import Glibc
import SealedState
import SharedFiles
import StateImport
import TestSupport
import Testing

@Suite struct PlaintextImportStreamTests {
    @Test(arguments: [0, 1, 65_536, 65_537, 3 << 20])
    func aFileBecomesASealedFileBesideIt(size: Int) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("photo.jpg", unevenBytes(size), mode: 0o640)
        let item = try sandbox.importer().file(path)
        #expect(item.word == "sealed" && item.isSourceRemoved && item.form == .stream)
        #expect(try sandbox.plaintext == ["photo.jpg.sealed"])
        #expect(try SystemFile.mode(path + ".sealed") == 0o640)
        #expect(try SystemFile.read(path + ".sealed").count > size)
        // The same contents, moved again, equal the sealed ones.
        try sandbox.file("photo.jpg", unevenBytes(size))
        let sealed = try SystemFile.read(path + ".sealed")
        #expect(try sandbox.importer().file(path).word == "alreadySealed")
        #expect(try SystemFile.read(path + ".sealed") == sealed)
        #expect(try sandbox.importer().file(path).word == "gone")
    }

    @Test(arguments: [0, 100, 65_536, 200_000])
    func aTargetThatDiffersIsAConflict(size: Int) throws {
        let sandbox = try PlaintextImportSandbox()
        let bytes = unevenBytes(size)
        let path = try sandbox.file("photo.jpg", bytes)
        _ = try sandbox.importer().file(path)
        let sealed = try SystemFile.read(path + ".sealed")
        for other in [
            bytes + [0], bytes.isEmpty ? [1] : Array(bytes.dropLast()),
            bytes.isEmpty ? [2] : [bytes[0] ^ 1] + bytes.dropFirst(),
        ] {
            try sandbox.file("photo.jpg", other)
            #expect(code { _ = try sandbox.importer().file(path) } == .conflict)
            #expect(try SystemFile.read(path) == other)
            #expect(try SystemFile.read(path + ".sealed") == sealed)
        }
        #expect(try sandbox.importer { $0.replacesTarget = true }.file(path).isSourceRemoved)
    }

    @Test(arguments: ["garbage", "cut", "foreign", "link", "directory"])
    func unopenableFilesAreNotOverwrittenByDefault(kind: String) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        let target = path + ".sealed"
        switch kind {
        case "garbage": try sandbox.file("f.sealed", "not sealed")
        case "link": try sandbox.plain.link("f.sealed", to: "elsewhere")
        case "directory": try sandbox.plain.directory("f.sealed")
        case "cut":
            _ = try sandbox.importer { $0.keepsSource = true }.file(path)
            try SystemFile.write(target, Array(try SystemFile.read(target).dropLast()))
        default:
            let other = try PlaintextImportSandbox()
            let elsewhere = try other.file("f", unevenBytes(100))
            _ = try other.importer().file(elsewhere)
            try sandbox.file("f.sealed", SystemFile.read(elsewhere + ".sealed"))
        }
        #expect(code { _ = try sandbox.importer().file(path) } == .conflict)
        #expect(try SystemFile.read(path) == unevenBytes(100))
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
        #expect(try sandbox.plaintext == ["f.sealed"])
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
        #expect(try sandbox.importer().file(path, to: sandbox.path("short.sealed")).isSourceRemoved)
        #expect(try sandbox.plaintext == ["short.sealed"])
    }

    @Test func aFileThatIsOpenForWritingStays() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        let writer = open(path, O_WRONLY)
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

    @Test func aTargetThatIsTheSourceIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        #expect(code { _ = try sandbox.importer { $0.replacesTarget = true }.file(path, to: path) } == .invalidName)
        #expect(try SystemFile.read(path) == unevenBytes(100))
    }

    @Test func aSealedFileIsNotSealedTwiceWithoutARequest() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("f", unevenBytes(100))
        _ = try sandbox.importer().file(path)
        #expect(code { _ = try sandbox.importer().file(path + ".sealed") } == .sourceUnusable)
        #expect(try sandbox.importer { $0.sealsAgain = true }.file(path + ".sealed").isSourceRemoved)
    }

    @Test func aDirectoryInTheTargetsPlaceIsNotASignOfAnEarlierMove() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.plain.directory("f.sealed")
        #expect(code { _ = try sandbox.importer().file(sandbox.path("f")) } == .sourceUnusable)
    }

    @Test func twoCallsAtOnceLoseNothing() throws {
        let sandbox = try PlaintextImportSandbox()
        for round in 0..<20 {
            let path = try sandbox.file("f\(round)", unevenBytes(10_000))
            let results = try concurrently(2) { _ in try sandbox.importer().file(path) }
            let words = results.map { (try? $0.get())?.word ?? "failed" }
            #expect(words.contains { $0 != "failed" }, "\(results)")
            #expect(SystemFile.exists(path + ".sealed"))
            // Independent of the other call's error, the file exists or is sealed; another move completes it.
            #expect(["gone", "alreadySealed"].contains(try sandbox.importer().file(path).word))
            #expect(try sandbox.plaintext.filter { !$0.hasSuffix(".sealed") } == [])
        }
    }
}
