import AppGroups
import TestSupport
import Testing

@Suite struct ContainerListTests {
    private let sandbox: RegistrySandbox
    private var list: ContainerList { ContainerList(home: sandbox.home) }

    init() throws { sandbox = try RegistrySandbox() }

    @Test func anEmptyHomeHasNoGroups() throws {
        #expect(try list.items().isEmpty && list.unidentified().isEmpty)
    }

    @Test func aPlaceThatCannotBeReadIsNotAnEmptyHome() throws {
        run("mkdir -p \(sandbox.shell(sandbox.root))")
        try SystemFile.write("\(sandbox.root)/Containers", [1])
        #expect(code { _ = try list.items() } == .file)
        #expect(code { _ = try list.unidentified() } == .file)
    }

    @Test func aDirectoryOfWhichNothingSaysWhoseItIsIsListedWithTheReason() throws {
        try sandbox.open()
        let stray = "\(sandbox.root)/Containers/00000000-0000-4000-8000-000000000000"
        run("mkdir -m 700 \(sandbox.shell(stray))")
        #expect(try list.groups() == [sandbox.group])
        #expect(try list.unidentified().map(\.path) == [stray])
        #expect(try list.unidentified().map(\.error.code) == [.damagedRegistry])
    }

    @Test func aRegisteredOneWithADamagedCopyIsItsGroups() throws {
        let container = try sandbox.register("app", .iOS)
        try SystemFile.write("\(container.path)/.sealedstate.container", Array("x".utf8))
        #expect(try list.unidentified().isEmpty)
        #expect(try list.items().map(\.error?.code) == [.damagedRegistry])
    }
}
