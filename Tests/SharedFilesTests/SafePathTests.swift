import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of paths that lead out of a directory: every operation refuses them, and nothing outside is touched.
@Suite(.timeLimit(.minutes(10))) struct SafePathTests {
    static let refused: [(String, FileError.Code)] = [
        ("../outside/precious", .unsafePath), ("a/../../outside/precious", .unsafePath), ("..", .unsafePath),
        ("a/..", .unsafePath), ("/etc/passwd", .unsafePath), ("out/precious", .unsafePath),
        ("absolute/precious", .unsafePath), ("a/out/precious", .unsafePath), ("", .invalidName),
        ("a//b", .invalidName), ("a/", .invalidName), ("./a", .invalidName), ("a/./b", .invalidName),
        ("a\0/../b", .invalidName), ("a/\(String(repeating: "n", count: 256))", .invalidName),
    ]

    private func sandboxWithLinks() throws -> Sandbox {
        let sandbox = try Sandbox()
        try sandbox.place.directory("inside/a")
        try sandbox.place.link("inside/out", to: "../outside")
        try sandbox.place.link("inside/a/out", to: "../../outside")
        try sandbox.place.link("inside/absolute", to: sandbox.place.path("outside"))
        return sandbox
    }

    @Test(arguments: refused) func aPathThatLeavesItsDirectoryIsNotRead(_ path: String, _ code: FileError.Code) throws {
        let sandbox = try sandboxWithLinks()
        #expect(fileError { _ = try sandbox.inside.read(path, limit: 100) }?.code == code)
        #expect(fileError { _ = try sandbox.inside.readPrefix(path, count: 1) }?.code == code)
        #expect(fileError { _ = try sandbox.inside.openForReading(path) }?.code == code)
        #expect(fileError { _ = try sandbox.inside.attributes(path) }?.code == code)
    }

    @Test(arguments: refused) func aPathThatLeavesItsDirectoryIsNotWritten(
        _ path: String, _ code: FileError.Code
    ) throws {
        let sandbox = try sandboxWithLinks()
        for strategy in strategies {
            #expect(
                fileError {
                    try sandbox.inside.replace(path, with: [1], mode: 0o600, durability: .unsynced, strategy: strategy)
                }?.code == code)
            #expect(
                fileError { try sandbox.inside.createExclusively(path, with: [1], mode: 0o600, strategy: strategy) }?
                    .code
                    == code)
        }
        #expect(fileError { try sandbox.inside.remove(path, durability: .unsynced) }?.code == code)
        try sandbox.expectOutsideUntouched()
        #expect(try sandbox.names() == ["a", "absolute", "out"])
    }

    @Test(arguments: refused) func aPathThatLeavesItsDirectoryIsNotEntered(
        _ path: String, _ code: FileError.Code
    ) throws {
        let sandbox = try sandboxWithLinks()
        #expect(fileError { _ = try sandbox.inside.directory(path) }?.code == code)
        #expect(fileError { _ = try sandbox.inside.makeDirectory(path, mode: 0o700) }?.code == code)
        try sandbox.expectOutsideUntouched()
    }

    @Test(
        arguments: [
            (Planted.fifo, FileError.Code.notRegularFile), (.directory, .notRegularFile), (.linkToFile, .unsafePath),
            (.linkToDirectory, .unsafePath), (.danglingLink, .unsafePath), (.device, .notRegularFile),
        ].filter { Planted.possible.contains($0.0) })
    func onlyARegularFileIsRead(_ planted: Planted, _ code: FileError.Code) throws {
        let sandbox = try Sandbox()
        try planted.plant("record", in: sandbox)
        #expect(fileError { _ = try sandbox.inside.read("record", limit: 100) }?.code == code)
        #expect(fileError { _ = try sandbox.inside.openForReading("record") }?.code == code)
    }

    @Test func aParentThatIsSwappedForALinkDoesNotRedirect() throws {
        let sandbox = try Sandbox()
        let opened = try sandbox.inside.makeDirectory("sub", mode: 0o700)
        #expect(rename(sandbox.path("sub"), sandbox.path("moved")) == 0)
        try sandbox.place.link("inside/sub", to: "../outside")

        let error = fileError { try sandbox.inside.replace("sub/x", with: [1], mode: 0o600, durability: .unsynced) }
        #expect(error?.code == .unsafePath)
        try opened.replace("x", with: bytes("kept"), mode: 0o600, durability: .unsynced)
        #expect(try sandbox.text("moved/x") == "kept")
        try sandbox.expectOutsideUntouched()
    }

    //  writer                              attacker
    //  replace sub/precious   …            sub -> real directory
    //  replace sub/precious   …            sub -> ../outside
    @Test(arguments: strategies) func aParentThatIsSwappedWhileWritingDoesNotRedirect(
        _ strategy: TemporaryStrategy
    ) throws {
        let sandbox = try Sandbox()
        try sandbox.place.directory("inside/real")
        let results = try concurrently(2) { index in
            for _ in 0..<2000 {
                if index == 0 {
                    try? sandbox.inside.replace(
                        "sub/precious", with: [1], mode: 0o644, durability: .unsynced, strategy: strategy)
                } else {
                    rename(sandbox.path("real"), sandbox.path("sub"))
                    rename(sandbox.path("sub"), sandbox.path("real"))
                    symlink("../outside", sandbox.path("sub"))
                    unlink(sandbox.path("sub"))
                }
            }
        }
        #expect(results.count == 2)
        try sandbox.expectOutsideUntouched()
    }
}
