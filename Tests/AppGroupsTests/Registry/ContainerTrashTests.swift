import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite struct ContainerTrashTests {
    private let yard: RegistryYard

    init() throws { yard = try RegistryYard() }

    private func trashed(_ behavior: ContainerBehavior = .iOS, by name: String = "app") throws -> ContainerTrash.Item {
        try yard.mark(try yard.register(name, behavior))
        if behavior == .iOS { try yard.registry.unregister(name) } else { try yard.registry.reset() }
        return try #require(try yard.trash.items().first)
    }

    @Test func whereNothingWasGivenUpThereIsNoTrash() throws {
        #expect(try yard.trash.items().isEmpty)
        #expect(!SystemFile.exists("\(yard.root)/Trash"))
    }

    @Test func anItemTellsItsGroupAndWhatItTakesUp() throws {
        let item = try trashed()
        #expect(item.group == yard.group)
        #expect(item.moved.hasSuffix("Z") && item.moved.count == 16)
        #expect(item.path == "\(yard.root)/Trash/\(item.name)")
        #expect(try yard.trash.usage(of: item).total.bytes > 4)
    }

    @Test func whatOthersPutThereIsNotListedAndNotDeleted() throws {
        let item = try trashed()
        run("mkdir \(yard.shell("\(yard.root)/Trash/mine"))")
        #expect(try yard.trash.items() == [item])
    }

    @Test func deletingTakesEverythingAndFollowsNoLink() throws {
        let outside = try TemporaryDirectory()
        try outside.file("precious", "1")
        let item = try trashed()
        #expect(symlink(outside.path, "\(item.path)/Library/link") == 0)
        run(
            "mkdir -p \(yard.shell(item.path))/deep/er && mkfifo \(yard.shell(item.path))/deep/fifo && touch \(yard.shell(item.path))/$(printf '\\377')"
        )
        try yard.trash.delete(item)
        #expect(yard.trashed.isEmpty)
        #expect(SystemFile.exists(outside.path("precious")))
        #expect(code { try yard.trash.delete(item) } == .notInTrash)
    }

    @Test func anOpaqueContainerIsPutBackUnderANameOfItsOwn() throws {
        let item = try trashed()
        try yard.registry.restore(item)
        let container = try yard.open(creating: false)
        #expect(container.style == .opaque && yard.hasMark(container) && yard.trashed.isEmpty)
        yard.removeRegistry()
        #expect(yard.hasMark(try yard.open()))
    }

    @Test func nothingIsPutBackBesideAContainer() throws {
        let item = try trashed(.macOS)
        #expect(code { try yard.registry.restore(item) } == .notInTrash)
        run("rm -rf \(yard.shell("\(yard.root)/Containers/\(yard.group)"))")
        try yard.registry.restore(item)
        #expect(yard.hasMark(try yard.open()))
    }

    @Test func anotherGroupsContainerIsNotPutBack() throws {
        let item = try trashed()
        let other = GroupRegistry(try AppGroup("group.com.example.other"), in: yard.home)
        #expect(code { try other.restore(item) } == .notInTrash)
    }

    @Test func whatIsLeftOfAKilledDeletionIsNoItemAndGoesWithTheNextOne() throws {
        let item = try trashed()
        run("cd \(yard.shell("\(yard.root)/Trash")) && mv \(item.name) .deleting~1 && rm .deleting~1/.sealed*")
        #expect(try yard.trash.items().isEmpty)
        yard.trash.deleteLeftovers()
        #expect(yard.trashed.isEmpty)
    }

    @Test func anOpaqueContainerThatIsNotWholeIsNotPutBack() throws {
        let item = try trashed()
        run("rm \(yard.shell("\(item.path)/.sealedstate.container"))")
        #expect(code { try yard.registry.restore(item) } == .notInTrash)
        #expect(yard.trashed == [item.name] && yard.directories.isEmpty)
    }

    /// ```
    /// trash empty                  trash restore
    /// finds the item               finds the item
    ///                              holds the lock, puts it back
    /// waits for the lock: no item
    /// ```
    @Test func whatWasPutBackIsNotDeletedByWhoFoundItBefore() throws {
        let item = try trashed()
        try yard.registry.restore(item)
        #expect(code { try yard.trash.delete(item) } == .notInTrash)
        #expect(yard.hasMark(try yard.open(creating: false)))
    }

    @Test func nothingIsDeletedWhileSomebodyHoldsTheRegistry() throws {
        let item = try trashed()
        let folder = try Directory.open("\(yard.root)/Registry/\(yard.group)")
        let held = try LockFile(directory: folder, name: "lock").acquire(.whole, .exclusive, timeout: .seconds(5))
        #expect(code { try yard.trash.delete(item) } == .registryBusy)
        held.unlock()
        #expect(SystemFile.exists("\(item.path)/mark"))
    }

    @Test(arguments: ContainerBehavior.allCases)
    func whatAResetTookAwayIsPutBackForTheOneThatFollowed(behavior: ContainerBehavior) throws {
        try yard.mark(try yard.register("app", behavior))
        try yard.registry.reset()
        let item = try #require(try yard.trash.items().first)
        try yard.mark(try yard.open(), "later")
        #expect(code { try yard.registry.restore(item) } == .notInTrash)
        let place = try #require(try yard.registry.restore(item, replacing: true))
        #expect(yard.hasMark(try yard.open(creating: false)) && SystemFile.exists("\(place)/later"))
        #expect(yard.directories.count == 1 && yard.trashed.count == 1)
    }
}
