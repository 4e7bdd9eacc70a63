import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of the check's findings for an app and its parts.
@Suite struct CheckSharingTests {
    private static let group = "group.com.example.app"

    @Test func anAppAndItsExtensionWithOneGroupAreClean() throws {
        let project = try CheckProject()
        try project.add("Widget", groups: [Self.group])
        try project.add("App", "application", groups: [Self.group], holds: ["Widget"])
        let report = try project.report()
        #expect(report.findings.isEmpty && report.worst == nil)
        #expect(report.targets.map(\.name) == ["App", "Widget"])
        #expect(report.targets[1].app == "App" && report.targets[1].missingGroups.isEmpty)
    }

    @Test func aGroupOnTheAppAloneIsFoundOnTheExtension() throws {
        let project = try CheckProject()
        try project.add("Widget", access: ["$(AppIdentifierPrefix)com.example.app"])
        try project.add("Share")
        try project.add("App", "application", groups: [Self.group], holds: ["Widget", "Share"])
        let report = try project.report()
        #expect(report.places.sorted() == ["ENT001 Share", "ENT001 Widget"])
        #expect(report.worst == .warning)
        #expect(report.targets.filter { $0.missingGroups == [Self.group] }.map(\.name) == ["Share", "Widget"])
    }

    @Test func aPartOfTheGroupsIsANote() throws {
        let project = try CheckProject()
        try project.add("Widget", groups: [Self.group])
        try project.add("App", "application", groups: [Self.group, "group.com.example.vault"], holds: ["Widget"])
        let report = try project.report()
        #expect(report.places == ["ENT001 Widget"] && report.worst == .note)
        #expect(report.findings[0].subject == "group.com.example.vault")
    }

    @Test func aGroupOnTheExtensionAloneIsFound() throws {
        let project = try CheckProject()
        try project.add("Widget", groups: [Self.group])
        try project.add("App", "application", groups: [], holds: ["Widget"])
        let report = try project.report()
        #expect(report.places == ["ENT002 Widget", "ENT018 App"])
        #expect(report.findings("ENT002")[0].line == 5)
    }

    @Test(arguments: ["group.com.example.App", "group.com.example.ap", "group.com.exmaple.app"])
    func aNameThatIsNearlyTheSameIsAnError(name: String) throws {
        let project = try CheckProject()
        try project.add("Widget", groups: [name])
        try project.add("App", "application", groups: [Self.group], holds: ["Widget"])
        let report = try project.report()
        #expect(report.places == ["ENT003 Widget"] && report.worst == .error)
    }

    @Test func namesOfTwoAppsMayDifferByALetterButNotByCase() throws {
        let project = try CheckProject()
        try project.add("One", "application", groups: [Self.group], ["PRODUCT_BUNDLE_IDENTIFIER": "a.one"])
        try project.add("Two", "application", groups: [Self.group + "2"], ["PRODUCT_BUNDLE_IDENTIFIER": "a.two"])
        #expect(try project.report().findings.isEmpty)
        try project.add("Three", "application", groups: ["group.com.example.App"])
        let report = try project.report()
        #expect(report.places == ["ENT003 Three"] && report.worst == .warning)
    }

