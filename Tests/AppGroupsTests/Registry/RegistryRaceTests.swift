import AppGroups
import SharedFiles
import TestSupport
import Testing

/// Tests of members that register and unregister, in real processes.
@Suite(.timeLimit(.minutes(10))) struct RegistryRaceTests {
    private static let processes = 6
    private static let visits = 12

    /// ```
    /// app                          extension
    /// register (makes a container)
    ///                              register (the same container)
    /// write a, unregister
    ///                              write b, unregister (the last one: trash)
    /// register (another container)
    /// ```
    /// A registered member's container stays, so every written file is in exactly one container in the trash.
    @Test func nothingThatAMemberWroteIsLostHoweverMembersComeAndGo() throws {
        let sandbox = try RegistrySandbox()
        let children = try (0..<Self.processes).map {
            try ChildProcess("sealed-probe", sandbox.probe(["visit", "app\($0)", "\(Self.visits)"]))
        }
        for child in children {
            let result = try child.finish(timeLimit: .seconds(400))
            #expect(result.exitCode == 0 && result.outputText.isEmpty, "\(result.outputText)")
        }
        #expect(try sandbox.registry.members().isEmpty)
        #expect(sandbox.directories.isEmpty)
        let entry = try #require(try sandbox.registry.entry())
        #expect(entry.directory == nil && entry.departure == nil)
        #expect(sandbox.trashed.count == Int(entry.generation))
        let files = try sandbox.trashed.flatMap { try SystemFile.names("\(sandbox.root)/Trash/\($0)/Library/Caches") }
        #expect(files.count == Self.processes * Self.visits && Set(files).count == files.count)
    }

    /// Both styles at once: the first one decides, the others use the existing container.
    @Test func aGroupNeverHasContainersOfBothStyles() throws {
        for _ in 0..<5 {
            let sandbox = try RegistrySandbox()
            let children = try (0..<8).map {
                try ChildProcess("sealed-probe", sandbox.probe(["open", $0.isMultiple(of: 2) ? "iOS" : "macOS"]))
            }
            let paths = try children.map { try $0.finish(timeLimit: .seconds(400)).outputText }
            #expect(Set(paths).count == 1)
            #expect(sandbox.directories.count == 1)
        }
    }

    @Test func allOfManyThatRegisterAtOnceAreMembers() throws {
        let sandbox = try RegistrySandbox()
        let names = (0..<12).map { "app\($0)" }
        let children = try names.map { try ChildProcess("sealed-probe", sandbox.probe(["register", $0, "iOS"])) }
        for child in children { #expect(try child.finish(timeLimit: .seconds(400)).exitCode == 0) }
        #expect(try sandbox.registry.members().map(\.applicationIdentifier) == names.sorted())
        #expect(sandbox.directories.count == 1)
    }

    @Test func aStoppedHolderOfTheLockCostsOthersTheirTimeLimitAndNothingElse() throws {
        let sandbox = try RegistrySandbox()
        let container = try sandbox.register("app", .iOS)
        let folder = try Directory.open("\(sandbox.root)/Registry/\(sandbox.group)")
        let held = try LockFile(directory: folder, name: "lock").acquire(.whole, .exclusive, timeout: .seconds(5))
        #expect(try sandbox.open().path == container.path)
        #expect(try sandbox.registry.members().count == 1)
        #expect(code { try sandbox.register("extension") } == .registryBusy)
        held.unlock()
    }

    /// ```
    /// reset, reset, ...            open, open, ...
    /// moves the container away     has read its path: reads again
    /// ```
    @Test(arguments: ["iOS", "macOS"])
    func openingNeverFailsWhileTheContainerIsReset(behavior: String) throws {
        let sandbox = try RegistrySandbox()
        try sandbox.register("app", ContainerBehavior(rawValue: behavior))
        let child = try ChildProcess("sealed-probe", sandbox.probe(["resets", "60"]))
        for _ in 0..<600 { _ = try sandbox.open() }
        #expect(try child.finish(timeLimit: .seconds(400)).exitCode == 0)
    }

    /// A writer that holds its record's lock has passed the gate, so its file is in the container before the move.
    @Test func aContainerLeavesAfterThoseWhoWrite() throws {
        let sandbox = try RegistrySandbox()
        let container = try sandbox.register("app", .iOS)
        let locks = LockFile(directory: container.root, name: ".sealedstate.lock")
        let held = try locks.acquire(LockRange(slot: 7), .exclusive, timeout: .seconds(5))
        let child = try ChildProcess("sealed-probe", sandbox.probe(["reset"]))
        // The gate closes first.
        while (try? container.quotaGate.admit("new", size: 1)) != nil {}
        #expect(sandbox.directories.count == 1 && container.path.hasSuffix(sandbox.directories[0]))
        try sandbox.mark(container)
        held.unlock()
        #expect(try child.finish(timeLimit: .seconds(400)).exitCode == 0)
        #expect(sandbox.places().allSatisfy { $0.hasPrefix("Trash/") } && sandbox.places().count == 1)
    }
}
