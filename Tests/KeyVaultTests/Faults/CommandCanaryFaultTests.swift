import AppGroups
import Glibc
import TestSupport
import Testing

@testable import KeyVault

/// Tests that no flow of `sealctl` at the command line leaves a secret.
@Suite(
    .enabled(if: SystemFile.exists(builtProduct("sealctl")), "sealctl is not built"), .timeLimit(.minutes(10)))
struct CommandCanaryFaultTests {
    private let sandbox: CanarySandbox
    private let search: SecretSearch
    private let directory: TemporaryDirectory

    /// All secrets are in separate files, so no arguments contain a secret.
    init() throws {
        var sandbox = try CanarySandbox()
        directory = sandbox.fixture.directory
        try directory.directory("tmp")
        try SystemFile.write(directory.path("value"), sandbox.value)
        let vault = try sandbox.makeVault()
        try vault.add("in", "process", sandbox.value)
        self.sandbox = sandbox
        search = sandbox.search
    }

    private var environment: [String: String] {
        [
            "SEALED_GROUPS_HOME": directory.path, "HOME": directory.path, "TMPDIR": directory.path("tmp"),
            "SEALCTL_GROUP": "\(sandbox.fixture.group)", "SWIFT_BACKTRACE": "enable=no",
        ]
    }

    /// Runs a command. Its output must contain no secret, unless the secret was requested.
    @discardableResult
    private func run(_ line: String, input: [UInt8] = [], status: Int32 = 0, isAsked: Bool = false) throws -> [UInt8] {
        let result = try ChildProcess.run(
            "sealctl", line.split(separator: " ").map(String.init), environment: environment,
            directory: directory.path, input: input)
        #expect(result.exitCode == status, "\(line): \(result.errorText)")
        #expect(search.found(in: result.errors) == [], "\(line)")
        if !isAsked { #expect(search.found(in: result.output) == [], "\(line)") }
        return result.output
    }

    private static let person = "--passphrase-file passphrase"

    @Test func nothingThatItLeavesOrSaysHoldsASecret() throws {
        try run("init")
        try useItems()
        try useSlots()
        try useUnlocking()
        try useBackups()
        try run("vault rotate \(Self.person)")
        try run("vault rotate --status --json")
        try run("vault keys --json")
        try run("vault status --json")
        try run("vault log --json \(Self.person)")
        try run("vault log --verify")
        try useProgram()
        let expected = [directory.path("value")]
        #expect(search.found(below: directory.path, except: sandbox.files.union(expected)) == [])
        for place in SecretSearch.sharedPlaces {
            #expect(search.found(below: place, except: sandbox.files.union(expected)) == [], "\(place)")
        }
    }

    private func useItems() throws {
        let name = "-s db -a ada"
        try run("vault add \(name) --value-file value")
        try run("vault add \(name) --value-file value", status: 45)
        try run("vault add -s db -a pipe --label l", input: sandbox.passphraseText)
        #expect(try run("vault find \(name) -w", isAsked: true) == sandbox.value)
        try run("vault find \(name) --json")
        try run("vault list --json")
        try run("vault update \(name) --value-file value --accessible when-unlocked \(Self.person)")
        try run("vault find \(name) -w", status: 36)
        try run("vault find -s none -a none -w", status: 44)
        try run("vault delete -s db -a pipe")
    }

    private func useSlots() throws {
        try run("vault slot list --json \(Self.person)")
        try run("vault slot add --recipient \(sandbox.identity.recipient) \(Self.person)")
        try run("vault keys --identity identity")
        try run("vault slot remove 4 --yes --identity identity")
        try SystemFile.write(directory.path("other"), Array("another one\n".utf8))
        try run("vault slot change 2 --yes --new-passphrase-file other \(Self.person)")
        try run("vault slot change 5 --yes --passphrase-file other --new-passphrase-file passphrase")
        try run("vault keys --passphrase-file other", status: 51)
        // A secret in the place of a recipient is not printed.
        let text = String(decoding: try SystemFile.read(sandbox.identityFile), as: UTF8.self)
        let secret = try #require(text.split(separator: "\n").last)
        try run("vault slot add --recipient \(secret) \(Self.person)", status: 65)
    }

    /// The unlocked keys are kept in memory, and nowhere after the vault is locked.
    private func useUnlocking() throws {
        guard UnlockCaches.standard.isUsable else { return }
        defer { _ = try? run("vault lock --everything") }
        try run("vault unlock \(Self.person)")
        try run("vault status --json")
        #expect(try run("vault find -s db -a ada -w", isAsked: true) == sandbox.value)
        try run("vault lock")
        try run("vault find -s db -a ada -w", status: 36)
    }

    private func useBackups() throws {
        try run("vault export backup --backup-passphrase-file passphrase \(Self.person)")
        try run("vault export backup2 --recipient \(sandbox.identity.recipient) \(Self.person)")
        try run("vault import backup --backup-passphrase-file passphrase --replace-items --yes \(Self.person)")
        try run("vault import backup2 --backup-identity identity --replace-items --yes \(Self.person)")
    }

    /// The program gets the item, and no other process shows it.
    private func useProgram() throws {
        let output = try run("exec --fd 9=in/process -- cat /dev/fd/9", isAsked: true)
        #expect(output == sandbox.value)
        let child = try ChildProcess(
            "sealctl", ["exec", "--fd", "9=in/process", "--", "cat"], environment: environment,
            directory: directory.path)
        try child.write("x\n")
        #expect(try child.readLine() == "x")
        for entry in ["environ", "cmdline"] {
            #expect(search.found(in: try SystemFile.read("/proc/\(child.pid)/\(entry)")) == [], "\(entry)")
        }
        _ = try child.finish()
    }
}
