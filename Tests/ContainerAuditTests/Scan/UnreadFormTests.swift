import ContainerAudit
import FoundationEssentials
import TestSupport
import Testing

/// Tests of unread contents: they are reported.
@Suite struct UnreadFormTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    private func put(_ name: String, _ bytes: [UInt8]) throws {
        try SystemFile.write(sandbox.directory.path(name), bytes)
    }

    private static func noise(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 7)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
    }

    private func partly(_ name: String) throws -> Finding? {
        try sandbox.audit().findings.first { $0.id == "content.partly-read" && $0.path == name }
    }

    @Test(
        arguments: [
            [0x50, 0x4B, 3, 4, 20, 0, 0, 0, 8, 0], [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C],
            [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0],
            [0x28, 0xB5, 0x2F, 0xFD], [0x42, 0x5A, 0x68, 0x39, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59],
        ] as [[UInt8]])
    func aCompressedFormIsReported(magic: [UInt8]) throws {
        try put("x", magic + Self.noise(600))
        let finding = try #require(try partly("x"))
        #expect(finding.severity == .info && finding.detail.contains("its compressed form is not read"))
    }

    @Test func aZipThatIsOnlyStoredWasRead() throws {
        try put("x", [0x50, 0x4B, 3, 4, 20, 0, 0, 0, 0, 0] + Self.noise(600))
        #expect(try partly("x") == nil)
    }

    @Test(arguments: [("x.db", true), ("x.sqlite", true), ("x.bin", false)])
    func aDatabaseThatLooksEncryptedIsReported(name: String, isSaid: Bool) throws {
        try put(name, Self.noise(8192))
        #expect(try (partly(name) != nil) == isSaid)
        try put("plain.db", (0..<8192).map { UInt8(truncatingIfNeeded: $0 / 40) })
        #expect(try partly("plain.db") == nil)
    }

    @Test func aNonTextNameIsReportedWithItsBytes() throws {
        let directory = sandbox.directory.path
        let made = try ChildProcess.run("/bin/bash", ["-c", "printf 'key: x' > \(directory)/$'a\\xffb'"])
        try #require(made.exitCode == 0, "\(made.errorText)")
        let finding = try #require(try sandbox.audit().findings.first { $0.id == "file.unexamined" })
        #expect(finding.severity == .medium && finding.remedy.contains("a\\xffb'"))
    }

    @Test func maximumIntegersAreNoLimit() throws {
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(1))\n")
        let report = try sandbox.audit {
            $0.limits.maximumDepth = .max
            $0.limits.maximumEntries = .max
            $0.limits.maximumRecordSize = .max
            $0.limits.maximumSealedBytes = .max
            $0.limits.temporaryGrace = .seconds(Int64.max)
            $0.limits.maximumFileTime = .seconds(Int64.max)
            $0.limits.maximumValues = .max
            $0.limits.maximumNesting = .max
            $0.limits.maximumInflatedBytes = .max
            $0.limits.maximumFindingsPerCheck = .max
            $0.limits.maximumFindings = .max
        }
        #expect(report.findings.filter { $0.id == ScanSandbox.check }.count == 1)
    }

    @Test func aReportSaysWhenItWasMade() throws {
        let began = Date(timeIntervalSince1970: 1_763_695_800.1234)
        let report = try ContainerAuditor(now: { began }).audit(path: sandbox.directory.path)
        #expect(abs(report.auditedAt.timeIntervalSince(began)) < 0.001 && report.finishedAt == report.auditedAt)
        #expect(String(decoding: try report.json(), as: UTF8.self).contains(#""auditedAt":"2025-11-21T03:30:00.123Z""#))
    }

    @Test func columnsAreCountedInCharacters() throws {
        try sandbox.put("notes.txt", "é: \(ScanSandbox.secret(2))\n")
        #expect(try sandbox.secrets().first?.location?.column == 4)
    }

    @Test func holesAreNotPlaintext() throws {
        let path = sandbox.directory.path("sparse")
        let made = try ChildProcess.run("/usr/bin/truncate", ["-s", "64M", path])
        try #require(made.exitCode == 0)
        let file = try #require(try sandbox.audit().files.first { $0.path == "sparse" })
        #expect(file.size == 64 << 20 && file.storedSize < 1 << 20)
    }
}
