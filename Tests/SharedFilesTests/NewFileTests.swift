import Glibc
import TestSupport
import Testing

@testable import SharedFiles

@Suite struct NewFileTests {
    @Test(arguments: strategies) func aValueThatIsDroppedLeavesNothing(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        do {
            let file = try NewFile.create(in: sandbox.inside, leaf: "x", mode: 0o600, strategy: strategy)
            try bytes("half").withUnsafeBytes { try file.write($0) }
            #expect(!(try sandbox.names().contains("x")))
        }
        #expect(try sandbox.names() == [])
        try NewFile.create(in: sandbox.inside, leaf: "x", mode: 0o600, strategy: strategy).discard()
        #expect(try sandbox.names() == [])
    }

    @Test(arguments: strategies) func aStreamedValueAppearsWhole(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        let file = try NewFile.create(in: sandbox.inside, leaf: "x", mode: 0o644, strategy: strategy)
        for part in ["one ", "two ", "three"] { try bytes(part).withUnsafeBytes { try file.write($0) } }
        #expect(try sandbox.text("x") == "old")
        try file.commit(replacing: true, durability: .durable)
        #expect(try sandbox.text("x") == "one two three")
        #expect(try SystemFile.mode(sandbox.path("x")) == 0o644)
        #expect(try sandbox.names() == ["x"])
    }

    @Test(arguments: strategies) func aLiveWritersFileIsNotStale(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        let first = try NewFile.create(in: sandbox.inside, leaf: "x", mode: 0o600, strategy: strategy)
        let second = try NewFile.create(in: sandbox.inside, leaf: "x", mode: 0o600, strategy: strategy)
        try second.commit(replacing: true, durability: .unsynced)
        try bytes("first").withUnsafeBytes { try first.write($0) }
        try first.commit(replacing: true, durability: .unsynced)
        #expect(try sandbox.text("x") == "first")
        #expect(try sandbox.names() == ["x"])
    }

    @Test(arguments: strategies) func aTakenNameIsRefusedWhenNotReplacing(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        try sandbox.place.link("inside/x", to: "../outside/new")
        let error = fileError { try sandbox.inside.createExclusively("x", with: [1], mode: 0o600, strategy: strategy) }
        #expect(error?.code == .alreadyExists)
        #expect(try sandbox.names() == ["x"])
        try sandbox.expectOutsideUntouched()
    }

    @Test(arguments: strategies) func ofManyRacingCreatorsOneWins(_ strategy: TemporaryStrategy) throws {
        let sandbox = try Sandbox()
        for round in 0..<20 {
            let results = try concurrently(8) { index in
                try sandbox.inside.createExclusively(
                    "x\(round)", with: [UInt8](repeating: UInt8(index), count: 3000), mode: 0o600, strategy: strategy)
            }
            let winners = results.indices.filter { if case .success = results[$0] { true } else { false } }
            #expect(winners.count == 1)
            let content = try sandbox.inside.read("x\(round)", limit: 10_000)
            #expect(content == [UInt8](repeating: UInt8(winners.first ?? 99), count: 3000))
            for case .failure(let error) in results {
                // The named strategy may take a rival's file for litter before it is locked, so that rival fails as
                // well.
                let code = (error as? FileError)?.code
                #expect(code == .alreadyExists || (strategy == .named && code == .notFound))
            }
        }
        #expect(try sandbox.names() == (0..<20).map { "x\($0)" }.sorted())
    }

    // A pipe can't be synced: it represents a disk that fails.
    @Test func aFailedSyncLeavesTheOldValue() throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        try sandbox.file("temporary", "new")
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        close(ends[0])
        let file = NewFile(
            descriptor: Descriptor(owning: ends[1], path: "pipe"), directory: sandbox.inside, leaf: try LeafName("x"),
            temporary: "temporary")
        do {
            try file.commit(replacing: true, durability: .durable)
            Issue.record("the sync failed and commit did not say so")
        } catch {
            #expect(error.code == .io)
        }
        #expect(try sandbox.text("x") == "old")
        #expect(try sandbox.names() == ["x"])
    }

    // A directory opened with O_PATH can create names but can't be synced.
    @Test func aFailedSyncOfTheDirectoryIsReportedAsUnknown() throws {
        let sandbox = try Sandbox()
        let opened = open(sandbox.path(""), 0o10000000)
        try #require(opened >= 0)
        let directory = Directory(path: sandbox.inside.descriptor.path, owning: opened)
        let write = { try directory.replace("x", with: bytes("new"), mode: 0o600, durability: .durable) }
        #expect(fileError { try write() }?.code == .durabilityUnknown)
        #expect(try sandbox.text("x") == "new")
        let error = fileError { try directory.remove("x", durability: .durable) }
        #expect(error?.code == .durabilityUnknown)
        try directory.replace("x", with: bytes("new"), mode: 0o600, durability: .unsynced)
        #expect(try sandbox.names() == ["x"])
    }

    @Test(arguments: ["", ".", "..", "a/b", "/a", "a/", "a\0b", String(repeating: "n", count: 234)])
    func aNameThatIsNotASingleSegmentIsRefused(_ name: String) throws {
        let sandbox = try Sandbox()
        #expect(fileError { _ = try NewFile.create(in: sandbox.inside, leaf: name, mode: 0o600) }?.code == .invalidName)
    }

    @Test(arguments: strategies) func theLongestNameLeavesRoomForItsTemporaryNames(_ strategy: TemporaryStrategy) throws
    {
        let sandbox = try Sandbox()
        let name = String(repeating: "n", count: LeafName.maximumLength)
        try sandbox.inside.replace(name, with: [1], mode: 0o600, durability: .unsynced, strategy: strategy)
        #expect(try sandbox.names() == [name])
    }
}
