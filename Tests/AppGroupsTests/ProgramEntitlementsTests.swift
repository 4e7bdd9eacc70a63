import AppGroups
import Glibc
import TestSupport
import Testing

/// Tests of the entitlements that a real program finds: a copy of the probe with files beside it and variables of its
/// own.
@Suite struct ProgramEntitlementsTests {
    private let directory: TemporaryDirectory

    private static let group = "group.com.example.app"

    init() throws {
        directory = try TemporaryDirectory()
        try #require(chmod(directory.path, 0o755) == 0)
        try #require(run("cp '\(builtProduct("sealed-probe"))' '\(directory.path("program"))'") == 0)
    }

    private var program: String { directory.path("program") }
    private var beside: String { "program.entitlements" }

    private static func text(_ groups: String...) -> String {
        let entries = groups.map { "<string>\($0)</string>" }.joined()
        return "<plist version=\"1.0\"><dict><key>com.apple.security.application-groups</key><array>\(entries)</array>"
            + "</dict></plist>"
    }

    /// Returns the program's answers about its entitlements and about opening the group.
    private func say(_ environment: [String: String] = [:], opening group: String = group) throws -> [String] {
        let words = ["entitlements", directory.path("home"), group]
        return try lines(ChildProcess.run(program, words, environment: environment))
    }

    private func lines(_ result: ChildResult) -> [String] {
        result.outputText.split(separator: "\n").map(String.init)
    }

    @Test func aProgramWithoutAFileOpensEveryGroup() throws {
        #expect(try say() == ["none", "opened"])
    }

    @Test func theFileBesideTheExecutableCounts() throws {
        try directory.file(beside, Self.text(Self.group, "group.other"), mode: 0o644)
        #expect(try say() == ["\(Self.group) group.other", "opened"])
        #expect(try say(opening: "group.another").last == "notEntitled")
    }

    @Test func theVariableComesBeforeTheFileBeside() throws {
        try directory.file(beside, Self.text("group.other"), mode: 0o644)
        try directory.file("named", Self.text(Self.group), mode: 0o644)
        #expect(try say(["SEALED_ENTITLEMENTS": directory.path("named")]) == [Self.group, "opened"])
    }

    @Test func theExecutableOfALinkIsWhatItLeadsTo() throws {
        try directory.directory("bin")
        try directory.link("bin/program", to: program)
        try directory.file("bin/program.entitlements", Self.text("group.wrong"))
        try directory.file(beside, Self.text(Self.group))
        let words = ["entitlements", directory.path("home"), Self.group]
        #expect(lines(try ChildProcess.run(directory.path("bin/program"), words)) == [Self.group, "opened"])
    }

    @Test(arguments: ["missing", "fifo", "link", "directory", "writable", "group-writable", "large"])
    func aNamedFileThatCannotBeUsedIsAnErrorAndNotNone(name: String) throws {
        try plant()
        #expect(try say(["SEALED_ENTITLEMENTS": directory.path(name)]) == ["unusableEntitlements", "entitlements"])
    }

    @Test(arguments: ["fifo", "link", "directory", "writable", "group-writable", "large"])
    func aFileBesideThatCannotBeUsedIsAnErrorAndNotNone(name: String) throws {
        try plant()
        try #require(rename(directory.path(name), directory.path(beside)) == 0)
        #expect(try say() == ["unusableEntitlements", "entitlements"])
    }

    private func plant() throws {
        try directory.file("fine", Self.text(Self.group))
        try directory.fifo("fifo")
        try directory.link("link", to: "fine")
        try directory.directory("directory")
        try directory.file("writable", Self.text(Self.group), mode: 0o646)
        try directory.file("group-writable", Self.text(Self.group), mode: 0o664)
        try directory.file("large", String(repeating: " ", count: 1 << 20 + 1))
    }

    @Test(arguments: ["relative", "./program.entitlements", "\u{FF}"])
    func theVariableHasToBeAnAbsolutePath(value: String) throws {
        #expect(try say(["SEALED_ENTITLEMENTS": value]).first == "unusableEntitlements")
    }

    @Test func aMalformedFileIsAnErrorAndNotNone() throws {
        try directory.file(beside, "no property list")
        #expect(try say() == ["malformedEntitlements", "entitlements"])
    }

