import Glibc
import TestSupport
import Testing

@Suite struct VaultRotationTests {
    private struct MachineRotation: Decodable {
        let epoch: UInt32
        let completed: Bool
        let resealed: Int
    }

    private struct MachineRotationStatus: Decodable {
        struct Key: Decodable {
            let id: String
            let epoch: UInt32
            let state: String
            let blobCount: Int
            let obstacles: [String]
            let mayBeDestroyed: Bool
        }
        let rotating: Bool
        let activeEpoch: UInt32?
        let minimumEpoch: UInt32
        let keys: [Key]
    }

    private func status(_ sandbox: Sandbox) throws -> MachineRotationStatus {
        try decode(
            MachineRotationStatus.self, sandbox.succeed(["vault", "rotate", "--status", "--json"]).output)
    }

    @Test func everyBlobIsResealedAndStillOpens() throws {
        let sandbox = try Sandbox.initialised()
        for name in ["a", "b/c"] { try sandbox.put(name, "{\"n\":1}") }
        let old = try #require(try sandbox.keys().first?.id)
        let done = try decode(MachineRotation.self, sandbox.succeed(["vault", "rotate", "--json"]).output)
        #expect(done.completed && done.epoch == 2 && done.resealed == 2)
        for name in ["a", "b/c"] { #expect(try sandbox.succeed(["get", name]).outputText == "{\"n\":1}") }
        #expect(try sandbox.keys().map(\.state) == ["decryptOnly", "active"])
        let after = try status(sandbox)
        #expect(!after.rotating && after.activeEpoch == 2 && after.minimumEpoch == 2)
        let key = try #require(after.keys.first { $0.id == old })
        #expect(key.blobCount == 0 && key.mayBeDestroyed && key.obstacles.isEmpty)
        try sandbox.succeed(["vault", "destroy-key", old])
        #expect(try sandbox.keys().map(\.state) == ["destroyed", "active"])
        for name in ["a", "b/c"] { #expect(try sandbox.succeed(["get", name]).outputText == "{\"n\":1}") }
    }

    @Test func aBlobOfTheOldKeyIsRefusedOnceTheRotationIsCompleted() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let old = try SystemFile.read(sandbox.record("a"))
        try sandbox.succeed(["vault", "rotate"])
        try SystemFile.write(sandbox.record("a"), old)
        #expect(try sandbox.sealctl(["get", "a"]).exitCode == 65)
    }

    @Test func aKeyThatIsNeededStaysUnlessForcedByName() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", "{}")
        let first = try #require(try sandbox.keys().first?.id)
        #expect(try sandbox.sealctl(["vault", "destroy-key", first]).exitCode == 69)
        #expect(try sandbox.sealctl(["vault", "destroy-key", first, "--force-key", first]).exitCode == 69)
        try sandbox.file("plain", [1, 2, 3])
        try sandbox.succeed(["encrypt", "-o", "sealed", "plain"])
        try sandbox.succeed(["vault", "rotate"])
        // A file under the old key returns to the container.
        try sandbox.shell("cp sealed '\(sandbox.container)/sealed'")
        let refused = try sandbox.sealctl(["vault", "destroy-key", first, "--json"])
        #expect(refused.exitCode == 69)
        #expect(try decode(MachineError.self, refused.errors).code == "keyInUse")
        #expect(try sandbox.sealctl(["vault", "destroy-key", first, "--force-key", "x"]).exitCode == 64)
        try sandbox.succeed(["vault", "destroy-key", first, "--force-key", first, "--yes"])
        #expect(try sandbox.sealctl(["decrypt", "sealed"]).exitCode == 65)
    }

    @Test func anUnknownKeyIsNotFound() throws {
        let sandbox = try Sandbox.initialised()
        let id = String(repeating: "0", count: 32)
        #expect(try sandbox.sealctl(["vault", "destroy-key", id]).exitCode == 44)
    }

    @Test func anAccessGroupWithoutContainerRotatesItsKeysAlone() throws {
        let sandbox = try Sandbox()
        let target = ["--access-group", Sandbox.accessGroup]
        try sandbox.succeed(["vault", "create"] + target)
        // With `--group`, the container may be unavailable temporarily.
        #expect(try sandbox.sealctl(["vault", "rotate", "--group", Sandbox.accessGroup]).exitCode == 44)
        try sandbox.succeed(["vault", "rotate"] + target)
        let keys = try sandbox.keys(target)
        #expect(keys.map(\.epoch) == [1, 2] && keys.map(\.state) == ["decryptOnly", "active"])
        try sandbox.succeed(["vault", "destroy-key", keys[0].id] + target)
        #expect(try sandbox.sealctl(["vault", "destroy-key", keys[1].id] + target).exitCode == 69)
        #expect(try sandbox.keys(target).map(\.state) == ["destroyed", "active"])
    }

    @Test(arguments: [
        ["--throttle", "0"], ["--throttle", "-1"], ["--throttle", "5x"], ["--status", "--throttle", "5"],
    ])
    func contradictoryArgumentsAreAUsageError(options: [String]) throws {
        let sandbox = try Sandbox.initialised()
        #expect(try sandbox.sealctl(["vault", "rotate"] + options).exitCode == 64)
        #expect(try sandbox.keys().count == 1)
    }

    /// The second record waits for the share of the first one: a fourth of a second of blobs, more than half of one of bytes.
    @Test(arguments: [("4", 250), ("1K", 500)])
    func throttledRotationTakesItsTime(limit: String, milliseconds: Int) throws {
        let sandbox = try Sandbox.initialised()
        for name in ["a", "b"] { try sandbox.put(name, "\"\(String(repeating: "x", count: 512))\"") }
        let start = ContinuousClock.now
        try sandbox.succeed(["vault", "rotate", "--throttle", limit])
        #expect(ContinuousClock.now - start > .milliseconds(milliseconds))
        for name in ["a", "b"] { try sandbox.succeed(["get", name]) }
    }
}