    @Test func configurationsThatHoldOtherGroupsAreReportedOnceForTheApp() throws {
        let project = try CheckProject()
        try project.entitlements("Own", groups: ["$(GROUP)"])
        project.settings["GROUP"] = "group.com.example$(SUFFIX)"
        let settings = ["Debug": ["SUFFIX": ".debug"], "*": ["CODE_SIGN_ENTITLEMENTS": "Own.entitlements"]]
        project.add("Widget", .init(settings: settings))
        project.add("App", .init(type: "application", settings: settings, holds: ["Widget"]))
        let report = try project.report()
        #expect(report.places == ["ENT004 App"] && report.worst == .note)
        #expect(
            report.targets.map(\.groups) == [
                ["group.com.example.debug"], ["group.com.example"], ["group.com.example.debug"], ["group.com.example"],
            ])
        #expect(report.targets.map(\.configurations) == [["Debug"], ["Release"], ["Debug"], ["Release"]])
    }

    @Test func aConfigurationWithoutAnyGroupIsAWarning() throws {
        let project = try CheckProject()
        try project.entitlements("Own", groups: [Self.group])
        project.add(
            "App", .init(type: "application", settings: ["Release": ["CODE_SIGN_ENTITLEMENTS": "Own.entitlements"]]))
        let report = try project.report()
        #expect(report.places == ["ENT004 App"] && report.worst == .warning)
    }

    @Test func theDefaultKeyValueStoreIsAnotherForEachTarget() throws {
        let project = try CheckProject()
        let store = "$(TeamIdentifierPrefix)$(CFBundleIdentifier)"
        try project.add("Widget", groups: [Self.group], store: store)
        try project.add("App", "application", groups: [Self.group], store: store, holds: ["Widget"])
        let report = try project.report()
        #expect(report.places == ["ENT005 Widget"])
        #expect(report.findings[0].subject == "ABCDE12345.com.example.app.widget")
    }

    @Test func partsOfAnotherTeamAreAnError() throws {
        let project = try CheckProject()
        try project.add("Widget", groups: [Self.group], ["DEVELOPMENT_TEAM": "ZZZZZ99999"])
        try project.add("App", "application", groups: [Self.group], holds: ["Widget"])
        #expect(try project.report().places == ["ENT006 Widget"])
        #expect(try project.report(team: "ABCDE12345").findings.isEmpty)
    }

    @Test func aWatchAppIsNotComparedWithThePhoneAndItsContainerIsNoted() throws {
        let project = try CheckProject()
        try project.add("Watch", "application", groups: [Self.group], ["SDKROOT": "watchos"])
        try project.add("Bare", "application", ["SDKROOT": "watchos"])
        try project.add("App", "application", groups: [Self.group], holds: ["Watch", "Bare"])
        let report = try project.report()
        #expect(report.places == ["ENT007 Watch"] && report.worst == .note)
        #expect(report.targets.first { $0.name == "Watch" }?.kind == .watchApp)
    }

    @Test func threeAppsInOneGroupAreTooMany() throws {
        let project = try CheckProject()
        for name in ["One", "Two"] {
            try project.add(name, "application", groups: [Self.group], ["PRODUCT_BUNDLE_IDENTIFIER": "a.\(name)"])
        }
        #expect(try project.report().findings.isEmpty)
        try project.add("Three", "application", groups: [Self.group], ["PRODUCT_BUNDLE_IDENTIFIER": "a.three"])
        #expect(try project.report().places == ["ENT008 -"])
    }

    @Test func aSandboxedMacAppAndItsExtensionWithoutGroupShareNothing() throws {
        let project = try CheckProject()
        project.settings["SDKROOT"] = "macosx"
        try project.add("Sync", sandbox: true)
        try project.add("App", "application", sandbox: true, holds: ["Sync"])
        #expect(try project.report().places == ["ENT009 Sync"])
    }

    @Test func aHelperInAnAppIsNotAnAppOfItsOwn() throws {
        let project = try CheckProject()
        project.settings["SDKROOT"] = "macosx"
        try project.add("Helper", "application", groups: ["group.com.example.other"])
        try project.add("App", "application", groups: [Self.group], holds: ["Helper"])
        let report = try project.report()
        #expect(report.places == ["ENT002 Helper"])
        #expect(report.targets.map(\.app) == [nil, "App"])
    }

    @Test func aPlatformHasItsOwnEntitlements() throws {
        let project = try CheckProject()
        project.settings["SUPPORTS_MACCATALYST"] = "YES"
        try project.add("Widget", groups: [Self.group], ["CODE_SIGN_ENTITLEMENTS[sdk=macosx*]": "Mac.entitlements"])
        try project.entitlements("Mac", groups: ["group.com.example.mac"])
        try project.add("App", "application", groups: [Self.group], holds: ["Widget"])
        let report = try project.report()
        #expect(report.places.sorted() == ["ENT001 Widget", "ENT002 Widget"])
        #expect(report.targets.map(\.platforms) == [[.iOS, .macCatalyst], [.iOS], [.macCatalyst]])
    }
}
