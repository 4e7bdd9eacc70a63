import ContainerAudit
import TestSupport
import Testing

@Suite struct InlineAllowanceTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    @Test(arguments: ["# sealaudit:allow", "# sealaudit:allow=token.aws", "// sealaudit:allow=x.y,token.aws, since"])
    func aLineMayAllowWhatIsOnIt(comment: String) throws {
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(1)) \(comment)\nkey: \(ScanSandbox.secret(2))\n")
        let report = try sandbox.audit()
        #expect(report.findings.filter { $0.id == ScanSandbox.check }.map(\.location?.line) == [2])
        #expect(report.omissions.allowedInline == 1)
    }

    @Test(arguments: [
        "# sealaudit:allow=token.gitlab", "# sealaudit:allow=token.aw", "# sealaudit allow",
        "# sealaudit:allowance is not given", "# sealaudit:allow-list",
        "# sealaudit:allow = none", "# sealaudit:allow= token.aws",
    ])
    func secretsThatALineDoesNotNameAreFound(comment: String) throws {
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(1)) \(comment)\n")
        #expect(try sandbox.secrets().count == 1)
    }
}
