import Glibc
import SharedFiles
import SystemPackage
import TestSupport
import Testing

@Suite struct DirectoryTests {
    @Test func theAnchorItselfMayNotBeALink() throws {
        let place = try TemporaryDirectory()
        try place.directory("real")
        try place.link("link", to: "real")
        #expect(fileError { _ = try Directory.open(place.path("link")) }?.code == .unsafePath)
        #expect(fileError { _ = try Directory.create(place.path("link"), mode: 0o700) }?.code == .unsafePath)
        #expect(fileError { _ = try Directory.open(place.path("none")) }?.code == .notFound)
        try place.file("file", "")
        #expect(fileError { _ = try Directory.open(place.path("file")) }?.code == .notDirectory)
        #expect(fileError { _ = try Directory.create(place.path("file/x"), mode: 0o700) }?.code == .notDirectory)
    }

    @Test func linksOnTheWayToTheAnchorAreFollowed() throws {
        let place = try TemporaryDirectory()
        try place.directory("real")
        try place.link("link", to: "real")
        let made = try Directory.create(place.path("link/a/b"), mode: 0o750)
        #expect(made.path == FilePath(place.path("link/a/b")))
        #expect(try SystemFile.mode(place.path("real/a")) == 0o700)
        #expect(try SystemFile.mode(place.path("real/a/b")) == 0o750)
    }

    @Test func existingDirectoriesKeepTheirMode() throws {
        let place = try TemporaryDirectory()
        try place.directory("a", mode: 0o711)
        _ = try Directory.create(place.path("a"), mode: 0o700)
        _ = try Directory.open(place.path).makeDirectory("a/b", mode: 0o2770)
        #expect(try SystemFile.mode(place.path("a")) == 0o711)
        #expect(try SystemFile.mode(place.path("a/b")) == 0o2770)
    }

    @Test func sixteenProcessesMakeOneDirectoryAtOnce() throws {
        let place = try TemporaryDirectory()
        let path = place.path("a/b/c")
        // The umask takes every bit but the owner's, and the mode has more than mkdir can set.
        let script = #"umask 077; for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16; do "$@" & done; wait"#
        let result = try ChildProcess.run(
            "/bin/sh", ["-c", script, "sh", builtProduct("sealed-probe"), "make-directory", path, "2775"])
        #expect(result.outputText == String(repeating: "made\n", count: 16))
        #expect(try SystemFile.mode(path) == 0o2775)
    }

    @Test func aDirectoryBelowIsOpenedAndListed() throws {
        let sandbox = try Sandbox()
        _ = try sandbox.inside.makeDirectory("a/b", mode: 0o700)
        try sandbox.file("a/b/x", "1")
        #expect(try sandbox.inside.directory("a/b").entries().map(\.name) == ["x"])
        #expect(try sandbox.inside.directory(".").entries().map(\.name) == ["a"])
        #expect(fileError { _ = try sandbox.inside.directory("a/b/x") }?.code == .notDirectory)
        #expect(fileError { _ = try sandbox.inside.directory("a/c") }?.code == .notFound)
    }
}
