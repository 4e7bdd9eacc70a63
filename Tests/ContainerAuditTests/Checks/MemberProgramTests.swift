import AppGroups
import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct MemberProgramTests {
    let yard: AuditYard
    init() throws {
        yard = try AuditYard()
        try yard.filled()
    }

    private var program: String { yard.directory.path("widget") }

    /// Registers a program with the entitlements, or with none.
    private func register(_ entitlements: String?) throws {
        try SystemFile.write(program, Array("#!/bin/sh\n".utf8), mode: 0o700)
        if let entitlements {
            let text = "<?xml version=\"1.0\"?>\n<plist version=\"1.0\"><dict>\(entitlements)</dict></plist>"
            try SystemFile.write(program + ".entitlements", Array(text.utf8))
        }
        let member = try GroupMember(applicationIdentifier: "com.example.widget", executablePath: program)
        try GroupRegistry(yard.group, in: yard.home).register(member, entitlements: .unchecked)
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
        let report = try yard.audit()
        #expect(report.ids == ids)
        #expect(report.findings.first?.path == program + ".entitlements")
    }

    @Test(
        arguments: [
            nil, own, own + "<key>get-task-allow</key><false/>",
            own + "<key>keychain-access-groups</key><array><string>ABCDE12345.shared</string></array>",
            own + "<key>keychain-access-groups</key><array><string>$(AppIdentifierPrefix)shared</string></array>",
        ] as [String?])
    func aMemberWithTheGroupOrWithoutAnyIsAsItShouldBe(entitlements: String?) throws {
        try register(entitlements)
        #expect(try yard.audit().ids == [])
    }

    @Test func aMemberThatIsGoneIsGoodToKnow() throws {
        try register(nil)
        try #require(unlink(program) == 0)
        let report = try yard.audit()
        #expect(report.ids == ["registry.member-gone"])
        #expect(report.isClean)
    }

    @Test func aCopyThatSaysSomethingElseIsFound() throws {
        try register(nil)
        let copy = try SystemFile.read(yard.path(".sealedstate.container"))
        let member = try GroupMember(applicationIdentifier: "com.example.second", executablePath: program)
        try GroupRegistry(yard.group, in: yard.home).register(member, entitlements: .unchecked)
        #expect(try yard.audit().ids == [])
        // Only looks: the store's opening would put the copy right.
        try SystemFile.write(yard.path(".sealedstate.container"), copy)
        #expect(try yard.audit().ids == ["registry.copy-differs"])
    }
}
