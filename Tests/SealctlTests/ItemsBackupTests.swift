import Glibc
import TestSupport
import Testing

@Suite struct ItemsBackupTests {
    private static let person = ["--passphrase-file", "pass"]
    private static let backup = ["--backup-passphrase-file", "backup-pass"]

    /// Creates a sandbox with an item of each kind, and a passphrase for backups in `files/backup-pass`.
    private func prepared() throws -> Sandbox {
        let sandbox = try Sandbox.withKeyFileAndPassphrase()
        try sandbox.file("backup-pass", Array("for the backup\n".utf8))
        try sandbox.add("db", "ada", "one")
        try sandbox.add("db", "person", "two", ["--accessible", "when-unlocked"] + Self.person)
        try sandbox.add("db", "here", "three", ["--accessible", "after-first-unlock-this-device-only"])
        return sandbox
    }

    private func export(_ sandbox: Sandbox, _ options: [String] = backup) throws -> MachineExport {
        let arguments = ["vault", "export", "backup", "--json"] + options + Self.person
        return try decode(MachineExport.self, sandbox.succeed(arguments).output)
    }

    /// Restores into a second sandbox, which represents another machine's home.
    private func restored(from sandbox: Sandbox, _ options: [String]) throws -> (Sandbox, MachineImport) {
        let other = try Sandbox()
        try other.file("pass", Array("\(Sandbox.passphrase)\n".utf8))
        try other.file("backup-pass", Array("for the backup\n".utf8))
        let arguments = ["vault", "import", sandbox.path("files/backup"), "--json"] + options
        return (other, try decode(MachineImport.self, other.succeed(arguments).output))
    }

    @Test func aBackupRestoresEverythingButWhatBelongsToThisDevice() throws {
        let sandbox = try prepared()
        let report = try export(sandbox)
        #expect(report.items == 2 && report.keys == 1)
        #expect(report.leftOut == [MachineItemName(service: "db", account: "here")])
        #expect(try SystemFile.mode(sandbox.path("files/backup")) & 0o777 == 0o600)
        let (other, restored) = try restored(from: sandbox, Self.backup + Self.person)
        #expect(restored.isNewVault && restored.keys == 1 && restored.itemsAdded.count == 2)
        #expect(try other.value("db", "ada", Self.person) == Array("one".utf8))
        #expect(try other.value("db", "person", Self.person) == Array("two".utf8))
        // Records from before the backup open. New records are sealed under a key that the backup's readers do not
        // have.
        let keys = try other.keys(Self.person)
        let old = try sandbox.keys().first?.id
        #expect(keys.map(\.state) == ["decryptOnly", "active"] && keys.first?.id == old)
    }

    @Test func recordsAreReadAgainAfterALostVaultIsRestored() throws {
        let sandbox = try prepared()
        try sandbox.succeed(["init"])
        try sandbox.put("state", "{\"n\":1}")
        _ = try export(sandbox)
        for path in [sandbox.vault, sandbox.vault + ".person", sandbox.keyFile] { unlink(path) }
        #expect(try sandbox.sealctl(["get", "state"]).exitCode == 44)
        try sandbox.succeed(["vault", "import", "backup"] + Self.backup + Self.person)
        #expect(try sandbox.succeed(["get", "state"] + Self.person).outputText == "{\"n\":1}")
    }

    @Test func aBackupForARecipientOpensWithTheirIdentity() throws {
        let sandbox = try prepared()
        let recipient = try sandbox.identity("mine")
        #expect(try export(sandbox, ["--recipient", recipient]).items == 2)
        #expect(try sandbox.sealctl(["vault", "import", "backup"] + Self.backup).exitCode == 51)
        let (other, _) = try restored(
            from: sandbox, ["--backup-identity", sandbox.path("files/mine")] + Self.person)
        #expect(try other.value("db", "ada", Self.person) == Array("one".utf8))
    }

    @Test func keysAloneAndItemsAloneArePossible() throws {
        let sandbox = try prepared()
        let keys = try export(sandbox, Self.backup + ["--keys-only"])
        #expect(keys.items == 0 && keys.keys == 1 && keys.leftOut.isEmpty)
        unlink(sandbox.path("files/backup"))
        let items = try export(sandbox, Self.backup + ["--items-only"])
        #expect(items.items == 2 && items.keys == 0)
    }

