import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of the check's findings for names that one app has in more than one place, and for keychain access groups.
@Suite struct CheckVariantTests {
    private static let group = "group.com.example.app"
    private static let access = "$(AppIdentifierPrefix)com.example.shared"

    @Test func anAccessGroupOnTheAppAloneIsANote() throws {
        let project = try CheckProject()
        try project.add("Widget", groups: [Self.group])
        try project.add(
            "App", "application", groups: [Self.group], access: [Self.access, "$(AppIdentifierPrefix)com.example.app"],
            holds: ["Widget"])
        let report = try project.report()
        #expect(report.places == ["ENT019 Widget"] && report.worst == .note)
        #expect(report.targets.map(\.missingAccessGroups) == [[], ["ABCDE12345.com.example.shared"]])
    }

    @Test func twoNamesOfOneListDifferInCase() throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: [Self.group, "group.com.example.App"])
        let report = try project.report()
        #expect(report.places == ["ENT003 App"] && report.worst == .warning)
    }

    @Test func aTypingErrorInOneConfigurationIsFound() throws {
        let project = try CheckProject()
        try project.entitlements("One", groups: [Self.group])
        try project.entitlements("Two", groups: ["group.com.exmaple.app"])
        project.add(
            "App",
            .init(
                type: "application",
                settings: [
                    "Debug": ["CODE_SIGN_ENTITLEMENTS": "One.entitlements"],
                    "Release": ["CODE_SIGN_ENTITLEMENTS": "Two.entitlements"],
                ]))
        let report = try project.report()
        #expect(report.places == ["ENT003 App", "ENT004 App"] && report.worst == .warning)
        #expect(report.findings[0].subject == "group.com.exmaple.app")
    }

    @Test func anAppOfTwoTargetsIsOneApp() throws {
        let project = try CheckProject()
        let store = "$(TeamIdentifierPrefix)com.example"
        try project.add("App", "application", groups: [Self.group], store: store + ".app")
        try project.add(
            "Mac", "application", groups: ["group.com.exmaple.app"], store: store + ".mac", ["SDKROOT": "macosx"])
        #expect(try project.report().places == ["ENT003 Mac", "ENT005 Mac"])
    }

    @Test func entitlementsThatAreNotThereAreNotKnown() throws {
        let project = try CheckProject()
        try project.add("App", "application", ["CODE_SIGN_ENTITLEMENTS": String(repeating: "x/", count: 20_000)])
        let report = try project.report()
        #expect(report.places == ["ENT020 App"] && report.targets.map(\.isReadable) == [false])
        #expect(report.findings[0].detail.utf8.count < 1_000)
    }

    @Test func aProjectOfLibrariesIsReportedAsOne() throws {
        let project = try CheckProject()
        try project.add("Core", "framework")
        let report = try project.report()
        #expect(report.targets.isEmpty && report.projects.count == 1 && report.notes.count == 1)
    }
}
