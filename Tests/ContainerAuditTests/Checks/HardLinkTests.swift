import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct HardLinkTests {
    let yard: AuditYard
    init() throws {
        yard = try AuditYard()
        try yard.filled()
    }

    @Test func aNameOutsideOfTheContainerIsFound() throws {
        try #require(link(yard.path(ofRecord: "state"), yard.directory.path("elsewhere")) == 0)
        let report = try yard.audit()
        #expect(report.ids == ["hardlink.leaves-container"])
        #expect(report.findings.first?.path == "\(AuditYard.records)/state.sealed")
    }

    @Test func twoNamesInTheContainerAreNoWayOut() throws {
        try yard.put("a", [0, 1, 2, 255])
        try #require(link(yard.path("a"), yard.path("b")) == 0)
        #expect(try !yard.audit().ids.contains("hardlink.leaves-container"))
    }

    @Test func aFileWithTwoNamesHereAndOneOutsideIsOneFinding() throws {
        try yard.put("a", [0, 1, 2, 255])
        try #require(link(yard.path("a"), yard.path("b")) == 0)
        try #require(link(yard.path("a"), yard.directory.path("elsewhere")) == 0)
        #expect(try yard.audit().findings.filter { $0.id == "hardlink.leaves-container" }.map(\.path) == ["a"])
    }
}
