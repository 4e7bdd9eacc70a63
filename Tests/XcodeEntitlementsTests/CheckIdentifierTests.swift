import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of the check's findings for single identifiers and files.
@Suite struct CheckIdentifierTests {
    @Test(arguments: [
        ("grup.com.example.app", "ENT010"), ("group.com..app", "ENT010"), ("group.", "ENT010"), ("group.*", "ENT010"),
        ("ABCDE12345.app", "ENT011"), ("group.$(NOWHERE)", "ENT017"),
    ])
    func groupsAreJudged(text: String, id: String) throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: [text])
        let report = try project.report()
        #expect(report.places == ["\(id) App"])
        #expect(report.findings[0].line == 5 && report.findings[0].path == "App.entitlements")
    }

    @Test(arguments: [
        ("com.example.app", "ENT012"), ("group.com.example.app", "ENT012"), ("$(AppIdentifierPrefix)*", "ENT014"),
        ("$(AppIdentifierPrefix)my app", "ENT013"), ("ZZZZZ99999.com.example.app", "ENT015"),
    ])
    func accessGroupsAreJudged(text: String, id: String) throws {
        let project = try CheckProject()
        try project.add("App", "application", access: [text])
        #expect(try project.report().places == ["\(id) App"])
    }

    @Test func theGroupOfSmartCardsNeedsNoTeam() throws {
        let project = try CheckProject()
        try project.add("App", "application", access: ["$(AppIdentifierPrefix)com.example.app", "com.apple.token"])
        #expect(try project.report().findings.isEmpty)
    }

    @Test func theMacFormIsRightOnAMac() throws {
        let project = try CheckProject()
        project.settings["SDKROOT"] = "macosx"
        try project.add("App", "application", groups: ["$(TeamIdentifierPrefix)shared", "group.com.example.app"])
        #expect(try project.report().findings.isEmpty)
    }

    @Test func aTeamThatIsNotKnownIsNotAMistake() throws {
        let project = try CheckProject()
        project.settings["DEVELOPMENT_TEAM"] = ""
        try project.add(
            "App", "application", groups: ["group.$(DEVELOPMENT_TEAM).app"], access: ["$(AppIdentifierPrefix)a.b"])
        let report = try project.report()
        #expect(report.findings.isEmpty)
        #expect(report.targets[0].groups == ["group.<team>.app"] && report.targets[0].accessGroups == ["<team>.a.b"])
        #expect(report.targets[0].team == nil)
    }

    @Test func duplicateAndEmptyEntriesAreNotes() throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: ["group.a.b", "group.a.b"], access: [])
        let report = try project.report()
        #expect(report.places.sorted() == ["ENT016 App", "ENT018 App"] && report.worst == .note)
    }

    @Test func aSettingThatIsNearlyAnotherIsNamed() throws {
        let project = try CheckProject()
        project.settings["SHARED_GROUP"] = "group.a.b"
        try project.add("App", "application", groups: ["$(SHARED_GRUOP)"])
        let finding = try #require(try project.report().findings.first)
        #expect(finding.rule.id == "ENT017" && finding.severity == .warning && finding.subject == "SHARED_GRUOP")
        #expect(finding.detail.contains("SHARED_GROUP?"))
    }

    @Test func aSettingOfOtherConfigurationsIsNothing() throws {
        let project = try CheckProject()
        try project.entitlements("Own", groups: ["group.a.b$(SUFFIX)"])
        let settings = ["Debug": ["SUFFIX": ".debug"], "*": ["CODE_SIGN_ENTITLEMENTS": "Own.entitlements"]]
        project.add("App", .init(type: "application", settings: settings))
        #expect(try project.report().places == ["ENT004 App"])
    }

    @Test func aSettingOfAFileThatIsNotThereIsANote() throws {
        let project = try CheckProject()
        project.settingsFile = "Base.xcconfig"
        try project.directory.file("Base.xcconfig", "#include? \"Local.xcconfig\"\n")
        try project.add("App", "application", groups: ["group.$(LOCAL_ID)"])
        let report = try project.report()
        #expect(report.places == ["ENT017 App"] && report.worst == .note)
        try project.directory.file("Local.xcconfig", "LOCAL_ID = a.b\n")
        #expect(try project.report().targets.map(\.groups) == [["group.a.b"]])
    }

    @Test func filesThatAreMissingRefusedOrSpelledOtherwiseAreFound() throws {
        let project = try CheckProject()
        try project.directory.file("Broken.entitlements", "<plist version=\"1.0\"><dict><key>a</key></plist>")
        try project.entitlements("Own", groups: ["group.a.b"])
        try project.entitlements("Unused", groups: ["group.a.b"])
        for (name, path) in [("Lost", "Lost"), ("Broken", "Broken"), ("Case", "OWN")] {
            try project.add(name, "application", ["CODE_SIGN_ENTITLEMENTS": "\(path).entitlements"])
        }
        let report = try project.report()
        #expect(report.places.sorted() == ["ENT020 Lost", "ENT021 Case", "ENT022 Broken", "ENT023 -"])
        #expect(try #require(report.findings("ENT020").first).line != nil)
    }

    @Test func tooManyGroupsAreRefused() throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: (0...1000).map { "group.a.b\($0)" })
        #expect(try project.report().places == ["ENT022 App"])
    }

    @Test func aFileThatATargetMayUseIsNotUnused() throws {
        let project = try CheckProject()
        project.settings["SUFFIX"] = ""
        try project.entitlements("App", groups: ["group.a.b"])
        try project.entitlements("App-dev", groups: ["group.a.b"])
        try project.add("App", "application", ["CODE_SIGN_ENTITLEMENTS": "App$(SUFFIX).entitlements"])
        #expect(try project.report().findings.isEmpty)
    }

    @Test func settingsFilesThatAreMissingAreFoundButNotThoseOfATool() throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: ["group.a.b"])
        project.settingsFile = "Own.xcconfig"
        #expect(try project.report().places == ["ENT025 -"])
        try project.directory.file("Own.xcconfig.template", "")
        #expect(try project.report().worst == .note)
        project.settingsFile = "Pods/Pods.debug.xcconfig"
        #expect(try project.report().findings.isEmpty)
    }

    @Test func aProjectThatCannotBeReadIsAFinding() throws {
        let project = try CheckProject()
        try project.add("App", "application", groups: ["group.a.b"])
        try project.write()
        try project.directory.file("App.xcodeproj/project.pbxproj", "// !$*UTF8*$!\n{\n<<<<<<< HEAD\n")
        let report = try ProjectCheck().run([project.directory.path], at: try ProfileFixture.date())
        #expect(report.places == ["ENT024 -"])
    }
}
