import Glibc
import TestSupport
import Testing

@Suite struct VaultLogTests {
    private struct MachineLog: Decodable {
        struct Entry: Decodable {
            let event: String
            let outcome: String
            let uid: UInt32
            let executable: String
            let authentic: Bool
        }
        struct Check: Decodable {
            let intact: Bool
            let count: Int
            let notedHead: String
        }
        let entries: [Entry]?
        let check: Check
    }

    private func log(_ sandbox: Sandbox, _ options: [String] = []) throws -> MachineLog {
        try decode(
            MachineLog.self,
            sandbox.sealctl(["vault", "log", "--json", "--passphrase-file", "pass"] + options).output)
    }

    private func path(_ sandbox: Sandbox) -> String { sandbox.path("groups/Vaults/\(Sandbox.group)/access.log") }

    @Test func itShowsTheProgramOfEachEntry() throws {
        let sandbox = try Sandbox.withPassphrase()
        _ = try sandbox.sealctl(["vault", "keys", "--passphrase-file", "wrong"])
        try sandbox.succeed(["vault", "slot", "add", "--new-default-key-file", "--passphrase-file", "pass"])
        let seen = try log(sandbox)
        let events = try #require(seen.entries)
        for event in ["created", "opened", "openFailed", "slotAdded"] {
            #expect(events.contains { $0.event == event }, "\(event)")
        }
        #expect(events.allSatisfy { $0.authentic && $0.uid == geteuid() && $0.executable.hasSuffix("/sealctl") })
        #expect(seen.check.intact && seen.check.count == events.count && seen.check.notedHead == "found")
    }

    @Test func verifyingShowsNoEntries() throws {
        let sandbox = try Sandbox.withPassphrase()
        let seen = try log(sandbox, ["--verify"])
        #expect(seen.entries == nil && seen.check.intact)
    }

    @Test func onlyWhatCameSinceIsShown() throws {
        let sandbox = try Sandbox.withPassphrase()
        #expect(try log(sandbox, ["--since", "2999-01-01"]).entries?.isEmpty == true)
        #expect(try log(sandbox, ["--since", "1h"]).entries?.isEmpty == false)
        #expect(try log(sandbox, ["--since", "2020-01-01T00:00:00Z"]).entries?.isEmpty == false)
    }

    @Test(arguments: [40, 250])
    func aChangedByteEndsWithRefusedData(offset: Int) throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.flip(path(sandbox), at: offset)
        #expect(try sandbox.sealctl(["vault", "log", "--verify", "--passphrase-file", "pass"]).exitCode == 65)
        let shown = try sandbox.sealctl(["vault", "log", "--passphrase-file", "pass"])
        #expect(shown.exitCode == 65 && shown.outputText.contains("NOT AUTHENTIC"))
    }

    @Test func aRemovedLogIsNoticedByWhatTheVaultNoted() throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.succeed(["vault", "slot", "add", "--new-default-key-file", "--passphrase-file", "pass"])
        unlink(path(sandbox))
        #expect(try sandbox.sealctl(["vault", "log", "--verify", "--passphrase-file", "pass"]).exitCode == 65)
    }

    @Test func aProgramsNameDrivesNoTerminal() throws {
        let sandbox = try Sandbox.withPassphrase()
        let name = sandbox.path("files/\u{1B}[31m")
        #expect(try sandbox.shell("cp \"$S\" '\(name)' && '\(name)' vault keys --passphrase-file pass").exitCode == 0)
        let shown = try sandbox.succeed(["vault", "log", "--passphrase-file", "pass"]).outputText
        #expect(!shown.contains("\u{1B}") && shown.contains("\\u{1b}[31m"))
    }
}

@Suite struct VaultAcceptTests {
    private static let pass = ["--passphrase-file", "pass"]

    @Test func anOlderCopyIsRefusedUntilItIsAccepted() throws {
        let sandbox = try Sandbox.withPassphrase()
        let paths = [sandbox.vault, sandbox.vault + ".person"]
        let copies = try paths.map { try SystemFile.read($0) }
        try sandbox.succeed(["vault", "slot", "add", "--new-default-key-file"] + Self.pass)
        for (path, copy) in zip(paths, copies) { try SystemFile.write(path, copy) }
        let refused = try sandbox.sealctl(["vault", "keys", "--json"] + Self.pass)
        #expect(refused.exitCode == 65)
        #expect(try decode(MachineError.self, refused.errors).code == "rolledBack")
        try sandbox.succeed(["vault", "accept", "--yes"] + Self.pass)
        try sandbox.succeed(["vault", "keys"] + Self.pass)
        #expect(try sandbox.slots(Self.pass).map(\.id) == [1])
    }

    @Test func aWrongPassphraseAcceptsNothing() throws {
        let sandbox = try Sandbox.withPassphrase()
        #expect(try sandbox.sealctl(["vault", "accept", "--yes", "--passphrase-file", "wrong"]).exitCode == 51)
    }
}
