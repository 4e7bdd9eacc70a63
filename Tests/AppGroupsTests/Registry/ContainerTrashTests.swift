import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

@Suite struct ContainerTrashTests {
    private let sandbox: RegistrySandbox

    init() throws { sandbox = try RegistrySandbox() }

    private func trashed(_ behavior: ContainerBehavior = .iOS, by name: String = "app") throws -> ContainerTrash.Item {
        try sandbox.mark(try sandbox.register(name, behavior))
        if behavior == .iOS { try sandbox.registry.unregister(name) } else { try sandbox.registry.reset() }
        return try #require(try sandbox.trash.items().first)
    }

    @Test func withoutAbandonedContainersThereIsNoTrash() throws {
        #expect(try sandbox.trash.items().isEmpty)
        #expect(!SystemFile.exists("\(sandbox.root)/Trash"))
    }

    @Test func anItemShowsItsGroupAndWhatItTakesUp() throws {
        let item = try trashed()
        #expect(item.group == sandbox.group)
        #expect(item.moved.hasSuffix("Z") && item.moved.count == 16)
        #expect(item.path == "\(sandbox.root)/Trash/\(item.name)")
        #expect(try sandbox.trash.usage(of: item).total.bytes > 4)
    }

    @Test func otherFilesAreNotListedAndNotDeleted() throws {
        let item = try trashed()
        run("mkdir \(sandbox.shell("\(sandbox.root)/Trash/mine"))")
        #expect(try sandbox.trash.items() == [item])
    }

    @Test func deletingTakesEverythingAndFollowsNoLink() throws {
        let outside = try TemporaryDirectory()
        try outside.file("precious", "1")
        let item = try trashed()
        #expect(symlink(outside.path, "\(item.path)/Library/link") == 0)
        run(
            "mkdir -p \(sandbox.shell(item.path))/deep/er && mkfifo \(sandbox.shell(item.path))/deep/fifo && touch \(sandbox.shell(item.path))/$(printf '\\377')"
        )
        try sandbox.trash.delete(item)
        #expect(sandbox.trashed.isEmpty)
        #expect(SystemFile.exists(outside.path("precious")))
        #expect(code { try sandbox.trash.delete(item) } == .notInTrash)
    }

    @Test func anOpaqueContainerIsPutBackUnderANameOfItsOwn() throws {
        let item = try trashed()
        try sandbox.registry.restore(item)
        let container = try sandbox.open(creating: false)
        #expect(container.style == .opaque && sandbox.hasMark(container) && sandbox.trashed.isEmpty)
        sandbox.removeRegistry()
        #expect(sandbox.hasMark(try sandbox.open()))
    }

    @Test func nothingIsPutBackBesideAContainer() throws {
        let item = try trashed(.macOS)
        #expect(code { try sandbox.registry.restore(item) } == .notInTrash)
        run("rm -rf \(sandbox.shell("\(sandbox.root)/Containers/\(sandbox.group)"))")
        try sandbox.registry.restore(item)
        #expect(sandbox.hasMark(try sandbox.open()))
    }

    @Test func anotherGroupsContainerIsNotPutBack() throws {
        let item = try trashed()
        let other = GroupRegistry(try AppGroup("group.com.example.other"), in: sandbox.home)
        #expect(code { try other.restore(item) } == .notInTrash)
    }

    @Test func theRestOfAKilledDeletionIsRemovedByTheNextOne() throws {
        let item = try trashed()
        run("cd \(sandbox.shell("\(sandbox.root)/Trash")) && mv \(item.name) .deleting~1 && rm .deleting~1/.sealed*")
        #expect(try sandbox.trash.items().isEmpty)
        sandbox.trash.deleteLeftovers()
        #expect(sandbox.trashed.isEmpty)
    }

    @Test func anOpaqueContainerThatIsNotWholeIsNotPutBack() throws {
        let item = try trashed()
        run("rm \(sandbox.shell("\(item.path)/.sealedstate.container"))")
        #expect(code { try sandbox.registry.restore(item) } == .notInTrash)
        #expect(sandbox.trashed == [item.name] && sandbox.directories.isEmpty)
    }

    /// ```
    /// trash empty                  trash restore
    /// finds the item               finds the item
    ///                              holds the lock, puts it back
    /// waits for the lock: no item
    /// ```
    @Test func restoredContainersAreNotDeletedByAnEarlierList() throws {
        let item = try trashed()
        try sandbox.registry.restore(item)
        #expect(code { try sandbox.trash.delete(item) } == .notInTrash)
        #expect(sandbox.hasMark(try sandbox.open(creating: false)))
    }

    @Test func nothingIsDeletedWhileTheRegistryIsLocked() throws {
        let item = try trashed()
        let folder = try Directory.open("\(sandbox.root)/Registry/\(sandbox.group)")
        let held = try LockFile(directory: folder, name: "lock").acquire(.whole, .exclusive, timeout: .seconds(5))
        #expect(code { try sandbox.trash.delete(item) } == .registryBusy)
        held.unlock()
        #expect(SystemFile.exists("\(item.path)/mark"))
    }

    @Test(arguments: ContainerBehavior.allCases)
    func aContainerRemovedByAResetCanBeRestoredOverItsSuccessor(behavior: ContainerBehavior) throws {
        try sandbox.mark(try sandbox.register("app", behavior))
        try sandbox.registry.reset()
        let item = try #require(try sandbox.trash.items().first)
        try sandbox.mark(try sandbox.open(), "later")
        #expect(code { try sandbox.registry.restore(item) } == .notInTrash)
        let place = try #require(try sandbox.registry.restore(item, replacing: true))
        #expect(sandbox.hasMark(try sandbox.open(creating: false)) && SystemFile.exists("\(place)/later"))
        #expect(sandbox.directories.count == 1 && sandbox.trashed.count == 1)
    }
}
