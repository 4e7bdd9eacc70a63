import Glibc
import SealedState
import SharedFiles
import StateImport
import TestSupport
import Testing

@Suite struct PlaintextImportStreamTests {
    @Test(arguments: [0, 1, 65_536, 65_537, 3 << 20])
    func aFileBecomesASealedFileBesideIt(size: Int) throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("photo.jpg", unevenBytes(size), mode: 0o640)
        let item = try yard.importer().file(path)
        #expect(item.word == "sealed" && item.isSourceRemoved && item.form == .stream)
        #expect(try yard.plaintext == ["photo.jpg.sealed"])
        #expect(try SystemFile.mode(path + ".sealed") == 0o640)
        #expect(try SystemFile.read(path + ".sealed").count > size)
        // The same contents, moved again, equal the sealed ones.
        try yard.file("photo.jpg", unevenBytes(size))
        let sealed = try SystemFile.read(path + ".sealed")
        #expect(try yard.importer().file(path).word == "alreadySealed")
        #expect(try SystemFile.read(path + ".sealed") == sealed)
        #expect(try yard.importer().file(path).word == "gone")
    }

    @Test(arguments: [0, 100, 65_536, 200_000])
    func aTargetThatDiffersIsAConflict(size: Int) throws {
        let yard = try PlaintextImportYard()
        let bytes = unevenBytes(size)
        let path = try yard.file("photo.jpg", bytes)
        _ = try yard.importer().file(path)
        let sealed = try SystemFile.read(path + ".sealed")
        for other in [
            bytes + [0], bytes.isEmpty ? [1] : Array(bytes.dropLast()),
            bytes.isEmpty ? [2] : [bytes[0] ^ 1] + bytes.dropFirst(),
        ] {
            try yard.file("photo.jpg", other)
            #expect(code { _ = try yard.importer().file(path) } == .conflict)
            #expect(try SystemFile.read(path) == other)
            #expect(try SystemFile.read(path + ".sealed") == sealed)
        }
        #expect(try yard.importer { $0.replacesTarget = true }.file(path).isSourceRemoved)
    }

    @Test(arguments: ["garbage", "cut", "foreign", "link", "directory"])
    func whatDoesNotOpenIsNeverOverwrittenUnasked(kind: String) throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("f", unevenBytes(100))
        let target = path + ".sealed"
        switch kind {
        case "garbage": try yard.file("f.sealed", "not sealed")
        case "link": try yard.plain.link("f.sealed", to: "elsewhere")
        case "directory": try yard.plain.directory("f.sealed")
        case "cut":
            _ = try yard.importer { $0.keepsSource = true }.file(path)
            try SystemFile.write(target, Array(try SystemFile.read(target).dropLast()))
        default:
            let other = try PlaintextImportYard()
            let elsewhere = try other.file("f", unevenBytes(100))
            _ = try other.importer().file(elsewhere)
            try yard.file("f.sealed", SystemFile.read(elsewhere + ".sealed"))
        }
        #expect(code { _ = try yard.importer().file(path) } == .conflict)
        #expect(try SystemFile.read(path) == unevenBytes(100))
    }

    @Test func aFileThatIsReplacedMeanwhileStays() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("f", unevenBytes(100))
        let directory = try Directory.open(yard.plain.path)
        let facts = try directory.moment(ofLeaf: "f")
        try yard.file("new", unevenBytes(101))
        #expect(rename(yard.path("new"), path) == 0)
        #expect(throws: FileError.self) { try directory.remove("f", ifStill: facts) }
        #expect(try SystemFile.read(path) == unevenBytes(101))
        #expect(try yard.plaintext == ["f"])
    }

    @Test func aFileThatIsWrittenToMeanwhileStays() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("f", unevenBytes(100))
        let directory = try Directory.open(yard.plain.path)
        let facts = try directory.moment(ofLeaf: "f")
        try SystemFile.write(path, unevenBytes(101))
        #expect(throws: FileError.self) { try directory.remove("f", ifStill: facts) }
        #expect(try SystemFile.read(path) == unevenBytes(101))
    }

    @Test func whatWasSetAsideComesBackFirst() throws {
        let yard = try PlaintextImportYard()
        try yard.setAside("f", unevenBytes(100))
        let before = try yard.plaintext
        #expect(try yard.importer { $0.isDryRun = true }.file(yard.path("f")).word == "planned")
        #expect(try yard.plaintext == before)
        #expect(try yard.importer().file(yard.path("f")).word == "sealed")
        #expect(try yard.plaintext == ["f.sealed"])
    }

    @Test func whatWasSetAsideAndWrittenAnewIsAConflict() throws {
        let yard = try PlaintextImportYard()
        try yard.setAside("f", unevenBytes(100))
        try yard.file("f", unevenBytes(100))
        #expect(code { _ = try yard.importer().file(yard.path("f")) } == .conflict)
        #expect(try yard.plaintext.count == 2)
    }

    @Test func aProgramsOwnFileOfThatNameIsNotTakenForOurs() throws {
        let yard = try PlaintextImportYard()
        try yard.file(".f.moving", [1])
        try yard.file(".f.12.moving", [2])
        #expect(code { _ = try yard.importer().file(yard.path("f")) } == .sourceUnusable)
        #expect(try yard.plaintext == [".f.12.moving", ".f.moving"])
    }

    @Test func aLongNameIsRemovedWithoutBeingSetAside() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file(String(repeating: "n", count: 255), [1])
        #expect(try yard.importer().file(path, to: yard.path("short.sealed")).isSourceRemoved)
        #expect(try yard.plaintext == ["short.sealed"])
    }

    @Test func aFileThatIsOpenForWritingStays() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("f", unevenBytes(100))
        let writer = open(path, O_WRONLY)
        #expect(code { _ = try yard.importer().file(path) } == .sourceChanged)
        #expect(try yard.plaintext == ["f"])
        close(writer)
        #expect(try yard.importer().file(path).isSourceRemoved)
    }

    @Test func aFileThatGetsASecondNameOrItsOldTimesMeanwhileStays() throws {
        let yard = try PlaintextImportYard()
        let directory = try Directory.open(yard.plain.path)
        for change in ["name", "times"] {
            let path = try yard.file(change, unevenBytes(100))
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
        let yard = try PlaintextImportYard()
        let path = try yard.file("f", unevenBytes(100))
        #expect(code { _ = try yard.importer { $0.replacesTarget = true }.file(path, to: path) } == .invalidName)
        #expect(try SystemFile.read(path) == unevenBytes(100))
    }

    @Test func aSealedFileIsNotSealedTwiceUnasked() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("f", unevenBytes(100))
        _ = try yard.importer().file(path)
        #expect(code { _ = try yard.importer().file(path + ".sealed") } == .sourceUnusable)
        #expect(try yard.importer { $0.sealsAgain = true }.file(path + ".sealed").isSourceRemoved)
    }

    @Test func aDirectoryInTheTargetsPlaceIsNoSignOfAnEarlierMove() throws {
        let yard = try PlaintextImportYard()
        try yard.plain.directory("f.sealed")
        #expect(code { _ = try yard.importer().file(yard.path("f")) } == .sourceUnusable)
    }

    @Test func twoCallsAtOnceLoseNothing() throws {
        let yard = try PlaintextImportYard()
        for round in 0..<20 {
            let path = try yard.file("f\(round)", unevenBytes(10_000))
            let results = try concurrently(2) { _ in try yard.importer().file(path) }
            let words = results.map { (try? $0.get())?.word ?? "failed" }
            #expect(words.contains { $0 != "failed" }, "\(results)")
            #expect(SystemFile.exists(path + ".sealed"))
            // Independent of the other call's error, the file exists or is sealed; another move completes it.
            #expect(["gone", "alreadySealed"].contains(try yard.importer().file(path).word))
            #expect(try yard.plaintext.filter { !$0.hasSuffix(".sealed") } == [])
        }
    }
}
