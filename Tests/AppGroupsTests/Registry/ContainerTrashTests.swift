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
}
