import ContainerAudit
import TestSupport
import Testing

/// Tests of repeated values: a value is one finding of its file, at any place and under any names.
@Suite struct OneFindingTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    private func found(in name: String) throws -> [Finding] {
        try sandbox.audit().findings.filter { $0.path == name && $0.id.hasPrefix("plaintext") == false }
    }

    private static func quoted(_ text: String) -> String {
        text.reduce(into: "") { $0 += $1 == "\"" || $1 == "\\" ? "\\\($1)" : String($1) }
    }

    @Test func valuesNestedInATextAreFoundAtTheirInnermostPlace() throws {
        let inner = #"{"user":{"key":"\#(ScanSandbox.secret(1))"}}"#
        let middle = #"{"auth":"\#(Self.quoted(inner))"}"#
        try sandbox.put(
            "state.plist",
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0"><dict><key>persist:root</key><string>\(middle)</string></dict></plist>
            """)
        let findings = try sandbox.secrets()
        #expect(findings.count == 1)
        #expect(findings.first?.location?.place?.hasSuffix("user.key") == true)
        #expect(findings.first?.detail.contains("places") == false)
    }

    @Test func aPrivateKeyInJSONWithinJSONIsOne() throws {
        let key =
            "-----BEGIN EC PRIVATE KEY-----\\nMHcCAQEEIIrYSSNQFaA2Hwf1duRSxKtLYX5CB04fSeQ6tF1aY/PuoAoGCCqGSM49\\n"
            + "AwEHoUQDQgAEPR3tU2Fta9ktY+6P9G0cWO+0kETA6SFs38GecTyudlHz6xvCdz8q\\nEKTcWGekdmdDPsHloRNtsiCa697B2O9IFA==\\n"
            + "-----END EC PRIVATE KEY-----\\n"
        let inner = #"{"pem":"\#(key)"}"#
        try sandbox.put("state.json", #"{"outer":"\#(Self.quoted(inner))"}"#)
        #expect(try found(in: "state.json").filter { $0.id.hasPrefix("key.") }.count == 1)
    }

    @Test func severalNamesOfAValueAreOneFinding() throws {
        let secret = ScanSandbox.secret(2)
        try sandbox.put("state.json", #"{"first":"\#(secret)","second":{"other":"\#(secret)"}}"#)
        let findings = try sandbox.secrets()
        #expect(findings.count == 1 && findings.first?.detail.contains("2 places") == true)
    }

    @Test func theSurerRuleSaysWhatAValueIs() throws {
        let token = "q8Zr2LmX7vTn4KpW9sYb3HdF6gJc"
        try sandbox.put("a.json", #"{"accessToken":"\#(token)","log":"Authorization: Bearer \#(token)"}"#)
        let findings = try found(in: "a.json").filter { $0.path == "a.json" }
        #expect(findings.map(\.id) == ["header.bearer"])
        #expect(findings.first?.detail.contains("2 places") == true)
    }

    @Test func twoValuesInOneTextAreTwo() throws {
        let inner = #"{"a":"\#(ScanSandbox.secret(3))","b":"\#(ScanSandbox.secret(4))"}"#
        try sandbox.put("state.json", #"{"outer":"\#(Self.quoted(inner))","c":"\#(ScanSandbox.secret(5))"}"#)
        let places = try sandbox.secrets().compactMap(\.location?.place)
        #expect(places.count == 3 && places.allSatisfy { $0.hasSuffix("a") || $0.hasSuffix("b") || $0.hasSuffix("c") })
    }

    /// A value that only the outer text has, behind a nested one, is not lost.
    @Test func aSecretOutsideTheNestedTextStays() throws {
        let text = "see \(ScanSandbox.secret(6)) and more"
        try sandbox.put("state.json", #"{"note":"\#(text)","next":{"key":"\#(ScanSandbox.secret(7))"}}"#)
        #expect(try sandbox.secrets().count == 2)
    }

    @Test func findingsIgnoredAtTheirInnermostPlaceStayIgnored() throws {
        let inner = #"{"key":"\#(ScanSandbox.secret(8))"}"#
        try sandbox.put("state.json", #"{"outer":"\#(Self.quoted(inner))"}"#)
        var list = AuditIgnoreList()
        list.add(try sandbox.secrets(), reason: "known", key: try #require(ScanSandbox.key))
        #expect(try sandbox.secrets { $0.ignoring = list }.isEmpty)
    }
}
