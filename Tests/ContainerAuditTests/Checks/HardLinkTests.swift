import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct HardLinkTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    @Test func aNameOutsideOfTheContainerIsFound() throws {
        try #require(link(sandbox.path(ofRecord: "state"), sandbox.directory.path("elsewhere")) == 0)
        let report = try sandbox.audit()
        #expect(report.ids == ["hardlink.leaves-container"])
        #expect(report.findings.first?.path == "\(AuditSandbox.records)/state.sealed")
    }

    @Test func twoNamesInTheContainerAreNotAFinding() throws {
        try sandbox.put("a", [0, 1, 2, 255])
        try #require(link(sandbox.path("a"), sandbox.path("b")) == 0)
        #expect(try !sandbox.audit().ids.contains("hardlink.leaves-container"))
    }

    @Test func aFileWithTwoNamesHereAndOneOutsideIsOneFinding() throws {
        try sandbox.put("a", [0, 1, 2, 255])
        try #require(link(sandbox.path("a"), sandbox.path("b")) == 0)
        try #require(link(sandbox.path("a"), sandbox.directory.path("elsewhere")) == 0)
        #expect(try sandbox.audit().findings.filter { $0.id == "hardlink.leaves-container" }.map(\.path) == ["a"])
    }
}