    @Test func settingsGetTheirValuesFromVariables() throws {
        try directory.file(beside, Self.text("$(TeamIdentifierPrefix)$(CFBundleIdentifier)"))
        #expect(try say() == ["unresolvedVariable", "entitlements"])
        let identity = ["SEALED_TEAM_ID": "ABCDE12345", "SEALED_BUNDLE_ID": "com.example.app"]
        #expect(
            try say(identity, opening: "ABCDE12345.com.example.app") == ["ABCDE12345.com.example.app", "opened"])
    }

    @Test(arguments: ["TEAM", "abcde12345"])
    func anInvalidTeamMakesTheFileUnusable(team: String) throws {
        try directory.file(beside, Self.text(Self.group))
        #expect(try say(["SEALED_TEAM_ID": team]) == ["unusableEntitlements", "entitlements"])
    }

    @Test func aProgramThatWasReplacedStillHasItsFile() throws {
        try directory.file(beside, Self.text(Self.group))
        let child = try ChildProcess(program, ["entitlements", directory.path("home"), "group.another", "wait"])
        #expect(try child.readLine() == "waiting")
        try directory.file("new", "another program")
        try #require(rename(directory.path("new"), program) == 0)
        try child.write("\n")
        #expect(lines(try child.finish()) == [Self.group, "notEntitled"])
    }

    /// The first answer applies for the rest of the process's life.
    @Test func theFileIsReadOnce() throws {
        try directory.file(beside, Self.text(Self.group))
        let child = try ChildProcess(program, ["entitlements", directory.path("home"), Self.group, "twice"])
        #expect(try child.readLine() == Self.group)
        try directory.file(beside, Self.text("group.other"))
        try child.write("\n")
        #expect(lines(try child.finish()) == ["opened"])
    }
}

/// Tests of the same with other users.
@Suite(.enabled(if: UnixUser.canBecome)) struct ProgramEntitlementsOfUsersTests {
    private let directory: TemporaryDirectory
    private static let list =
        "<plist version=\"1.0\"><dict><key>com.apple.security.application-groups</key><array><string>group.a</string></array>"
        + "</dict></plist>"

    init() throws {
        directory = try TemporaryDirectory()
        try #require(chmod(directory.path, 0o755) == 0)
        try #require(run("cp '\(builtProduct("sealed-probe"))' '\(directory.path("program"))'") == 0)
    }

    private func say(_ user: UnixUser, _ environment: [String: String] = [:]) throws -> String? {
        let result = try user.run(directory.path("program"), ["entitlements"], environment: environment)
        return result.outputText.split(separator: "\n").first.map(String.init)
    }

    @Test func aFileOfRootCountsForEveryUser() throws {
        try directory.file("program.entitlements", Self.list, mode: 0o644)
        #expect(try say(.ada) == "group.a")
    }

    @Test func aFileOfAnotherUserIsRefused() throws {
        try directory.file("program.entitlements", Self.list, mode: 0o644)
        try #require(chown(directory.path("program.entitlements"), UnixUser.bob.uid, UnixUser.bob.gid) == 0)
        #expect(try say(.ada) == "unusableEntitlements")
        #expect(try say(.bob) == "group.a")
    }

    @Test func aFileThatTheUserCannotReadIsAnErrorAndNotNone() throws {
        try directory.file("program.entitlements", Self.list, mode: 0o600)
        #expect(try say(.ada) == "unusableEntitlements")
    }

    /// A directory that may be searched but not listed does not hide a program's file.
    @Test func theDirectoryNeedNotBeReadable() throws {
        try directory.file("program.entitlements", Self.list, mode: 0o644)
        try #require(chmod(directory.path, 0o711) == 0)
        #expect(try say(.ada) == "group.a")
    }

    @Test func aProgramWithMoreRightsThanItsCallerLooksAtNoVariables() throws {
        try directory.file("named", Self.list, mode: 0o644)
        let named = ["SEALED_ENTITLEMENTS": directory.path("named")]
        #expect(try say(.ada, named) == "group.a")
        try #require(chmod(directory.path("program"), 0o4755) == 0)
        #expect(try say(.ada, named) == "none")
        try directory.file("program.entitlements", Self.list, mode: 0o644)
        #expect(try say(.ada, ["SEALED_ENTITLEMENTS": "nonsense"]) == "group.a")
    }
}
