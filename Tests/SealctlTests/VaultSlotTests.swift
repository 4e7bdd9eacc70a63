import Glibc
import TestSupport
import Testing

@Suite struct VaultSlotTests {
    private static let old = ["--passphrase-file", "pass"]

    @Test func addedSlotsOpenAndRemovedOnesDoNot() throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.succeed(["init"])
        let mine = try sandbox.identity("mine")
        try sandbox.succeed(["vault", "slot", "add", "--recipient", mine] + Self.old)
        #expect(try sandbox.sealctl(["vault", "keys", "--identity", "mine"]).exitCode == 69)
        try sandbox.succeed(["vault", "accept", "--yes", "--identity", "mine"])
        try sandbox.succeed(["vault", "keys", "--identity", "mine"])
        try sandbox.succeed(["vault", "slot", "remove", "1", "--yes", "--identity", "mine"])
        #expect(try sandbox.sealctl(["vault", "keys"] + Self.old).exitCode == 51)
        try sandbox.succeed(["vault", "keys", "--identity", "mine"])
    }

    @Test func reachIsShown() throws {
        let sandbox = try Sandbox.withPassphrase()
        let mine = try sandbox.identity("mine")
        try sandbox.succeed(["vault", "slot", "add", "--new-default-key-file"] + Self.old)
        try sandbox.succeed(["vault", "slot", "add", "--recipient", mine, "--unattended"] + Self.old)
        #expect(
            try sandbox.slots() == [
                MachineSlot(id: 1, kind: "passphrase", reach: "whenUnlocked"),
                MachineSlot(id: 2, kind: "keyFile", reach: "afterFirstUnlock"),
                MachineSlot(id: 3, kind: "recipient", reach: "afterFirstUnlock"),
            ])
    }

    @Test func aVaultWhoseContainerMayBeAwayIsNotRekeyed() throws {
        let sandbox = try Sandbox.withPassphrase()
        let before = try sandbox.everyFile()
        for command in [["rekey"], ["slot", "remove", "1"]] {
            let result = try sandbox.sealctl(["vault"] + command + ["--yes", "--json"] + Self.old)
            #expect(result.exitCode == 44)
            #expect(try decode(MachineError.self, result.errors).code == "containerMissing")
        }
        #expect(try sandbox.everyFile() == before)
    }

    @Test func theLastOneStays() throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.succeed(["init"])
        let before = try SystemFile.read(sandbox.vault)
        let result = try sandbox.sealctl(["vault", "slot", "remove", "1", "--json"] + Self.old)
        #expect(result.exitCode == 69)
        #expect(try decode(MachineError.self, result.errors).code == "lastSlot")
        #expect(try SystemFile.read(sandbox.vault) == before)
    }

    @Test func theListOfALockedVaultIsShownWithAWarning() throws {
        let sandbox = try Sandbox.withPassphrase()
        let result = try sandbox.succeed(["vault", "slot", "list", "--json"])
        #expect(try decode(MachineWarning.self, result.errors).warning == "unverified")
        #expect(try decode([MachineSlot].self, result.output).count == 1)
        #expect(try sandbox.succeed(["vault", "slot", "list"] + Self.old).errors.isEmpty)
    }

    @Test func aChangedPassphraseTakesThePlaceOfTheOldOne() throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.succeed(["vault", "slot", "change", "--new-passphrase-file", "other"] + Self.old)
        #expect(try sandbox.sealctl(["vault", "keys"] + Self.old).exitCode == 51)
        try sandbox.succeed(["vault", "keys", "--passphrase-file", "other"])
        #expect(try sandbox.slots().map(\.id) == [2])
    }

    @Test func bothPassphrasesMayComeFromOneInput() throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.succeed(
            ["vault", "slot", "change", "--passphrase-file", "-", "--new-passphrase-file", "-"],
            input: Array("\(Sandbox.passphrase)\nthe new one\n".utf8))
        try sandbox.succeed(["vault", "keys", "--passphrase-file", "-"], input: Array("the new one".utf8))
    }

    @Test func ofTwoChangesAtOnceOneWins() throws {
        let sandbox = try Sandbox.withPassphrase()
        let names = (0..<4).map { "new\($0)" }
        for name in names { try sandbox.file(name, Array(name.utf8)) }
        let results = try concurrently(names.count) { index in
            try sandbox.sealctl(["vault", "slot", "change", "1", "--new-passphrase-file", names[index]] + Self.old)
        }
        let codes = try results.map { try $0.get().exitCode }
        #expect(codes.filter { $0 == 0 }.count == 1, "\(codes)")
        // The vault no longer opens, or the slot was already replaced.
        #expect(codes.allSatisfy { [0, 44, 51].contains($0) }, "\(codes)")
        for (name, code) in zip(names, codes) {
            #expect(try sandbox.sealctl(["vault", "keys", "--passphrase-file", name]).exitCode == (code == 0 ? 0 : 51))
        }
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aPersonChangesAPassphraseAtTheTerminal() throws {
        let sandbox = try Sandbox.withPassphrase()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["vault", "slot", "change"])
        _ = try terminal.read(until: "Passphrase for \(Sandbox.group): ")
        terminal.type("\(Sandbox.passphrase)\n")
        _ = try terminal.read(until: "New passphrase for \(Sandbox.group): ")
        terminal.type("another one\n")
        _ = try terminal.read(until: "again: ")
        terminal.type("another one\n")
        let result = try child.finish()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(!terminal.readRest().contains("another"))
        try sandbox.succeed(["vault", "keys", "--passphrase-file", "other"])
    }

    private struct Wrong: Sendable {
        let arguments: [String]
        let status: Int32
    }

    @Test(arguments: [
        Wrong(arguments: ["remove", "9"], status: 44),
        Wrong(arguments: ["change", "9", "--new-passphrase-file", "other"], status: 44),
        Wrong(arguments: ["remove", "x"], status: 64), Wrong(arguments: ["add"], status: 64),
        Wrong(arguments: ["add", "--recipient", "sealed1q"], status: 65),
        Wrong(arguments: ["add", "--new-key-file", "missing"], status: 66),
        Wrong(arguments: ["add", "--new-credential"], status: 66),
        Wrong(arguments: ["add", "--new-passphrase-file", "other", "--new-default-key-file"], status: 64),
        Wrong(arguments: ["add", "--new-default-key-file", "--unlock-time", "1s"], status: 64),
        Wrong(arguments: ["add", "--new-default-key-file", "--unattended"], status: 64),
    ])
    private func whatGoesWrongChangesNothing(wrong: Wrong) throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.succeed(["init"])
        let before = try SystemFile.read(sandbox.vault)
        let result = try sandbox.sealctl(["vault", "slot"] + wrong.arguments + Self.old)
        #expect(result.exitCode == wrong.status, "\(result.errorText)")
        #expect(result.output.isEmpty)
        #expect(try SystemFile.read(sandbox.vault) == before)
    }
}
