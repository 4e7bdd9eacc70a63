import ContainerAudit
import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

@Suite struct ReplayTests {
    let sandbox: AuditSandbox
    init() throws { sandbox = try AuditSandbox() }

    @Test func anOlderBlobThatWasPutBackIsAReplay() throws {
        let store = try sandbox.store()
        try store.write(Token(text: "first"))
        let old = try SystemFile.read(sandbox.path(ofRecord: "state"))
        try store.write(Token(text: "second"))
        try sandbox.put("\(AuditSandbox.records)/state.sealed", old)
        let report = try sandbox.audit()
        #expect(report.ids == ["blob.replayed"])
        #expect(report.verdict(ofRecord: "state") == .refused("replayed"))
    }

    //  writer (another home)         auditor (its copy)
    //  writes 1, keeps the blob
    //  writes 2
    //                                puts blob 1 back
    //                                reads what was accepted from disk: replayed
    @Test func statesAcceptedByAnotherProcessCount() throws {
        let store = try sandbox.store()
        try store.write(Token(text: "first"))
        let old = try SystemFile.read(sandbox.path(ofRecord: "state"))
        try store.write(Token(text: "second"))
        let other = try AuditSandbox(copying: sandbox)
        try other.put("\(AuditSandbox.records)/state.sealed", old)
        #expect(try other.audit().ids == ["blob.replayed"])
    }

    @Test func aWriteOfARealChildIsRemembered() throws {
        let write = { (number: String) in
            let words = [
                "store-write", sandbox.directory.path("home"), sandbox.group.identifier, number, "10", "durable",
            ]
            return try ChildProcess.run("sealed-probe", words).outputText
        }
        #expect(try write("1") == "written 1\n")
        let old = try SystemFile.read(sandbox.path(ofRecord: "probe"))
        #expect(try write("2") == "written 2\n")
        try sandbox.put("\(AuditSandbox.records)/probe.sealed", old)
        #expect(try sandbox.audit().ids == ["blob.replayed"])
    }

    @Test func anAuditRemembersNothing() throws {
        let store = try sandbox.filled()
        let newer = try store.seal("x", as: "state", sequence: 9)
        let current = try SystemFile.read(sandbox.path(ofRecord: "state"))
        try sandbox.put("\(AuditSandbox.records)/state.sealed", newer)
        #expect(try sandbox.audit().ids == [])
        try sandbox.put("\(AuditSandbox.records)/state.sealed", current)
        #expect(try sandbox.audit().ids == [])
        #expect(try store.read(Token.self).text == "second")
    }

    // A copy has another path, so the remembered states of the original do not count.
    @Test func firstContactIsReported() throws {
        try sandbox.filled()
        let other = try AuditSandbox(copying: sandbox)
        try forget(other)
        let report = try other.audit()
        #expect(report.isClean && report.withKeys)
        #expect(report.notes.count == 1)
    }

    @Test func lostMemoryOfReadersIsAFinding() throws {
        try sandbox.filled()
        let other = try AuditSandbox(copying: sandbox)
        // By a child: this process does not forget its accepted states.
        let words = ["store-write", other.directory.path("home"), other.group.identifier, "1", "10", "durable"]
        #expect(try ChildProcess.run("sealed-probe", words).outputText == "written 1\n")
        try forget(other)
        #expect(try other.audit().ids == ["watermarks.lost"])
    }

    private func forget(_ sandbox: AuditSandbox) throws {
        for name in try SystemFile.names(sandbox.directory.path("home/Watermarks")) {
            try #require(unlink(sandbox.directory.path("home/Watermarks/\(name)")) == 0)
        }
    }

    @Test func damagedMemoryOfReadersIsAFinding() throws {
        try sandbox.filled()
        let other = try AuditSandbox(copying: sandbox)
        let name = try #require(try SystemFile.names(other.directory.path("home/Watermarks")).first)
        try other.change(other.directory.path("home/Watermarks/\(name)")) { $0[24] ^= 1 }
        #expect(try other.audit().ids == ["watermarks.damaged"])
    }
}
