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
        let yard = try RegistryYard()
        let children = try (0..<Self.processes).map {
            try ChildProcess("sealed-probe", yard.probe(["visit", "app\($0)", "\(Self.visits)"]))
        }
        for child in children {
            let result = try child.finish(timeLimit: .seconds(400))
            #expect(result.exitCode == 0 && result.outputText.isEmpty, "\(result.outputText)")
        }
        #expect(try yard.registry.members().isEmpty)
        #expect(yard.directories.isEmpty)
        let entry = try #require(try yard.registry.entry())
        #expect(entry.directory == nil && entry.departure == nil)
        #expect(yard.trashed.count == Int(entry.generation))
        let files = try yard.trashed.flatMap { try SystemFile.names("\(yard.root)/Trash/\($0)/Library/Caches") }
        #expect(files.count == Self.processes * Self.visits && Set(files).count == files.count)
    }

    /// Both styles at once: the first one decides, the others use the existing container.
    @Test func aGroupNeverHasContainersOfBothStyles() throws {
        for _ in 0..<5 {
            let yard = try RegistryYard()
            let children = try (0..<8).map {
                try ChildProcess("sealed-probe", yard.probe(["open", $0.isMultiple(of: 2) ? "iOS" : "macOS"]))
            }
            let paths = try children.map { try $0.finish(timeLimit: .seconds(400)).outputText }
            #expect(Set(paths).count == 1)
            #expect(yard.directories.count == 1)
        }
    }

    @Test func allOfManyThatRegisterAtOnceAreMembers() throws {
        let yard = try RegistryYard()
        let names = (0..<12).map { "app\($0)" }
        let children = try names.map { try ChildProcess("sealed-probe", yard.probe(["register", $0, "iOS"])) }
        for child in children { #expect(try child.finish(timeLimit: .seconds(400)).exitCode == 0) }
        #expect(try yard.registry.members().map(\.applicationIdentifier) == names.sorted())
        #expect(yard.directories.count == 1)
    }

    @Test func aStoppedHolderOfTheLockCostsOthersTheirTimeLimitAndNothingElse() throws {
        let yard = try RegistryYard()
        let container = try yard.register("app", .iOS)
        let folder = try Directory.open("\(yard.root)/Registry/\(yard.group)")
        let held = try LockFile(directory: folder, name: "lock").acquire(.whole, .exclusive, timeout: .seconds(5))
        #expect(try yard.open().path == container.path)
        #expect(try yard.registry.members().count == 1)
        #expect(code { try yard.register("extension") } == .registryBusy)
        held.unlock()
    }

    /// ```
    /// reset, reset, ...            open, open, ...
    /// moves the container away     has read its path: reads again
    /// ```
    @Test(arguments: ["iOS", "macOS"])
    func openingNeverFailsWhileTheContainerIsReset(behavior: String) throws {
        let yard = try RegistryYard()
        try yard.register("app", ContainerBehavior(rawValue: behavior))
        let child = try ChildProcess("sealed-probe", yard.probe(["resets", "60"]))
        for _ in 0..<600 { _ = try yard.open() }
        #expect(try child.finish(timeLimit: .seconds(400)).exitCode == 0)
    }

    /// A writer that holds its record's lock has passed the gate, so its file is in the container before the move.
    @Test func aContainerLeavesAfterThoseWhoWrite() throws {
        let yard = try RegistryYard()
        let container = try yard.register("app", .iOS)
        let locks = LockFile(directory: container.root, name: ".sealedstate.lock")
        let held = try locks.acquire(LockRange(slot: 7), .exclusive, timeout: .seconds(5))
        let child = try ChildProcess("sealed-probe", yard.probe(["reset"]))
        // The gate closes first.
        while (try? container.quotaGate.admit("new", size: 1)) != nil {}
        #expect(yard.directories.count == 1 && container.path.hasSuffix(yard.directories[0]))
        try yard.mark(container)
        held.unlock()
        #expect(try child.finish(timeLimit: .seconds(400)).exitCode == 0)
        #expect(yard.places().allSatisfy { $0.hasPrefix("Trash/") } && yard.places().count == 1)
    }
}
