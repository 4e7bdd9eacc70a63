import ContainerAudit
import TestSupport
import Testing

@Suite struct InlineAllowanceTests {
    let yard: ScanYard
    init() throws { yard = try ScanYard() }

    @Test(arguments: ["# sealaudit:allow", "# sealaudit:allow=token.aws", "// sealaudit:allow=x.y,token.aws, since"])
    func aLineMayAllowWhatIsOnIt(comment: String) throws {
        try yard.put("notes.txt", "key: \(ScanYard.secret(1)) \(comment)\nkey: \(ScanYard.secret(2))\n")
        let report = try yard.audit()
        #expect(report.findings.filter { $0.id == ScanYard.check }.map(\.location?.line) == [2])
        #expect(report.omissions.allowedInline == 1)
    }

    @Test(arguments: [
        "# sealaudit:allow=token.gitlab", "# sealaudit:allow=token.aw", "# sealaudit allow",
        "# sealaudit:allowance is not given", "# sealaudit:allow-list",
        "# sealaudit:allow = none", "# sealaudit:allow= token.aws",
    ])
    func whatALineDoesNotNameIsFound(comment: String) throws {
        try yard.put("notes.txt", "key: \(ScanYard.secret(1)) \(comment)\n")
        #expect(try yard.secrets().count == 1)
    }
}
