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

    @Test(arguments: ["1", "true", "yes", "on"])
    func theVariableRequiresEntitlements(value: String) throws {
        let strict = ["SEALED_ENTITLEMENTS_REQUIRED": value]
        #expect(try say(strict) == ["none", "notEntitled"])
        try directory.file(beside, Self.text(Self.group), mode: 0o644)
        #expect(try say(strict) == [Self.group, "opened"])
        #expect(try say(strict, opening: "group.another") == [Self.group, "notEntitled"])
    }

    @Test(arguments: ["0", "false", "no", "off", ""])
    func theVariableCanLeaveItOpen(value: String) throws {
        #expect(try say(["SEALED_ENTITLEMENTS_REQUIRED": value]) == ["none", "opened"])
    }

    @Test(arguments: ["2", "True", "required", "\u{FF}"])
    func anUnclearRequirementIsAnErrorAndNotNo(value: String) throws {
        #expect(try say(["SEALED_ENTITLEMENTS_REQUIRED": value]).last == "entitlements")
    }

    /// A file that vanished is no licence.
    @Test func aNamedFileThatIsMissingIsRefusedAsNone() throws {
        let named = ["SEALED_ENTITLEMENTS": directory.path("gone")]
        let strict = ["SEALED_ENTITLEMENTS_REQUIRED": "1"].merging(named) { $1 }
        #expect(try say(strict) == ["unusableEntitlements", "notEntitled"])
        #expect(try say(named) == ["unusableEntitlements", "entitlements"])
    }

    @Test func aFileThatIsInstalledLaterEndsTheRefusal() throws {
        let words = ["entitlements", directory.path("home"), Self.group, "twice"]
        let child = try ChildProcess(program, words, environment: ["SEALED_ENTITLEMENTS_REQUIRED": "1"])
        #expect(try child.readLine() == "none")
        try directory.file(beside, Self.text(Self.group))
        try child.write("\n")
        #expect(lines(try child.finish()) == ["opened"])
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

private enum MountNamespace {
    static var isPossible: Bool {
        let words = ["--mount", "mount", "-t", "tmpfs", "none", "/etc"]
        return geteuid() == 0 && (try? ChildProcess.run("/usr/bin/unshare", words).exitCode) == 0
    }
}

/// Tests of the machine's setting, in a mount namespace with an `/etc` of its own.
@Suite(.enabled(if: MountNamespace.isPossible, "root and mount namespaces (unshare --mount)"))
struct MachineEntitlementsTests {
    private let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory()
        try #require(chmod(directory.path, 0o755) == 0)
        try #require(run("cp '\(builtProduct("sealed-probe"))' '\(directory.path("program"))'") == 0)
    }

    /// Returns the answers of the program, run after the commands in the namespace.
    private func say(_ commands: String, _ environment: [String: String] = [:]) throws -> [String] {
        let script = "mount -t tmpfs -o mode=755 none /etc && mkdir /etc/sealedstate && \(commands) || exit 99"
        let words = ["--mount", "/bin/sh", "-c", script, directory.path("program"), directory.path("home")]
        let result = try ChildProcess.run("/usr/bin/unshare", words, environment: environment)
        return result.outputText.split(separator: "\n").map(String.init)
    }

    private static let required = "touch /etc/sealedstate/entitlements-required && "
    private static let program = #"{ "$0" entitlements "$1" group.a; true; }"#
    private static let ofUser =
        #"{ setpriv --reuid 65534 --regid 65534 --clear-groups "$0" entitlements "$1" group.a; true; }"#

    @Test func theFileRequiresEntitlementsOfEveryProgram() throws {
        #expect(try say(Self.program) == ["none", "opened"])
        #expect(try say(Self.required + Self.program) == ["none", "notEntitled"])
    }

    @Test(arguments: ["0", "1", ""])
    func theVariableDoesNotWithdrawIt(value: String) throws {
        let variable = ["SEALED_ENTITLEMENTS_REQUIRED": value]
        #expect(try say(Self.required + Self.program, variable) == ["none", "notEntitled"])
    }

    /// The caller of a set-user-ID program cannot choose its policy; the machine can.
    @Test func aProgramWithMoreRightsThanItsCallerIsUnderTheMachinesSettingAlone() throws {
        try #require(chmod(directory.path("program"), 0o4755) == 0)
        let variable = ["SEALED_ENTITLEMENTS_REQUIRED": "1"]
        // The container is refused for another reason, or opened, by the rights of both users.
        #expect(try say(Self.ofUser, variable).last != "notEntitled")
        #expect(try say(Self.required + Self.ofUser, variable) == ["none", "notEntitled"])
    }

    @Test func aDirectoryThatTheProgramCannotSearchCountsAsTheRequirement() throws {
        #expect(try say("chmod 700 /etc/sealedstate && " + Self.ofUser) == ["none", "notEntitled"])
    }
}
