import ContainerAudit
import Glibc
import SealedState
import TestSupport
import Testing

@Suite struct AuditErrorTests {
    let directory: TemporaryDirectory
    init() throws { directory = try TemporaryDirectory() }

    @Test func aPathThatIsNotThereIsNotFound() {
        #expect(throwingCode { try ContainerAuditor().audit(path: directory.path("none")) } == .notFound)
    }

    @Test func aFileAndALinkAreNotDirectories() throws {
        try directory.file("file", "x")
        try directory.link("link", to: ".")
        for name in ["file", "link"] {
            #expect(throwingCode { try ContainerAuditor().audit(path: directory.path(name)) } == .notADirectory)
        }
    }

    @Test func aGroupWithoutAContainerIsMissingAndNothingIsMade() throws {
        let sandbox = try AuditSandbox()
        #expect(throwingCode { try sandbox.audit() } == .containerMissing)
        #expect(try SystemFile.names(sandbox.directory.path) == [])
    }

    @Test func aLinkInAContainersPlaceIsNotADirectory() throws {
        let sandbox = try AuditSandbox()
        _ = try sandbox.store()
        try #require(rename(sandbox.container, sandbox.directory.path("moved")) == 0)
        try #require(symlink(sandbox.directory.path("moved"), sandbox.container) == 0)
        #expect(throwingCode { try sandbox.audit() } == .notADirectory)
    }
}
