import AppGroups
import TestSupport
import Testing

@Suite struct ContainerListTests {
    private let yard: RegistryYard
    private var list: ContainerList { ContainerList(home: yard.home) }

    init() throws { yard = try RegistryYard() }

    @Test func anEmptyHomeHasNoGroups() throws {
        #expect(try list.items().isEmpty && list.unidentified().isEmpty)
    }

    @Test func aPlaceThatCannotBeReadIsNoEmptyHome() throws {
        run("mkdir -p \(yard.shell(yard.root))")
        try SystemFile.write("\(yard.root)/Containers", [1])
        #expect(code { _ = try list.items() } == .file)
        #expect(code { _ = try list.unidentified() } == .file)
    }

    @Test func aDirectoryOfWhichNothingSaysWhoseItIsIsListedWithTheReason() throws {
        try yard.open()
        let stray = "\(yard.root)/Containers/00000000-0000-4000-8000-000000000000"
        run("mkdir -m 700 \(yard.shell(stray))")
        #expect(try list.groups() == [yard.group])
        #expect(try list.unidentified().map(\.path) == [stray])
        #expect(try list.unidentified().map(\.error.code) == [.damagedRegistry])
    }

    @Test func aRegisteredOneWithADamagedCopyIsItsGroups() throws {
        let container = try yard.register("app", .iOS)
        try SystemFile.write("\(container.path)/.sealedstate.container", Array("x".utf8))
        #expect(try list.unidentified().isEmpty)
        #expect(try list.items().map(\.error?.code) == [.damagedRegistry])
    }
}