    @Test func existingItemsStayUnlessReplacementIsRequested() throws {
        let sandbox = try prepared()
        _ = try export(sandbox)
        try sandbox.succeed(["vault", "update", "-s", "db", "-a", "ada"], input: Array("newer".utf8))
        try sandbox.succeed(["vault", "delete", "-s", "db", "-a", "person"] + Self.person)
        let arguments = ["vault", "import", "backup", "--json"] + Self.backup + Self.person
        let first = try decode(MachineImport.self, sandbox.succeed(arguments).output)
        #expect(!first.isNewVault && first.itemsLeft.map(\.account) == ["ada"])
        #expect(first.itemsAdded.map(\.account) == ["person"])
        #expect(try sandbox.value("db", "ada") == Array("newer".utf8))
        let second = try decode(MachineImport.self, sandbox.succeed(arguments + ["--replace-items", "--yes"]).output)
        #expect(second.itemsReplaced.map(\.account) == ["ada", "person"])
        #expect(try sandbox.value("db", "ada") == Array("one".utf8))
    }

    @Test func aVaultIsSetAsideOnRequest() throws {
        let sandbox = try prepared()
        _ = try export(sandbox)
        let (old, arguments) = (
            try SystemFile.read(sandbox.vault), ["vault", "import", "backup", "--set-vault-aside", "--yes"]
        )
        let result = try sandbox.succeed(arguments + ["--json"] + Self.backup + Self.person)
        let report = try decode(MachineImport.self, result.output)
        #expect(report.isNewVault)
        #expect(try report.setAside.contains { try $0.from == sandbox.vault && SystemFile.read($0.to) == old })
    }

    @Test func aBackupIsNeverWrittenOverAFile() throws {
        let sandbox = try prepared()
        try sandbox.file("backup", [7])
        #expect(try sandbox.sealctl(["vault", "export", "backup"] + Self.backup + Self.person).exitCode == 45)
        #expect(try SystemFile.read(sandbox.path("files/backup")) == [7])
    }

    @Test func anUnattendedProgramExportsOnlyWhatItReaches() throws {
        let sandbox = try prepared()
        #expect(try sandbox.sealctl(["vault", "export", "backup"] + Self.backup).exitCode == 36)
        #expect(try !sandbox.files().contains("backup"))
    }

    @Test func wrongInputIsReported() throws {
        let sandbox = try prepared()
        _ = try export(sandbox)
        try sandbox.file("other", Array("another\n".utf8))
        let before = try SystemFile.read(sandbox.vault)
        let arguments = ["vault", "import", "backup"] + Self.person
        #expect(try sandbox.sealctl(arguments + ["--backup-passphrase-file", "other"]).exitCode == 51)
        #expect(try sandbox.sealctl(arguments + Self.backup + ["--backup-identity", "other"]).exitCode == 64)
        #expect(try sandbox.sealctl(arguments + Self.backup + ["--keys-only", "--items-only"]).exitCode == 64)
        #expect(try sandbox.sealctl(["vault", "import", "none"] + Self.backup).exitCode == 66)
        #expect(try sandbox.sealctl(["vault", "import", sandbox.vault] + Self.backup).exitCode == 65)
        try sandbox.flip(sandbox.path("files/backup"), at: 200)
        #expect(try sandbox.sealctl(arguments + Self.backup).exitCode == 65)
        #expect(try SystemFile.read(sandbox.vault) == before)
    }

    @Test func bothPassphrasesMayComeFromOneInput() throws {
        let sandbox = try prepared()
        let input = Array("\(Sandbox.passphrase)\nfor the backup\n".utf8)
        let both = ["--passphrase-file", "-", "--backup-passphrase-file", "-"]
        try sandbox.succeed(["vault", "export", "backup"] + both, input: input)
        try sandbox.succeed(["vault", "import", "backup", "--replace-items", "--yes"] + both, input: input)
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aPersonIsAskedForTheBackupsPassphrase() throws {
        let sandbox = try prepared()
        let terminal = try PseudoTerminal()
        let export = try terminal.start(sandbox, ["vault", "export", "backup"] + Self.person)
        _ = try terminal.read(until: "Passphrase for backup: ")
        terminal.type("typed\n")
        _ = try terminal.read(until: "again: ")
        terminal.type("typed\n")
        #expect(try export.finish().exitCode == 0)
        // The first terminal is closed, so reading from it would fail.
        let next = try PseudoTerminal()
        let restore = try next.start(sandbox, ["vault", "import", "backup"] + Self.person)
        _ = try next.read(until: "Passphrase for backup: ")
        next.type("typed\n")
        #expect(try restore.finish().exitCode == 0)
    }
}
