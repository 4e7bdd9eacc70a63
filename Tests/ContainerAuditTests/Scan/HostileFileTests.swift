import ContainerAudit
import Glibc
import TestSupport
import Testing

/// Tests of files that could make an audit hang or crash: each costs a line of the report.
@Suite(.timeLimit(.minutes(5))) struct HostileFileTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    @Test func aPipeIsNotOpened() throws {
        try sandbox.directory.fifo("pipe")
        #expect(try sandbox.audit().findings.map(\.id) == ["special.file"])
    }

    @Test func linksThatLeadToEachOtherAreNotFollowed() throws {
        try sandbox.directory.link("a", to: "b")
        try sandbox.directory.link("b", to: "a")
        try sandbox.directory.link("self", to: "self/self")
        try sandbox.directory.link("up", to: ".")
        #expect(try sandbox.audit().files.count == 4)
    }

    @Test func aSecretBehindAHoleOfTenGibibytesIsFound() throws {
        let path = sandbox.directory.path("sparse")
        try SystemFile.write(path, [])
        try #require(truncate(path, 10 << 30) == 0)
        let file = open(path, O_WRONLY | O_APPEND)
        try #require(file >= 0)
        let text = Array("\0key: \(ScanSandbox.secret(1))\n".utf8)
        #expect(write(file, text, text.count) == text.count)
        close(file)
        let report = try sandbox.audit()
        let finding = try #require(report.findings.first { $0.id == ScanSandbox.check })
        #expect(finding.location?.offset == 10_737_418_246)
        #expect(!report.findings.contains { $0.id == "content.partly-read" })
    }

    @Test(arguments: [
        "bplist00\u{1}\u{2}\u{3}", "SQLite format 3\0\u{10}\0\u{1}\u{1}\0", "{\"a\": [[[[",
        "<?xml version='1.0'?><plist><dict>",
        "cook\0\0\0\u{7F}",
    ]) func aDamagedFileIsSearchedOrSaidNotToBe(start: String) throws {
        try sandbox.put("damaged", start + " key: \(ScanSandbox.secret(1)) ")
        let ids = Set(try sandbox.audit().findings.map(\.id))
        #expect(!ids.isDisjoint(with: [ScanSandbox.check, "content.partly-read"]))
    }

    @Test func aFileThatIsGoneOrRefusedIsReported() throws {
        try sandbox.put("notes.txt", "text")
        try #require(chmod(sandbox.directory.path("notes.txt"), 0) == 0)
        let report = try sandbox.audit()
        // Root can read it nevertheless.
        #expect(report.findings.contains { $0.id == (geteuid() == 0 ? "plaintext.file" : "file.unexamined") })
    }
}
