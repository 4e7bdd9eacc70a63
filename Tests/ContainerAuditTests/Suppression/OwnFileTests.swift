import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct OwnFileTests {
    let sandbox: ScanSandbox
    init() throws {
        sandbox = try ScanSandbox()
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(1))\n")
    }

    private func audit(_ name: String, _ use: AuditOwnFile.Use) throws -> AuditReport {
        let file = try #require(AuditOwnFile(path: sandbox.directory.path(name), use: use))
        return try sandbox.audit { $0.ownFiles = [file] }
    }

    private func listed() throws -> AuditIgnoreList {
        var list = AuditIgnoreList()
        list.add(try sandbox.audit().findings, reason: "", key: try #require(ScanSandbox.key))
        return list
    }

    @Test func aFingerprintIsNotASecret() throws {
        try sandbox.put(
            "list",
            "v1:token.github:0f4c1d6e8f0a4b7c9d2e3f405162738a\ntoken = v1:a.b:0f4c1d6e8f0a4b7c9d2e3f405162738a\n")
        try sandbox.put("list.json", #"{"token":"v1:token.github:0f4c1d6e8f0a4b7c9d2e3f405162738a"}"#)
        let others = try sandbox.audit().findings.filter { $0.path != "notes.txt" }
        #expect(Set(others.map(\.id)) == ["plaintext.file"])
        // The same letters without the prefix of a fingerprint.
        try sandbox.put("list.json", #"{"token":"0f4c1d6e8f0a4b7c9d2e3f405162738a"}"#)
        #expect(try sandbox.audit().findings.contains { $0.path == "list.json" && $0.id == "field.token" })
    }

    @Test func anIgnoreListInUseIsNotAFindingUnderAnyName() throws {
        let list = try listed()
        try sandbox.put("x", list.text)
        chmod(sandbox.directory.path("x"), 0o664)
        let report = try audit("x", .ignoreList)
        #expect(report.findings.allSatisfy { $0.path != "x" })
        #expect(report.files.first { $0.path == "x" }?.kind == .auditFile)
        #expect(report.notes.contains { $0.contains("own plaintext files") && $0.contains("x") })
        #expect(report.plaintextBytes == report.files.first { $0.path == "notes.txt" }?.size)
    }

    @Test func aBaselineInUseIsNotAFinding() throws {
        let baseline = AuditBaseline(of: try sandbox.audit(), key: try #require(ScanSandbox.key))
        try sandbox.put("x", String(decoding: try baseline.json(), as: UTF8.self))
        #expect(try audit("x", .baseline).findings.allSatisfy { $0.path != "x" })
    }

    @Test(arguments: [AuditOwnFile.Use.ignoreList, .baseline]) func aFileThatIsNotASuppressionListIsAFinding(
        use: AuditOwnFile.Use
    ) throws {
        try sandbox.put("x", "password = vN7!qz_Lr3#d\n")
        #expect(try audit("x", use).findings.filter { $0.path == "x" }.count >= 2)
    }

    @Test func aBaselineSaysHowMuchOfItIsGone() throws {
        try sandbox.put("gone.txt", "key: \(ScanSandbox.secret(2))\n")
        let baseline = AuditBaseline(of: try sandbox.audit(), key: try #require(ScanSandbox.key))
        #expect(try !sandbox.audit { $0.baseline = baseline }.notes.contains { $0.contains("not found any more") })
        unlink(sandbox.directory.path("gone.txt"))
        let notes = try sandbox.audit { $0.baseline = baseline }.notes
        #expect(notes.contains { $0.hasPrefix("2 findings of the baseline are not found any more") })
    }

    @Test func anEntryOfAnUnknownKeyIsNotReportedAsUnused() throws {
        let zeros = String(repeating: "0", count: 32)
        let id = try #require(ScanSandbox.key).id
        for (text, isTold) in [("v1:a.b:\(zeros)\n", false), ("key: \(id)\nv1:a.b:\(zeros)\n", true)] {
            let list = try AuditIgnoreList(parsing: text)
            let notes = try sandbox.audit { $0.ignoring = list }.notes
            #expect(notes.contains { $0.contains("can be removed") } == isTold)
        }
    }

    @Test func linesForAnIgnoreListReadBack() throws {
        let findings = try sandbox.audit().findings
        let key = try #require(ScanSandbox.key)
        let (text, count) = AuditIgnoreList().addition(of: findings, key: key)
        let list = try AuditIgnoreList(parsing: text)
        #expect(count == findings.count && list.entries.allSatisfy { $0.keyID == key.id })
        #expect(list.addition(of: findings, key: key).count == 0)
        #expect(try sandbox.audit { $0.ignoring = list }.findings.isEmpty)
    }
}
