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

    private func yardWithLinks() throws -> Yard {
        let yard = try Yard()
        try yard.place.directory("inside/a")
        try yard.place.link("inside/out", to: "../outside")
        try yard.place.link("inside/a/out", to: "../../outside")
        try yard.place.link("inside/absolute", to: yard.place.path("outside"))
        return yard
    }

    @Test(arguments: refused) func aPathThatLeavesItsDirectoryIsNotRead(_ path: String, _ code: FileError.Code) throws {
        let yard = try yardWithLinks()
        #expect(fileError { _ = try yard.inside.read(path, limit: 100) }?.code == code)
        #expect(fileError { _ = try yard.inside.readPrefix(path, count: 1) }?.code == code)
        #expect(fileError { _ = try yard.inside.openForReading(path) }?.code == code)
        #expect(fileError { _ = try yard.inside.attributes(path) }?.code == code)
    }

    @Test(arguments: refused) func aPathThatLeavesItsDirectoryIsNotWritten(
        _ path: String, _ code: FileError.Code
    ) throws {
        let yard = try yardWithLinks()
        for strategy in strategies {
            #expect(
                fileError {
                    try yard.inside.replace(path, with: [1], mode: 0o600, durability: .unsynced, strategy: strategy)
                }?.code == code)
            #expect(
                fileError { try yard.inside.createExclusively(path, with: [1], mode: 0o600, strategy: strategy) }?.code
                    == code)
        }
        #expect(fileError { try yard.inside.remove(path, durability: .unsynced) }?.code == code)
        try yard.expectOutsideUntouched()
        #expect(try yard.names() == ["a", "absolute", "out"])
    }

    @Test(arguments: refused) func aPathThatLeavesItsDirectoryIsNotEntered(
        _ path: String, _ code: FileError.Code
    ) throws {
        let yard = try yardWithLinks()
        #expect(fileError { _ = try yard.inside.directory(path) }?.code == code)
        #expect(fileError { _ = try yard.inside.makeDirectory(path, mode: 0o700) }?.code == code)
        try yard.expectOutsideUntouched()
    }

    @Test(
        arguments: [
            (Planted.fifo, FileError.Code.notRegularFile), (.directory, .notRegularFile), (.linkToFile, .unsafePath),
            (.linkToDirectory, .unsafePath), (.danglingLink, .unsafePath), (.device, .notRegularFile),
        ].filter { Planted.possible.contains($0.0) })
    func onlyARegularFileIsRead(_ planted: Planted, _ code: FileError.Code) throws {
        let yard = try Yard()
        try planted.plant("record", in: yard)
        #expect(fileError { _ = try yard.inside.read("record", limit: 100) }?.code == code)
        #expect(fileError { _ = try yard.inside.openForReading("record") }?.code == code)
    }

    @Test func aParentThatIsSwappedForALinkDoesNotRedirect() throws {
        let yard = try Yard()
        let opened = try yard.inside.makeDirectory("sub", mode: 0o700)
        #expect(rename(yard.path("sub"), yard.path("moved")) == 0)
        try yard.place.link("inside/sub", to: "../outside")

        let error = fileError { try yard.inside.replace("sub/x", with: [1], mode: 0o600, durability: .unsynced) }
        #expect(error?.code == .unsafePath)
        try opened.replace("x", with: bytes("kept"), mode: 0o600, durability: .unsynced)
        #expect(try yard.text("moved/x") == "kept")
        try yard.expectOutsideUntouched()
    }

    //  writer                              attacker
    //  replace sub/precious   …            sub -> real directory
    //  replace sub/precious   …            sub -> ../outside
    @Test(arguments: strategies) func aParentThatIsSwappedWhileWritingDoesNotRedirect(
        _ strategy: TemporaryStrategy
    ) throws {
        let yard = try Yard()
        try yard.place.directory("inside/real")
        let results = try concurrently(2) { index in
            for _ in 0..<2000 {
                if index == 0 {
                    try? yard.inside.replace(
                        "sub/precious", with: [1], mode: 0o644, durability: .unsynced, strategy: strategy)
                } else {
                    rename(yard.path("real"), yard.path("sub"))
                    rename(yard.path("sub"), yard.path("real"))
                    symlink("../outside", yard.path("sub"))
                    unlink(yard.path("sub"))
                }
            }
        }
        #expect(results.count == 2)
        try yard.expectOutsideUntouched()
    }
}
