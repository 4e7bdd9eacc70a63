import ContainerAudit
import TestSupport
import Testing

@Suite struct SwitchTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        _ = try sandbox.store()
    }

    private func put(_ entries: String) throws {
        try sandbox.put(
            "Library/Preferences/a.plist",
            "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\(entries)</dict></plist>")
    }

    @Test(
        arguments: [
            ("NSAllowsArbitraryLoads", "<true/>", Severity.medium), ("sslPinningEnabled", "<false/>", .medium),
            ("verify_ssl", "<integer>0</integer>", .medium),
            ("AllowSelfSignedCertificates", "<string>YES</string>", .medium),
            ("debugMode", "<true/>", .low), ("encryptionEnabled", "<false/>", .medium),
            ("skip-login", "<true/>", .medium),
        ])
    func aProtectionThatIsSwitchedOffIsFound(name: String, value: String, severity: Severity) throws {
        try put("<key>\(name)</key>\(value)")
        let finding = try #require(try sandbox.audit().finding("switch.insecure"))
        #expect(finding.severity == severity)
        #expect(finding.location?.place?.contains(name) == true)
    }

    @Test(
        arguments: [
            ("isJailbroken", "<false/>"), ("biometricsEnabled", "<true/>"), ("isPremium", "<false/>"),
            ("ZISADMIN", "<integer>1</integer>"), ("requires_passcode", "<string>true</string>"),
        ])
    func aDecisionInAFileThatOthersMayChangeIsFound(name: String, value: String) throws {
        try put("<key>\(name)</key>\(value)")
        #expect(try sandbox.audit().finding("switch.editable")?.severity == .low)
    }

    @Test(
        arguments: [
            ("NSAllowsArbitraryLoads", "<false/>"), ("sslPinningEnabled", "<true/>"), ("darkMode", "<true/>"),
            ("isPremium", "<string>gold</string>"), ("notificationsEnabled", "<true/>"),
            ("premium", "<integer>7</integer>"),
            ("lockedOrientation", "<true/>"), ("hasSeenIntro", "<true/>"), ("adminEmail", "<string>no</string>"),
        ])
    func aSettingOfAnotherKindIsIgnored(name: String, value: String) throws {
        try put("<key>\(name)</key>\(value)")
        #expect(try sandbox.audit().findings.filter { $0.id.hasPrefix("switch.") } == [])
    }

    @Test func aSwitchInManyPlacesOfAFileIsOneFinding() throws {
        let rows = (0..<50).map { _ in "<dict><key>isAdmin</key><false/></dict>" }.joined()
        try put("<key>users</key><array>\(rows)</array>")
        #expect(try sandbox.audit().findings.count { $0.id == "switch.editable" } == 1)
    }
}
