import AppGroups
import Glibc
import SharedFiles
import TestSupport
import Testing

/// Tests of the copy in the container after a change of the registry alone.
@Suite struct ContainerCopyTests {
    private let sandbox: RegistrySandbox

    init() throws { sandbox = try RegistrySandbox() }

    /// Edits the file as a person with an editor does.
    private func edit(_ old: String, _ new: String) throws {
        let text = String(decoding: try SystemFile.read(sandbox.file), as: UTF8.self)
        let parts = text.split(separator: old, omittingEmptySubsequences: false)
        try #require(parts.count == 2)
        try SystemFile.write(sandbox.file, Array(parts.joined(separator: new).utf8))
    }

    @Test(arguments: ContainerBehavior.allCases)
    func aQuotaThatWasEditedIsInForceOnceTheContainerIsOpenedForWriting(behavior: ContainerBehavior) throws {
        let container = try sandbox.register("app", behavior)
        try sandbox.registry.setQuota(9000)
        try edit("9000", "500")
        #expect(try sandbox.open(creating: false).quota() == 9000)
        #expect(try sandbox.open().quota() == 500)
        #expect(try container.quota() == 500)
    }

    @Test func aContainerWhoseCopyIsMissingGetsItWhenItIsOpened() throws {
        let container = try sandbox.register()
        try sandbox.registry.setQuota(9000)
        unlink("\(container.path)/.sealedstate.container")
        #expect(try sandbox.open(creating: false).quota() == nil)
        #expect(try sandbox.open().quota() == 9000)
    }

    @Test func aNamedContainerThatIsMadeAgainHasItsQuotaAtOnce() throws {
        let container = try sandbox.register()
        try sandbox.registry.setQuota(9000)
        run("rm -rf \(sandbox.shell(container.path))")
        #expect(try sandbox.open().quota() == 9000)
    }

    @Test func aDamagedCopyIsNotWrittenOver() throws {
        let container = try sandbox.register()
        let copy = "\(container.path)/.sealedstate.container"
        try SystemFile.write(copy, Array("x".utf8))
        try sandbox.open()
        #expect(try SystemFile.read(copy) == Array("x".utf8))
    }

    @Test func itIsOneToTheLastByte() throws {
        let container = try sandbox.register()
        let copy = try SystemFile.read("\(container.path)/.sealedstate.container")
        #expect(ContainerCopy.isCopy(copy, of: sandbox.group) && ContainerCopy.isCopy(copy, of: nil))
        #expect(!ContainerCopy.isCopy(copy, of: try AppGroup("group.com.example.other")))
        #expect(!ContainerCopy.isCopy(copy + Array("<!-- a secret -->\n".utf8), of: sandbox.group))
    }
}
