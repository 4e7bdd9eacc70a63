import TestSupport
import Testing

/// Tests of the messages about records of the class *when unlocked*.
@Suite(.enabled(if: Sandbox.canUnlock, "needs a place for unlocked keys")) struct ProtectionCommandTests {
    private static let person = ["--passphrase-file", "pass"]

    private struct Key: Decodable {
        let epoch: UInt32
        let state: String
        let protection: String
    }

    private struct Status: Decodable {
        let keys: [Key]
    }

    private struct Rotation: Decodable {
        struct Left: Decodable {
            let code: String
            let blocking: Bool
        }
        let completed: Bool
        let left: [Left]
    }

    private struct Listed: Decodable {
        let name: String
        let state: String
        let reason: String?
        let protection: String?
    }

    private struct Inspected: Decodable {
        let verdict: String
        let protection: String?
    }

    /// Creates a sandbox with the record `guarded`, which requires a person, and `open`, which does not.
    private func sandbox() throws -> Sandbox {
        let sandbox = try Sandbox.withKeyFileAndPassphrase()
        try sandbox.succeed(["init"])
        try sandbox.put("open", "{}")
        try sandbox.unlocked(Self.person) {
            let words = ["protection-session", sandbox.path("groups"), Sandbox.group, "kernel"]
            let child = try ChildProcess("sealed-probe", words, environment: sandbox.environment)
            #expect(try child.readLine() == "ready")
            try child.write("write 1 guarded\n")
            #expect(try child.readLine() == "written 1")
            _ = try child.finish()
        }
        return sandbox
    }

    @Test func aLockedRecordIsLockedEverywhere() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.sealctl(["get", "guarded"]).exitCode == 36)
        #expect(try sandbox.succeed(["get", "guarded"] + Self.person).outputText == "{\"number\":1}")
        let listed = try decode([Listed].self, sandbox.succeed(["list", "--json"]).output)
        #expect(listed.map(\.name) == ["guarded", "open"] && listed.map(\.reason) == ["locked", nil])
        #expect(listed.map(\.state) == ["locked", "current"])
        #expect(listed.map(\.protection) == ["whenUnlocked", "afterFirstUnlock"])
        #expect(try !sandbox.succeed(["list"]).outputText.contains("refused"))
        #expect(try sandbox.succeed(["audit"]).exitCode == 0)
        #expect(try sandbox.succeed(["inspect", sandbox.record("guarded")] + Self.person).exitCode == 0)
    }

    /// Without a credential for it, its header is shown, as for any blob that cannot be verified.
    @Test func aLockedRecordIsInspectedAndNotRefused() throws {
        let sandbox = try sandbox()
        let locked = try decode(Inspected.self, sandbox.succeed(["inspect", "guarded", "--json"]).output)
        #expect(locked.verdict == "unverified" && locked.protection == "whenUnlocked")
        let opened = try decode(Inspected.self, sandbox.succeed(["inspect", "guarded", "--json"] + Self.person).output)
        #expect(opened.verdict == "verified" && opened.protection == "whenUnlocked")
        let open = try decode(Inspected.self, sandbox.succeed(["inspect", "open", "--json"]).output)
        #expect(open.verdict == "verified" && open.protection == "afterFirstUnlock")
    }

    private func protection(_ name: String, _ sandbox: Sandbox) throws -> String? {
        try decode([Listed].self, sandbox.succeed(["list", "--json"] + Self.person).output)
            .first { $0.name == name }?.protection
    }

    private func put(_ name: String, _ options: [String] = [], _ sandbox: Sandbox) throws -> Int32? {
        try sandbox.sealctl(["put", name, "-"] + options, input: Array("{\"n\":2}".utf8)).exitCode
    }

    @Test func aRecordKeepsTheClassOfTheOneThatItReplaces() throws {
        let sandbox = try sandbox()
        #expect(try put("guarded", Self.person, sandbox) == 0 && put("open", Self.person, sandbox) == 0)
        #expect(try protection("guarded", sandbox) == "whenUnlocked")
        #expect(try protection("open", sandbox) == "afterFirstUnlock")
        #expect(try sandbox.sealctl(["get", "guarded"]).exitCode == 36)
    }

    @Test func aNewRecordHasTheClassThatIsStated() throws {
        let sandbox = try sandbox()
        #expect(try put("plain", Self.person, sandbox) == 0)
        #expect(try put("secret", ["--accessible", "when-unlocked"] + Self.person, sandbox) == 0)
        #expect(try protection("plain", sandbox) == "afterFirstUnlock")
        #expect(try protection("secret", sandbox) == "whenUnlocked")
    }

    @Test func theClassIsChangedOnlyWhenThatIsStated() throws {
        let sandbox = try sandbox()
        #expect(try put("guarded", ["--accessible", "after-first-unlock"] + Self.person, sandbox) == 0)
        #expect(try put("open", ["--accessible", "when-unlocked"] + Self.person, sandbox) == 0)
        #expect(try protection("guarded", sandbox) == "afterFirstUnlock")
        #expect(try protection("open", sandbox) == "whenUnlocked")
        // A deletion keeps the class of the name.
        #expect(try sandbox.sealctl(["delete", "open"]).exitCode == 36)
        try sandbox.succeed(["delete", "open"] + Self.person)
        #expect(try put("open", Self.person, sandbox) == 0)
        #expect(try protection("open", sandbox) == "whenUnlocked")
    }

    @Test(
        arguments: [
            ([], 36), (["--accessible", "when-unlocked"], 36), (["--accessible", "after-first-unlock"], 65),
        ] as [([String], Int32)])
    func aLockedRecordIsNotReplaced(options: [String], status: Int32) throws {
        let sandbox = try sandbox()
        let before = try SystemFile.read(sandbox.record("guarded"))
        #expect(try put("guarded", options, sandbox) == status)
        #expect(try SystemFile.read(sandbox.record("guarded")) == before)
    }

    @Test func aRecordKeepsItsClassAfterARotationOfTheOther() throws {
        let sandbox = try sandbox()
        #expect(try sandbox.sealctl(["vault", "rotate"]).exitCode == 75)
        #expect(try put("guarded", Self.person, sandbox) == 0)
        #expect(try protection("guarded", sandbox) == "whenUnlocked")
        let keys = try decode([Key].self, sandbox.succeed(["vault", "keys", "--json"]).output)
        let active = keys.filter { $0.state == "active" }
        #expect(active.map(\.protection) == ["whenUnlocked", "afterFirstUnlock"] && active.map(\.epoch) == [1, 2])
    }

    @Test(arguments: ["whenUnlocked", "when-unlocked-this-device-only", ""])
    func aClassThatNoRecordHasIsAUsageError(word: String) throws {
        #expect(try Sandbox.initialised().sealctl(["put", "a", "-", "--accessible", word]).exitCode == 64)
    }

    @Test func keysAndStatusShowTheClass() throws {
        let sandbox = try sandbox()
        let keys = try decode([Key].self, sandbox.succeed(["vault", "keys", "--json"]).output)
        #expect(keys.map(\.protection) == ["afterFirstUnlock", "whenUnlocked"])
        let status = try decode(Status.self, sandbox.succeed(["vault", "rotate", "--status", "--json"]).output)
        #expect(status.keys.map(\.protection) == keys.map(\.protection))
        #expect(try sandbox.status().keys?.count == 2)
    }

    @Test func aRotationOfTheOtherClassWaitsForTheUnlocking() throws {
        let sandbox = try sandbox()
        let result = try sandbox.sealctl(["vault", "rotate", "--json"])
        #expect(result.exitCode == 75)
        let report = try decode(Rotation.self, result.output)
        #expect(!report.completed && report.left.map(\.code) == ["locked"] && report.left.allSatisfy { $0.blocking })
        try sandbox.unlocked(Self.person) { try sandbox.succeed(["vault", "rotate"]) }
        #expect(try sandbox.succeed(["get", "guarded"] + Self.person).outputText == "{\"number\":1}")
        let keys = try decode([Key].self, sandbox.succeed(["vault", "keys", "--json"]).output)
        // The keys of the class that was open have been rotated twice.
        #expect(keys.filter { $0.state == "active" }.map(\.epoch) == [2, 3])
        #expect(keys.filter { $0.state == "active" }.map(\.protection) == ["whenUnlocked", "afterFirstUnlock"])
    }
}
