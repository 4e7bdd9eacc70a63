import SharedFiles
import TestSupport
import Testing

@testable import XcodeEntitlements

/// Tests of the values of build settings.
@Suite struct XcodeSettingsTests {
    private static func settings(
        _ lines: [String], _ platform: BuildPlatform? = .iOS, configuration: String = "Debug"
    ) -> BuildSettings {
        let assignments = lines.compactMap { line -> SettingAssignment? in
            guard case .assignment(let assignment) = SettingsLine(line[...]) else { return nil }
            return assignment
        }
        return BuildSettings(
            XcodeConfiguration(name: configuration, levels: [assignments], absentFiles: [], missingFiles: []),
            for: platform)
    }

    @Test(arguments: [
        (["A = 1", "A = 2"], "2"), (["A = 1", "A = $(inherited) 2"], "1 2"),
        (["A = 1", "A = $(A)b", "A = $(A)c"], "1bc"),
        (["B = x", "A = $(B).$(B)"], "x.x"), (["A = $(NONE)x"], "x"), (["A = ${B:default=y}"], "y"),
        (["A = 1", "A[sdk=iphoneos*] = 2"], "2"), (["A = 1", "A[sdk=macosx*] = 2"], "1"),
        (["A = 1", "A[config=Debug] = 2"], "2"), (["A = 1", "A[config=Rel*] = 2"], "1"),
        (["A = 1", "A[sdk=iphone*][arch=arm64] = 2"], "2"), (["A = 1", "A[sdk=iphone*,config=Other] = 2"], "1"),
        (["A[sdk=iphoneos*] = 2", "A = 1"], "1"), (["A = 1 // not this"], "1"), (["A = 1;"], "1"),
        // The expansion of a cycle ends where it closes.
        (["B = $(A)", "A = $(B)x"], "$(A)x"),
    ])
    func theLastValueThatAppliesCounts(lines: [String], value: String) {
        #expect(Self.settings(lines).value("A") == value)
    }

    @Test(arguments: ["# A = 1", "// A = 1", "A", "= 1", "A B = 1", "#include \"x\"", "A[x = 1"])
    func aLineWithoutAnAssignmentSetsNothing(line: String) {
        #expect(Self.settings([line]).value("A") == nil)
    }

    @Test func theTeamGivesThePrefixes() {
        let settings = Self.settings(["DEVELOPMENT_TEAM = ABCDE12345"])
        #expect(settings.team == "ABCDE12345" && settings.value("AppIdentifierPrefix") == "ABCDE12345.")
        #expect(Self.settings(["DEVELOPMENT_TEAM = $(DEVELOPMENT_TEAM)"]).team == nil)
        #expect(Self.settings(["AppIdentifierPrefix = OLDER12345."]).value("AppIdentifierPrefix") == "OLDER12345.")
    }

    @Test(arguments: [
        (["SDKROOT = iphoneos"], [BuildPlatform.iOS]), (["SDKROOT = macosx13.1"], [.macOS]),
        (["SDKROOT = driverkit"], []),
        (["SDKROOT = iphoneos", "SUPPORTS_MACCATALYST = YES"], [.iOS, .macCatalyst]),
        (["SDKROOT = auto", "SUPPORTED_PLATFORMS = iphoneos iphonesimulator macosx xros"], [.iOS, .macOS, .visionOS]),
        (["SDKROOT = watchos", "SUPPORTS_MACCATALYST = YES"], [.watchOS]),
    ])
    func thePlatformsFollow(lines: [String], platforms: [BuildPlatform]) {
        #expect(Self.settings(lines).configuration.platforms == platforms)
    }

    @Test func filesIncludeOthersAndEndInACircle() throws {
        let directory = try TemporaryDirectory()
        try directory.directory("sub")
        try directory.file(
            "a.xcconfig", "A = 1\n#include \"sub/b\"\n#include? \"none.xcconfig\"\n#include \"lost.xcconfig\"\n")
        try directory.file("sub/b.xcconfig", "B = 1\r\n#include \"../a.xcconfig\"\r\nB = $(inherited)2\r\n")
        let file = SettingsFile.read(directory.path("a.xcconfig"))
        #expect(file.assignments.map(\.name) == ["A", "B", "B"])
        #expect(file.absent == [directory.path("none.xcconfig")])
        #expect(file.missing == [directory.path("lost.xcconfig")])
    }

    @Test func aSettingOfManyValuesIsTheLastOfThem() {
        #expect(Self.settings((0..<20_000).map { "A = \($0)" }).value("A") == "19999")
        #expect(Self.settings(["A = $(B)", "A = 1", "A = $(inherited)2", "A = $(B)$(A)"]).value("A") == "12")
        let circle = Self.settings(["A = below", "A = $(B)", "B = $(A)"])
        #expect(circle.value("A") == "below")
    }

    @Test func aFileThatIncludesTooMuchIsRefused() throws {
        let directory = try TemporaryDirectory()
        try directory.file("a.xcconfig", String(repeating: "#include \"b\"\n", count: 400))
        try directory.file("b.xcconfig", String(repeating: "A=\n", count: 1_000))
        let file = SettingsFile.read(directory.path("a.xcconfig"))
        #expect(file.assignments.isEmpty && file.missing == [directory.path("a.xcconfig")])
    }

    @Test(arguments: ["x/", "X/../y/"])
    func aPathThatNoDiskHoldsIsNotLookedFor(part: String) throws {
        let directory = try TemporaryDirectory()
        let long = directory.path(String(repeating: part, count: 20_000) + "e.entitlements")
        #expect(ProjectFiles.spelling(of: long) == nil && !ProjectFiles.isPossible(long))
        #expect(throws: FileError.self) { try ProjectFiles.realPath(long) }
        #expect(!ProjectFiles.isPossible("/a\0b") && ProjectPath.shortened(long).utf8.count < 600)
        try directory.directory("Some")
        try directory.file("Some/A.txt", "")
        #expect(ProjectFiles.spelling(of: directory.path("some/a.TXT")) == directory.path("Some/A.txt"))
        #expect(ProjectFiles.spelling(of: directory.path("some/b.TXT")) == nil)
    }

    @Test(arguments: [
        ("iphoneos", "iphoneos*", true), ("iphoneos17.0", "iphoneos*", true), ("macosx", "iphone*", false),
        ("abc", "*", true), ("abc", "a*c", true), ("abc", "a*b", false), ("ac", "a*b*c", false), ("", "", true),
        ("aXbXc", "a*b*c", true), ("a", "a*a", false),
    ])
    func aStarRepresentsAnyText(text: String, pattern: String, matches: Bool) {
        #expect(Wildcard.matches(text, pattern) == matches)
    }
}
