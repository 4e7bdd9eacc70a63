import AppGroups
import ContainerAudit
import Glibc
import KeyVault
import TestSupport
import Testing

@Suite struct MemberProgramTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        try sandbox.filled()
    }

    private var program: String { sandbox.directory.path("widget") }

    /// Registers a program with the entitlements, or without any.
    private func register(_ entitlements: String?) throws {
        try SystemFile.write(program, Array("#!/bin/sh\n".utf8), mode: 0o700)
        if let entitlements {
            let text = "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\(entitlements)</dict></plist>"
            try SystemFile.write(program + ".entitlements", Array(text.utf8))
        }
        let member = try GroupMember(applicationIdentifier: "com.example.widget", executablePath: program)
        try GroupRegistry(sandbox.group, in: sandbox.home).register(member, entitlements: .unchecked)
    }

    private static func groups(_ name: String) -> String {
        "<key>com.apple.security.application-groups</key><array><string>\(name)</string></array>"
    }

    private static let own = groups("group.com.example.audit")

    @Test(
        arguments: [
            (groups("group.com.example.other"), ["entitlements.group-missing"]),
            (groups("no group"), ["entitlements.unusable"]),
            (
                own + "<key>keychain-access-groups</key><array><string>ABCDE12345.*</string></array>",
                ["entitlements.wildcard"]
            ),
            (own + "<key>get-task-allow</key><true/>", ["entitlements.debuggable"]),
        ])
    func aMembersEntitlementsAreJudged(entitlements: String, ids: [String]) throws {
        try register(entitlements)
        let report = try sandbox.audit()
        #expect(report.ids == ids)
        #expect(report.findings.first?.path == program + ".entitlements")
        #expect(report.findings.first?.remedy.contains("APPLICATION") == false)
    }

    @Test(
        arguments: [
            nil, own, own + "<key>get-task-allow</key><false/>",
            own + "<key>keychain-access-groups</key><array><string>$(AppIdentifierPrefix)shared</string></array>",
        ] as [String?])
    func aMemberWithTheGroupOrWithoutAnyIsAsItShouldBe(entitlements: String?) throws {
        try register(entitlements)
        #expect(try sandbox.audit().ids == [])
    }

    private static let shared =
        own + "<key>keychain-access-groups</key><array><string>ABCDE12345.shared</string></array>"

    private func makeVault(_ name: String) throws {
        _ = try Vault.create(
            AccessGroup(name), in: sandbox.home, slots: [.defaultKeyFile], openingWith: .defaultKeyFile)
    }

    @Test func anAccessGroupWithoutAVaultIsGoodToKnow() throws {
        try register(Self.shared)
        let report = try sandbox.audit()
        #expect(report.ids == ["entitlements.vault-missing"])
        #expect(report.isClean)
        #expect(
            report.findings.first?.remedy.hasSuffix("sealctl vault create --access-group ABCDE12345.shared") == true)
        try makeVault("ABCDE12345.shared")
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aVaultOfTheTeamThatNoMemberMayUseIsGoodToKnow() throws {
        try register(Self.shared)
        for name in ["ABCDE12345.shared", "ABCDE12345.other", "ZZZZZ12345.other"] { try makeVault(name) }
        let report = try sandbox.audit()
        #expect(report.ids == ["vault.not-entitled"])
        #expect(report.findings.first?.path.hasSuffix("/ABCDE12345.other") == true)
        try register(nil)
        try #require(unlink(program + ".entitlements") == 0)
        #expect(try sandbox.audit().ids == [])
    }

    @Test func aMemberThatIsGoneIsGoodToKnow() throws {
        try register(nil)
        try #require(unlink(program) == 0)
        let report = try sandbox.audit()
        #expect(report.ids == ["registry.member-gone"])
        #expect(report.isClean)
    }

    @Test func aDifferentCopyIsFound() throws {
        try register(nil)
        let copy = try SystemFile.read(sandbox.path(".sealedstate.container"))
        let member = try GroupMember(applicationIdentifier: "com.example.second", executablePath: program)
        try GroupRegistry(sandbox.group, in: sandbox.home).register(member, entitlements: .unchecked)
        #expect(try sandbox.audit().ids == [])
        // Only an inspection: opening the store would repair the copy.
        try SystemFile.write(sandbox.path(".sealedstate.container"), copy)
        #expect(try sandbox.audit().ids == ["registry.copy-differs"])
    }
}
