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

    @Test func aFileAndALinkAreNoDirectories() throws {
        try directory.file("file", "x")
        try directory.link("link", to: ".")
        for name in ["file", "link"] {
            #expect(throwingCode { try ContainerAuditor().audit(path: directory.path(name)) } == .notADirectory)
        }
    }

    @Test func aGroupWithoutAContainerIsMissingAndNothingIsMade() throws {
        let yard = try AuditYard()
        #expect(throwingCode { try yard.audit() } == .containerMissing)
        #expect(try SystemFile.names(yard.directory.path) == [])
    }

    @Test func aLinkInAContainersPlaceIsNoDirectory() throws {
        let yard = try AuditYard()
        _ = try yard.store()
        try #require(rename(yard.container, yard.directory.path("moved")) == 0)
        try #require(symlink(yard.directory.path("moved"), yard.container) == 0)
        #expect(throwingCode { try yard.audit() } == .notADirectory)
    }
}
