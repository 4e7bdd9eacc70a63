import ContainerAudit
import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

@Suite struct ReplayTests {
    let yard: AuditYard
    init() throws { yard = try AuditYard() }

    @Test func anOlderBlobThatWasPutBackIsAReplay() throws {
        let store = try yard.store()
        try store.write(Token(text: "first"))
        let old = try SystemFile.read(yard.path(ofRecord: "state"))
        try store.write(Token(text: "second"))
        try yard.put("\(AuditYard.records)/state.sealed", old)
        let report = try yard.audit()
        #expect(report.ids == ["blob.replayed"])
        #expect(report.verdict(ofRecord: "state") == .refused("replayed"))
    }

    //  writer (another home)         auditor (its copy)
    //  writes 1, keeps the blob
    //  writes 2
    //                                puts blob 1 back
    //                                reads what was accepted from disk: replayed
    @Test func whatAnotherProcessAcceptedCounts() throws {
        let store = try yard.store()
        try store.write(Token(text: "first"))
        let old = try SystemFile.read(yard.path(ofRecord: "state"))
        try store.write(Token(text: "second"))
        let other = try AuditYard(copying: yard)
        try other.put("\(AuditYard.records)/state.sealed", old)
        #expect(try other.audit().ids == ["blob.replayed"])
    }

    @Test func aWriteOfARealChildIsRemembered() throws {
        let write = { (number: String) in
            let words = ["store-write", yard.directory.path("home"), yard.group.identifier, number, "10", "durable"]
            return try ChildProcess.run("sealed-probe", words).outputText
        }
        #expect(try write("1") == "written 1\n")
        let old = try SystemFile.read(yard.path(ofRecord: "probe"))
        #expect(try write("2") == "written 2\n")
        try yard.put("\(AuditYard.records)/probe.sealed", old)
        #expect(try yard.audit().ids == ["blob.replayed"])
    }

    @Test func anAuditRemembersNothing() throws {
        let store = try yard.filled()
        let newer = try store.seal("x", as: "state", sequence: 9)
        let current = try SystemFile.read(yard.path(ofRecord: "state"))
        try yard.put("\(AuditYard.records)/state.sealed", newer)
        #expect(try yard.audit().ids == [])
        try yard.put("\(AuditYard.records)/state.sealed", current)
        #expect(try yard.audit().ids == [])
        #expect(try store.read(Token.self).text == "second")
    }

    // A copy has another path, so the remembered states of the original do not count.
    @Test func firstContactIsSaid() throws {
        try yard.filled()
        let other = try AuditYard(copying: yard)
        try forget(other)
        let report = try other.audit()
        #expect(report.isClean && report.withKeys)
        #expect(report.notes.count == 1)
    }

    @Test func lostMemoryOfReadersIsAFinding() throws {
        try yard.filled()
        let other = try AuditYard(copying: yard)
        // By a child: this process does not forget its accepted states.
        let words = ["store-write", other.directory.path("home"), other.group.identifier, "1", "10", "durable"]
        #expect(try ChildProcess.run("sealed-probe", words).outputText == "written 1\n")
        try forget(other)
        #expect(try other.audit().ids == ["watermarks.lost"])
    }

    private func forget(_ yard: AuditYard) throws {
        for name in try SystemFile.names(yard.directory.path("home/Watermarks")) {
            try #require(unlink(yard.directory.path("home/Watermarks/\(name)")) == 0)
        }
    }

    @Test func damagedMemoryOfReadersIsAFinding() throws {
        try yard.filled()
        let other = try AuditYard(copying: yard)
        let name = try #require(try SystemFile.names(other.directory.path("home/Watermarks")).first)
        try other.change(other.directory.path("home/Watermarks/\(name)")) { $0[24] ^= 1 }
        #expect(try other.audit().ids == ["watermarks.damaged"])
    }
}
