import TestSupport
import Testing

@testable import XcodeEntitlements

@Suite struct XcodeProjectTests {
    private static func fixture(_ name: String) -> String {
        #filePath.split(separator: "/").dropLast(3).reduce(into: "") { $0 += "/\($1)" } + "/Fixtures/xcode/\(name)"
    }

    @Test func theTargetsOfAProjectAreRead() throws {
        let path = Self.fixture("clean/Notes.xcodeproj/project.pbxproj")
        let project = try XcodeProject.read(path)
        #expect(project.name == "Notes" && project.sourceRoot == Self.fixture("clean"))
        #expect(project.targets.map(\.name) == ["Widget", "Watch", "Notes", "NotesTests"])
        #expect(project.targets.map(\.kind) == [.appExtension, .app, .app, .other])
        #expect(project.targets[2].embedded == project.targets[..<2].map(\.id))
        #expect(project.targets[0].configurations.map(\.name) == ["Debug", "Release"])
        #expect(project.targets[1].kind(on: .watchOS) == .watchApp)
    }

    @Test func theFixturesHaveWhatTheirReadmeSays() throws {
        let check = ProjectCheck()
        let clean = try check.run([Self.fixture("clean")], at: try ProfileFixture.date())
        #expect(clean.findings.isEmpty && clean.targets.map(\.name) == ["Notes", "Widget", "Watch"])
        let faulty = try check.run([Self.fixture("faulty")], at: try ProfileFixture.date())
        let readme = String(decoding: try SystemFile.read(Self.fixture("README.md")), as: UTF8.self)
        let listed = readme.split(separator: "\n").filter { $0.hasPrefix("| `ENT") }.map {
            String($0.dropFirst(3).prefix(6))
        }
        #expect(Set(faulty.findings.map(\.rule.id)) == Set(listed))
    }

    @Test(arguments: [
        "", "{", "{ }", "{ objects = x; rootObject = P; }", "{ objects = { }; }", "{ objects = ( ); rootObject = P; }",
        "bplist00", "{ objects = { P = { isa = PBXProject; targets = (P, Q); }; }; rootObject = P;",
    ])
    func whatIsNoProjectIsRefused(text: String) {
        #expect(throws: ProjectFault.self) {
            try XcodeProject(parsing: Array(text.utf8), path: "/a/b.xcodeproj/project.pbxproj")
        }
    }

    @Test(arguments: [
        "{ objects = { }; rootObject = P; }",
        "{ objects = { P = { targets = (P, P); buildConfigurationList = P; buildConfigurations = (P); }; }; rootObject = P; }",
        "{ objects = { P = { targets = (T); }; T = { buildPhases = (T); files = (T); fileRef = T; productReference = T; isa = PBXCopyFilesBuildPhase; dependencies = (T); target = T; }; }; rootObject = P; }",
        """
        { objects = { P = { targets = (T); }; T = { buildConfigurationList = L; }; L = { buildConfigurations = (C); };
          C = { baseConfigurationReference = G; }; G = { path = a; children = (H); }; H = { children = (G); };
        }; rootObject = P; }
        """,
    ])
    func objectsThatReferToThemselvesEnd(text: String) throws {
        let project = try XcodeProject(parsing: Array(text.utf8), path: "/a/b.xcodeproj/project.pbxproj")
        #expect(project.targets.allSatisfy { $0.configurations.count <= 1 })
    }

    @Test func duplicateNamesAreCountedOnce() throws {
        let ids = { (id: String) in String(repeating: "\(id),", count: 30_000) }
        let text = """
            { objects = { P = { targets = (\(ids("T"))); }; T = { buildConfigurationList = L; };
              L = { buildConfigurations = (\(ids("C"))); }; C = { name = x; }; }; rootObject = P; }
            """
        let project = try XcodeProject(parsing: Array(text.utf8), path: "/a/b.xcodeproj/project.pbxproj")
        #expect(project.targets.map(\.configurations.count) == [1])
    }

    @Test func manyTargetsThatShareManySettingsAreRefused() {
        let names = (0..<3_000).map { "T\($0)" }
        let targets = names.map { "\($0) = { buildConfigurationList = M; };" }.joined()
        let settings = (0..<2_000).map { "S\($0) = v;" }.joined()
        let text = """
            { objects = { P = { targets = (\(names.joined(separator: ","))); buildConfigurationList = L; }; \(targets)
              L = { buildConfigurations = (C); }; C = { name = x; buildSettings = { \(settings) }; };
              M = { buildConfigurations = (D); }; D = { name = x; }; }; rootObject = P; }
            """
        #expect(throws: ProjectFault.self) {
            try XcodeProject(parsing: Array(text.utf8), path: "/a/b.xcodeproj/project.pbxproj")
        }
    }

    /// For any contents, reading ends with a project or a fault.
    @Test func aChangedProjectIsReadOrRefusedFuzz() throws {
        let path = Self.fixture("faulty/Diary.xcodeproj/project.pbxproj")
        let bytes = try SystemFile.read(path)
        var random = SeededGenerator(seed: 5)
        var refused = 0
        for _ in 0..<60 {
            var changed = bytes
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                let place = Int.random(in: 0..<changed.count, using: &random)
                changed[place] = UInt8.random(in: 0...255, using: &random)
            }
            do { _ = try XcodeProject(parsing: changed, path: path) } catch { refused += 1 }
        }
        #expect(refused > 0)
    }

    @Test(arguments: [
        ("/a/b", "c", "/a/b/c"), ("/a/b", "../c", "/a/c"), ("/a", "/x/./y//z", "/x/y/z"), ("/a", "../../..", "/"),
        ("/a", "", "/a"), ("a", "../../b", "../b"),
    ])
    func pathsAreJoinedAsText(base: String, path: String, joined: String) {
        #expect(ProjectPath.join(base, path) == joined)
    }

    @Test func theCommonDirectoryHoldsThemAll() {
        #expect(ProjectPath.commonDirectory(of: ["/a/b", "/a/bc"]) == "/a")
        #expect(ProjectPath.commonDirectory(of: ["/a/b", "/a/b/c"]) == "/a/b")
        #expect(ProjectPath.commonDirectory(of: ["/a", "/b"]) == "/")
        #expect(ProjectPath.relative("/a/b/c", to: "/a") == "b/c" && ProjectPath.relative("/ab", to: "/a") == "/ab")
    }

    @Test(arguments: [
        ("application", TargetKind.app), ("app-extension", .appExtension),
        ("app-extension.intents-service", .appExtension),
        ("extensionkit-extension", .appExtension), ("application.watchapp2", .watchApp),
        ("watchkit2-extension", .watchExtension),
        ("application.on-demand-install-capable", .appClip), ("system-extension", .systemExtension),
        ("xpc-service", .xpcService), ("tool", .tool), ("framework", .other), ("bundle.unit-test", .other),
    ])
    func theProductTypeShowsTheKind(type: String, kind: TargetKind) {
        #expect(TargetKind(productType: "com.apple.product-type.\(type)") == kind)
    }
}
