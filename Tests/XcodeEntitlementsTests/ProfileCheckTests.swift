import AppGroups
import PropertyLists
import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of the comparison of profiles with targets, and of its limits.
@Suite struct ProfileCheckTests {
    private static let group = "group.com.example.app"

    /// Adds a profile of team `ABCDE12345` to the project's folder, valid until 2030.
    private static func add(
        _ name: String, to project: CheckProject, platforms: [String] = ["iOS"], appID: String = "com.example.app",
        groups: [String] = [], access: [String] = ["ABCDE12345.*"], store: String? = nil
    ) throws {
        let texts = { (texts: [String]) in PropertyListValue.array(texts.map { .string($0) }) }
        var entitlements: [String: PropertyListValue] = [
            "application-identifier": .string("ABCDE12345.\(appID)"), EntitlementKey.applicationGroups: texts(groups),
            EntitlementKey.keychainAccessGroups: texts(access),
        ]
        entitlements[EntitlementKey.keyValueStoreIdentifier] = store.map { .string($0) }
        let bytes = try ProfileForge.profile([
            "Name": .string(name), "UUID": .string("uuid of \(name)"), "Platform": texts(platforms),
            "TeamIdentifier": texts(["ABCDE12345"]), "ApplicationIdentifierPrefix": texts(["ABCDE12345"]),
            "Entitlements": .dictionary(entitlements),
            "ExpirationDate": .date(try ProfileFixture.date("2030-01-01T00:00:00Z")),
        ])
        try SystemFile.write(project.directory.path("\(name).mobileprovision"), bytes, mode: 0o600)
    }

    @Test func aTargetOfTwoPlatformsIsComparedWithTheProfileOfEach() throws {
        let project = try CheckProject()
        try project.entitlements("Mac", groups: ["$(TeamIdentifierPrefix)com.example.app"])
        try project.add(
            "App", "application", groups: [Self.group],
            [
                "SUPPORTED_PLATFORMS": "iphoneos iphonesimulator macosx",
                "CODE_SIGN_ENTITLEMENTS[sdk=macosx*]": "Mac.entitlements",
            ])
        try Self.add("Phone", to: project, groups: [Self.group])
        try Self.add("Mac", to: project, platforms: ["OSX"])
        let report = try project.report()
        #expect(report.profiles.count == 2)
        #expect(report.findings("ENT030").isEmpty && report.findings("ENT039").isEmpty)
    }

    @Test(arguments: [("iphoneos", "OSX", 1), ("macosx", "OSX", 0), ("appletvos", "iOS", 1), ("watchos", "iOS", 0)])
    func aProfileOfAnotherPlatformFitsNoTarget(_ sdk: String, _ platform: String, _ unused: Int) throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: ["ABCDE12345.a"], ["SDKROOT": sdk])
        try Self.add("Other", to: project, platforms: [platform])
        #expect(try project.report().findings("ENT039").count == unused)
    }

    @Test(arguments: ["Store", "uuid of Store", "ABCDE12345/Store"])
    func aTargetThatNamesAProfileIsComparedWithNoOther(_ named: String) throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: [Self.group], ["PROVISIONING_PROFILE_SPECIFIER": named])
        try Self.add("Store", to: project, groups: [Self.group])
        try Self.add("Old", to: project, appID: "com.example.*")
        let report = try project.report()
        #expect(report.findings("ENT030").isEmpty)
        #expect(report.findings("ENT039").map(\.subject) == ["Old"])
    }

    @Test(arguments: [("com.example.*", true), ("com.example.app", true), ("com.example.app.*", false), ("*", false)])
    func anAppIDCoversATargetAsItDoesOnADevice(_ appID: String, _ isCovered: Bool) throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: [Self.group])
        try Self.add("Profile", to: project, appID: appID)
        #expect(try project.report().findings("ENT030").count == (isCovered ? 1 : 0))
    }

    @Test func anOpenTeamIsTheProfiles() throws {
        let project = try CheckProject()
        project.settings["DEVELOPMENT_TEAM"] = ""
        try project.add(
            "App", "application", groups: [Self.group],
            access: ["$(AppIdentifierPrefix)com.example.x", "$(AppIdentifierPrefix)com.example.held"],
            store: "$(TeamIdentifierPrefix)com.example.x")
        try Self.add(
            "Profile", to: project, groups: [Self.group], access: ["ABCDE12345.com.example.held"],
            store: "ABCDE12345.com.example.app")
        let report = try project.report()
        #expect(report.findings("ENT031").map(\.subject) == ["ABCDE12345.com.example.x"])
        #expect(report.findings("ENT032").map(\.subject) == ["ABCDE12345.com.example.x"])
    }

    @Test func aProfileWithoutATeamMatchesNoTeam() throws {
        let bytes = try ProfileForge.profile(["Platform": .array([.string("iOS")])])
        let profile = try ProvisioningProfile(parsing: bytes)
        let problems = { (team: String?) in
            profile.problems(at: profile.created, for: ProfileTarget(teamIdentifier: team)).map(\.code)
        }
        #expect(problems("ABCDE12345").contains(.wrongTeam) && !problems(nil).contains(.wrongTeam))
    }

    @Test(arguments: [
        ProfileProblem.Code.expired, .notYetValid, .wrongTeam, .wrongApplication, .groupAbsent, .accessGroupAbsent,
        .keyValueStoreAbsent, .certificateExpired, .noValidCertificate, .signatureRefused,
    ])
    func eachProblemOfAProfileHasARule(_ code: ProfileProblem.Code) {
        #expect(ProfileCheck.rules[code].map(ProjectRule.all.contains) == true)
    }

    #if ProfileSignatures
    @Test func aForgedProfileIsAnError() throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: [Self.group])
        try Self.add("Forged", to: project, groups: [Self.group])
        let report = try project.report()
        #expect(report.findings("ENT040").count == 1 && report.worst == .error)
        #expect(report.notes == ["1 profile: signature refused"])
    }
    #endif
}
