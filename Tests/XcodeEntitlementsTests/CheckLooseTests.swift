import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of entitlements without a project, profiles, and paths.
@Suite struct CheckLooseTests {
    private let directory: TemporaryDirectory

    init() throws { directory = try TemporaryDirectory() }

    private func write(_ folder: String, groups: [String], info: String?) throws {
        try directory.directory(folder)
        let list = groups.map { "<string>\($0)</string>" }.joined()
        try directory.file(
            "\(folder)/\(folder).entitlements",
            "<plist version=\"1.0\"><dict><key>com.apple.security.application-groups</key><array>\(list)</array></dict></plist>"
        )
        if let info {
            try directory.file("\(folder)/Info.plist", "<plist version=\"1.0\"><dict>\(info)</dict></plist>")
        }
    }

    private func report(_ paths: [String]? = nil) throws -> ProjectReport {
        try ProjectCheck().run(paths ?? [directory.path], at: try ProfileFixture.date())
    }

    private static let app = "<key>CFBundlePackageType</key><string>APPL</string>"
    private static let widget = "<key>NSExtension</key><dict/>"

    @Test func anInfoFileShowsWhoseEntitlementsTheyAre() throws {
        try write("App", groups: ["group.a.b"], info: Self.app)
        try write("Widget", groups: ["group.a.c"], info: Self.widget)
        let report = try report()
        #expect(report.targets.map(\.kind) == [.app, .appExtension])
        #expect(report.places == ["ENT003 Widget"])
    }

    @Test func withoutAnInfoFileNothingIsCompared() throws {
        try write("App", groups: ["group.a.b"], info: nil)
        try write("Widget", groups: ["group.c.d"], info: nil)
        let report = try report()
        #expect(report.findings.isEmpty && report.targets.map(\.kind) == [.unknown, .unknown])
    }

    @Test func twoAppsAtTheSameDistanceClaimNoExtension() throws {
        try write("App", groups: ["group.a.b"], info: Self.app)
        try write("Other", groups: ["group.c.d"], info: Self.app)
        try write("Widget", groups: ["group.e.f"], info: Self.widget)
        #expect(try report().findings.isEmpty)
    }

    @Test func aSettingWithoutAProjectIsANote() throws {
        try write("App", groups: ["group.$(APP_ID)"], info: nil)
        let report = try report()
        #expect(report.places == ["ENT017 App"] && report.worst == .note)
    }

    @Test(arguments: ["Pods", "node_modules", "DerivedData", ".git", "Old.xcarchive"])
    func copiesAndProductsAreLeftOut(folder: String) throws {
        try write(folder, groups: ["nonsense"], info: nil)
        #expect(try report().targets.isEmpty)
    }

    @Test func filesCanBeGivenOneByOne() throws {
        try write("App", groups: ["group.a.b"], info: nil)
        let report = try report([directory.path("App/App.entitlements")])
        #expect(report.root == directory.path("App") && report.targets.map(\.entitlements) == [["App.entitlements"]])
    }

    @Test func aFifoIsNotWaitedFor() throws {
        try directory.fifo("App.entitlements")
        #expect(try report().targets.isEmpty)
    }

    @Test func linksInACircleEnd() throws {
        try directory.directory("a")
        try directory.link("a/up", to: "..")
        try directory.link("a/App.entitlements", to: "App.entitlements")
        #expect(try report().places == ["ENT022 App"])
    }

    @Test func aPathThatIsNotThereIsTheCallersFault() throws {
        #expect(provisioningFault { _ = try report([directory.path("missing")]) } == .file)
        try directory.file("notes.txt", "")
        #expect(provisioningFault { _ = try report([directory.path("notes.txt")]) } == .notAProject)
    }
}
