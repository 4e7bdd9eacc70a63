import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(10))) struct ReplaceTests {
    @Test(arguments: strategies, [Durability.durable, .unsynced])
    func theNewValueTakesTheNameAndNothingElseStays(_ strategy: TemporaryStrategy, _ durability: Durability) throws {
        let sandbox = try Sandbox()
        _ = try sandbox.inside.makeDirectory("a", mode: 0o700)
        for value in ["one", "", String(repeating: "x", count: 200_000)] {
            try sandbox.inside.replace(
                "a/x", with: bytes(value), mode: 0o640, durability: durability, strategy: strategy)
            #expect(try sandbox.text("a/x") == value)
            #expect(try sandbox.names("a") == ["x"])
            #expect(try SystemFile.mode(sandbox.path("a/x")) == 0o640)
        }
    }

    @Test(arguments: strategies, ["0000", "0777"])
    func theUmaskDoesNotMatter(_ strategy: TemporaryStrategy, _ umask: String) throws {
        let sandbox = try Sandbox()
        let result = try ChildProcess.run(
            "/bin/sh",
            [
                "-c", #"umask "$0"; exec "$@""#, umask, builtProduct("sealed-probe"), "replace-limited",
                sandbox.path(""), "x", "16", "\(strategy)", "durable",
            ])
        #expect(result.outputText == "done\n")
        #expect(try SystemFile.mode(sandbox.path("x")) == 0o600)
    }

    @Test(arguments: strategies) func anOpenReaderKeepsTheOldValue(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        let reader = try sandbox.inside.openForReading("x")
        try sandbox.inside.replace("x", with: bytes("newer"), mode: 0o600, durability: .unsynced, strategy: strategy)
        var buffer = [UInt8](repeating: 0, count: 10)
        let count = try buffer.withUnsafeMutableBytes { try reader.pread(into: $0, at: 0) }
        #expect(Array(buffer[..<count]) == bytes("old"))
        #expect(try sandbox.text("x") == "newer")
    }

    @Test(arguments: strategies, Planted.possible)
    func aFilePlantedUnderTheNameIsReplacedItselfOrRefused(_ strategy: TemporaryStrategy, _ planted: Planted) throws {
        let sandbox = try Sandbox()
        try planted.plant("x", in: sandbox)
        let write = {
            try sandbox.inside.replace("x", with: [1], mode: 0o600, durability: .durable, strategy: strategy)
        }
        if planted == .directory {
            #expect(fileError { try write() }?.code == .notRegularFile)
        } else {
            try write()
            #expect(try sandbox.inside.attributes("x").kind == .regular)
        }
        #expect(try sandbox.names() == ["x"])
        try sandbox.expectOutsideUntouched()
    }

    @Test(arguments: Planted.possible)
    func aFilePlantedUnderThePendingNameIsRemovedOrRefused(_ planted: Planted) throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        try planted.plant(".x.new", in: sandbox)
        let write = {
            try sandbox.inside.replace("x", with: bytes("new"), mode: 0o600, durability: .durable, strategy: .anonymous)
        }
        if planted == .directory {
            #expect(fileError { try write() }?.code == .notRegularFile)
            #expect(try sandbox.text("x") == "old")
            #expect(try sandbox.names() == [".x.new", "x"])
        } else {
            try write()
            #expect(try sandbox.text("x") == "new")
            #expect(try sandbox.names() == ["x"])
        }
        try sandbox.expectOutsideUntouched()
    }

    // A crash between linkat and renameat leaves one kind of litter, a crash of the named strategy the other.
    @Test func nextWriteRemovesStaleFilesOfACrash() throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        try sandbox.file(".x.new", "complete but never renamed")
        try sandbox.inside.replace("x", with: bytes("new"), mode: 0o600, durability: .durable, strategy: .anonymous)
        #expect(try sandbox.names() == ["x"])

        try sandbox.file(".x.new", "complete but never renamed")
        try sandbox.file(".x.0123456789abcdef.new", "half a va")
        for other in [".y.0123456789abcdef.new", ".x.0123456789abcdeg.new", ".x.123.new", ".y.new"] {
            try sandbox.file(other, "not ours")
        }
        try sandbox.inside.replace("x", with: bytes("new"), mode: 0o600, durability: .durable, strategy: .named)
        #expect(
            try sandbox.names() == [".x.0123456789abcdeg.new", ".x.123.new", ".y.0123456789abcdef.new", ".y.new", "x"])
    }

    @Test(arguments: strategies) func aWriteThatFailsHalfWayLeavesTheOldValue(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        let result = try ChildProcess.run(
            "sealed-probe", ["replace-limited", sandbox.path(""), "x", "100000", "\(strategy)", "durable"])
        #expect(result.outputText == "tooLarge\n")
        #expect(try sandbox.text("x") == "old")
        #expect(try sandbox.names() == ["x"])
    }

    @Test(arguments: strategies) func twoWritersWithoutALockNeverTearAValue(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        let values = (0..<4).map { [UInt8](repeating: UInt8($0), count: 20_000 + $0) }
        try sandbox.inside.replace("x", with: values[0], mode: 0o600, durability: .unsynced)
        let torn = try concurrently(5) { index in
            try (0..<300).filter { _ in
                if index == 4 { return !values.contains(try sandbox.inside.read("x", limit: 1 << 20)) }
                try? sandbox.inside.replace(
                    "x", with: values[index], mode: 0o600, durability: .unsynced, strategy: strategy)
                return false
            }.count
        }
        #expect(try torn.map { try $0.get() } == [0, 0, 0, 0, 0])
        try sandbox.inside.replace("x", with: [], mode: 0o600, durability: .unsynced, strategy: strategy)
        #expect(try sandbox.names() == ["x"])
    }

    @Test func removingTakesTheNameAndNeverADirectory() throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "1")
        try sandbox.place.link("inside/link", to: "../outside/precious")
        try sandbox.place.directory("inside/a")
        try sandbox.inside.remove("x", durability: .durable)
        try sandbox.inside.remove("link", durability: .unsynced)
        #expect(fileError { try sandbox.inside.remove("a", durability: .durable) }?.code == .notRegularFile)
        #expect(fileError { try sandbox.inside.remove("x", durability: .durable) }?.code == .notFound)
        #expect(try sandbox.names() == ["a"])
        try sandbox.expectOutsideUntouched()
    }
}
