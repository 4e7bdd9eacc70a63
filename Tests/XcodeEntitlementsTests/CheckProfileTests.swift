import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of the check's findings for profiles; those of `Fixtures/profiles` are for `ABCDE12345.com.example.app`.
@Suite struct CheckProfileTests {
    private static func report(
        _ profile: String, groups: [String] = ["group.com.example.app"], access: [String]? = nil,
        _ settings: [String: String] = [:]
    ) throws -> ProjectReport {
        let project = try CheckProject()
        try project.add("App", "application", groups: groups, access: access, settings)
        return try project.report(profiles: [ProfileFixture.path(profile)])
    }

    @Test func aProfileThatAllowsEverythingSaysNothing() throws {
        let report = try Self.report("app-store.mobileprovision", access: ["$(AppIdentifierPrefix)com.example.app"])
        #expect(report.findings.isEmpty && report.profiles.count == 1)
        #expect(report.notes == ["1 profile: signature not checked"])
    }

    @Test func aGroupOutsideTheProfileIsAnError() throws {
        let report = try Self.report("app-store.mobileprovision", groups: ["group.com.example.app", "group.a.b"])
        #expect(report.places == ["ENT030 App"])
        #expect(report.findings[0].path.hasSuffix("App.entitlements") && report.findings[0].line == 6)
    }

    @Test func anAccessGroupOfAnotherTeamIsOutside() throws {
        let report = try Self.report("app-store.mobileprovision", access: ["ZZZZZ99999.com.example.app"])
        #expect(report.places.sorted() == ["ENT015 App", "ENT031 App"])
    }

    @Test func anExpiredProfileIsReportedOnce() throws {
        #expect(try Self.report("expired.mobileprovision").findings("ENT033").count == 1)
    }

    @Test func aProfileOfAnotherTeamIsAnError() throws {
        let report = try Self.report("app-store.mobileprovision", ["DEVELOPMENT_TEAM": "ZZZZZ99999"])
        #expect(report.places.contains("ENT035 App"))
    }

    @Test func aProfileThatIsNamedButForAnotherAppIsAnError() throws {
        let name = try ProfileFixture.profile("app-store.mobileprovision").name
        let report = try Self.report(
            "app-store.mobileprovision",
            ["PROVISIONING_PROFILE_SPECIFIER": name, "PRODUCT_BUNDLE_IDENTIFIER": "com.example.other"])
        #expect(report.places == ["ENT036 App"])
    }

    @Test func aProfileThatFitsNoTargetIsANote() throws {
        let report = try Self.report(
            "app-store.mobileprovision", ["PRODUCT_BUNDLE_IDENTIFIER": "com.example.other"])
        #expect(report.places == ["ENT039 -"] && report.worst == .note)
    }

    @Test func anInvalidProfileIsRefused() throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: ["group.com.example.app"])
        try project.directory.file("App.mobileprovision", "nothing")
        #expect(try project.report().places == ["ENT038 -"])
    }
}
