import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct OwnFileTests {
    let yard: ScanYard
    init() throws {
        yard = try ScanYard()
        try yard.put("notes.txt", "key: \(ScanYard.secret(1))\n")
    }

    private func audit(_ name: String, _ use: AuditOwnFile.Use) throws -> AuditReport {
        let file = try #require(AuditOwnFile(path: yard.directory.path(name), use: use))
        return try yard.audit { $0.ownFiles = [file] }
    }

    private func listed() throws -> AuditIgnoreList {
        var list = AuditIgnoreList()
        list.add(try yard.audit().findings, reason: "", key: try #require(ScanYard.key))
        return list
    }

    @Test func aFingerprintIsNoSecret() throws {
        try yard.put(
            "list",
            "v1:token.github:0f4c1d6e8f0a4b7c9d2e3f405162738a\ntoken = v1:a.b:0f4c1d6e8f0a4b7c9d2e3f405162738a\n")
        try yard.put("list.json", #"{"token":"v1:token.github:0f4c1d6e8f0a4b7c9d2e3f405162738a"}"#)
        let others = try yard.audit().findings.filter { $0.path != "notes.txt" }
        #expect(Set(others.map(\.id)) == ["plaintext.file"])
        // The same letters without the prefix of a fingerprint.
        try yard.put("list.json", #"{"token":"0f4c1d6e8f0a4b7c9d2e3f405162738a"}"#)
        #expect(try yard.audit().findings.contains { $0.path == "list.json" && $0.id == "field.token" })
    }

    @Test func anIgnoreListInUseIsNoFindingUnderAnyName() throws {
        let list = try listed()
        try yard.put("x", list.text)
        chmod(yard.directory.path("x"), 0o664)
        let report = try audit("x", .ignoreList)
        #expect(report.findings.allSatisfy { $0.path != "x" })
        #expect(report.files.first { $0.path == "x" }?.kind == .auditFile)
        #expect(report.notes.contains { $0.contains("own files") && $0.contains("x") })
        #expect(report.plaintextBytes == report.files.first { $0.path == "notes.txt" }?.size)
    }

    @Test func aBaselineInUseIsNoFinding() throws {
        let baseline = AuditBaseline(of: try yard.audit(), key: try #require(ScanYard.key))
        try yard.put("x", String(decoding: try baseline.json(), as: UTF8.self))
        #expect(try audit("x", .baseline).findings.allSatisfy { $0.path != "x" })
    }

    @Test(arguments: [AuditOwnFile.Use.ignoreList, .baseline]) func whatIsNeitherIsAFinding(
        use: AuditOwnFile.Use
    ) throws {
        try yard.put("x", "password = vN7!qz_Lr3#d\n")
        #expect(try audit("x", use).findings.filter { $0.path == "x" }.count >= 2)
    }

    @Test func aBaselineSaysHowMuchOfItIsGone() throws {
        try yard.put("gone.txt", "key: \(ScanYard.secret(2))\n")
        let baseline = AuditBaseline(of: try yard.audit(), key: try #require(ScanYard.key))
        #expect(try !yard.audit { $0.baseline = baseline }.notes.contains { $0.contains("not there any more") })
        unlink(yard.directory.path("gone.txt"))
        let notes = try yard.audit { $0.baseline = baseline }.notes
        #expect(notes.contains { $0.hasPrefix("2 findings of the baseline are not there any more") })
    }

    @Test func anEntryOfNobodysKeyIsNotCalledUnused() throws {
        let zeros = String(repeating: "0", count: 32)
        let id = try #require(ScanYard.key).id
        for (text, isTold) in [("v1:a.b:\(zeros)\n", false), ("key: \(id)\nv1:a.b:\(zeros)\n", true)] {
            let list = try AuditIgnoreList(parsing: text)
            let notes = try yard.audit { $0.ignoring = list }.notes
            #expect(notes.contains { $0.contains("can be removed") } == isTold)
        }
    }

    @Test func linesForAnIgnoreListReadBack() throws {
        let findings = try yard.audit().findings
        let key = try #require(ScanYard.key)
        let (text, count) = AuditIgnoreList().addition(of: findings, key: key)
        let list = try AuditIgnoreList(parsing: text)
        #expect(count == findings.count && list.entries.allSatisfy { $0.keyID == key.id })
        #expect(list.addition(of: findings, key: key).count == 0)
        #expect(try yard.audit { $0.ignoring = list }.findings.isEmpty)
    }
}
