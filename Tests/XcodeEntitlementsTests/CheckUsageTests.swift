import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of used entitlements files, and of targets that contain others.
@Suite struct CheckUsageTests {
    private static let group = "group.com.example.app"

    private static func project(naming path: String) throws -> CheckProject {
        let project = try CheckProject()
        try project.add("App", "application", ["CODE_SIGN_ENTITLEMENTS": path])
        return project
    }

    @Test func aSettingOfTheTargetReplacesOnlyItsName() throws {
        let project = try Self.project(naming: "$(TARGET_NAME)/$TARGET_NAME.entitlements")
        for name in ["App", "Old"] {
            try project.directory.directory(name)
            try project.entitlements("\(name)/\(name)", groups: [Self.group])
        }
        let unused = try project.report().findings("ENT023")
        #expect(unused.map(\.path) == ["Old/Old.entitlements"])
    }

    @Test func anUndefinedSettingMatchesAnyTextWithoutAFolder() throws {
        let project = try Self.project(naming: "App$(SUFFIX_$(NONE)).entitlements")
        try project.directory.directory("sub")
        for name in ["App", "AppBeta", "sub/App"] { try project.entitlements(name, groups: [Self.group]) }
        #expect(try project.report().findings("ENT023").map(\.path) == ["sub/App.entitlements"])
    }

    @Test(arguments: [
        ("a$(B)c", "a*c"), ("$B.c", "*.c"), ("${A_$(B)}c", "*c"), ("a$[B:lower]", "a*"), ("a$(b", "a*"), ("a", "a"),
    ])
    func aReferenceBecomesAStar(text: String, pattern: String) {
        #expect(UsedEntitlements.pattern(text) { _ in .init(text: "", undefined: [], emptied: []) } == pattern)
    }

    @Test func aFileBehindALinkToAFolderIsUsed() throws {
        let project = try Self.project(naming: "Shared/App.entitlements")
        try project.directory.directory("Common")
        try project.directory.link("Shared", to: "Common")
        try project.entitlements("Common/App", groups: [Self.group])
        #expect(try project.report().findings.isEmpty)
    }

    @Test func anInfoFileRepresentsTheEntitlementsBesideIt() throws {
        let project = try CheckProject()
        try project.entitlements("App", groups: [Self.group])
        try project.directory.file("Info.plist", "<plist version=\"1.0\"><dict/></plist>")
        let report = try ProjectCheck().run([project.directory.path("Info.plist")], at: try ProfileFixture.date())
        #expect(report.targets.map(\.groups) == [[Self.group]])
    }

    /// The app of one project copies a product of another one.
    private static func twoProjects() throws -> TemporaryDirectory {
        let project = try CheckProject()
        try project.add("App", "application", groups: [group], holds: ["Widget"])
        try project.write()
        let other = try CheckProject()
        try other.add("Widget")
        try other.write()
        let path = "App.xcodeproj/project.pbxproj"
        let text = String(decoding: try SystemFile.read(project.directory.path(path)), as: UTF8.self)
        let proxy = """
            { objects = { RWidget = { isa = PBXReferenceProxy; path = Widget.appex; remoteRef = Proxy; };
              Proxy = { isa = PBXContainerItemProxy; containerPortal = Other; proxyType = 2; \
            remoteGlobalIDString = RWidget; remoteInfo = Widget; };
              Other = { isa = PBXFileReference; path = Sub/App.xcodeproj; sourceTree = SOURCE_ROOT; };
            """
        try project.directory.file(path, text.replacing("{ objects = {", with: proxy))
        try project.directory.directory("Sub")
        try project.directory.directory("Sub/App.xcodeproj")
        let bytes = try SystemFile.read(other.directory.path(path))
        try project.directory.file("Sub/\(path)", String(decoding: bytes, as: UTF8.self))
        return project.directory
    }

    @Test func anExtensionOfAnotherProjectIsComparedWithItsApp() throws {
        let directory = try Self.twoProjects()
        let date = try ProfileFixture.date()
        let report = try ProjectCheck().run([directory.path], at: date)
        #expect(report.places == ["ENT001 Widget"] && report.notes.isEmpty)
        let alone = try ProjectCheck().run([directory.path("App.xcodeproj")], at: date)
        #expect(alone.findings.isEmpty && alone.notes.count == 1)
    }
}
