import Glibc
import TestSupport
import Testing

@Suite struct VaultStatusTests {
    private struct State: Sendable, CustomTestStringConvertible {
        let availability: String
        let status: Int32
        let prepare: @Sendable (Sandbox) throws -> Void
        var testDescription: String { availability }
    }

    private static let states = [
        State(availability: "absent", status: 44) { _ in },
        State(availability: "ready", status: 0) { try $0.succeed(["vault", "create"]) },
        State(availability: "locked", status: 36) {
            try $0.succeed(["vault", "create"])
            unlink($0.keyFile)
        },
        State(availability: "damaged", status: 65) {
            try $0.succeed(["vault", "create"])
            try $0.flip($0.vault, at: 9)
        },
        State(availability: "rolledBack", status: 65) {
            try $0.succeed(["init"])
            let old = try SystemFile.read($0.vault)
            try $0.succeed(["vault", "rotate"])
            try SystemFile.write($0.vault, old)
        },
        State(availability: "denied", status: 77) {
            try $0.succeed(["vault", "create"])
            chmod($0.vault, 0o644)
        },
    ]

    @Test(arguments: states)
    private func eachAnswerHasItsStatusAndChangesNothing(state: State) throws {
        let sandbox = try Sandbox()
        try state.prepare(sandbox)
        let before = try sandbox.everyFile()
        let result = try sandbox.sealctl(["vault", "status", "--json"])
        #expect(result.exitCode == state.status)
        #expect(result.errors.isEmpty)
        #expect(try decode(MachineStatus.self, result.output).availability == state.availability)
        #expect(try sandbox.sealctl(["vault", "status"]).exitCode == state.status)
        #expect(try sandbox.everyFile() == before)
    }

    @Test func aReadyVaultShowsWhatItHolds() throws {
        let sandbox = try Sandbox()
        try sandbox.succeed(["vault", "create"])
        let status = try sandbox.status()
        #expect(status.slots.count == 1 && status.generation == 1)
        #expect(status.keys?.map(\.epoch) == [1] && status.items == 0)
        #expect(!status.whenUnlocked.unlocked && !status.afterFirstUnlock.unlocked)
    }

    @Test func aLockedVaultShowsItsSlotsOnly() throws {
        let status = try Sandbox.withPassphrase().status()
        #expect(status.slots.map(\.kind) == ["passphrase"])
        #expect(status.keys == nil && status.items == nil)
    }
}

@Suite(.enabled(if: Sandbox.canUnlock, "a kernel keyring or a runtime directory in memory"))
struct VaultUnlockTests {
    @Test func unlockedItOpensWithoutAskingAndLockedItDoesNot() throws {
        let sandbox = try Sandbox.withPassphrase()
        #expect(try sandbox.sealctl(["vault", "keys"]).exitCode == 36)
        try sandbox.unlocked(["--passphrase-file", "pass"]) {
            try sandbox.succeed(["vault", "keys"])
            // No program opens this vault without a person, so a lock closes both classes.
            let report = try decode(MachineLock.self, sandbox.succeed(["vault", "lock", "--json"]).output)
            #expect(report.everything && !report.isAfterFirstUnlockOpen && !report.hasUnattendedSlots)
            #expect(try sandbox.status().availability == "locked")
            #expect(try sandbox.sealctl(["vault", "keys"]).exitCode == 36)
        }
    }

    @Test func aLockLeavesThePrograms() throws {
        let sandbox = try Sandbox.withKeyFileAndPassphrase()
        try sandbox.unlocked(["--passphrase-file", "pass"]) {
            let report = try decode(MachineLock.self, sandbox.succeed(["vault", "lock", "--json"]).output)
            #expect(!report.everything && report.isAfterFirstUnlockOpen && report.hasUnattendedSlots)
            let status = try sandbox.status()
            #expect(status.availability == "ready" && !status.whenUnlocked.unlocked)
            let all = ["vault", "lock", "--everything", "--json"]
            let everything = try decode(MachineLock.self, sandbox.succeed(all).output)
            #expect(everything.everything && everything.isAfterFirstUnlockOpen)
            #expect(try !sandbox.status().afterFirstUnlock.unlocked)
            try sandbox.succeed(["vault", "keys"])
        }
    }

    /// The output of `vault lock --json`.
    private struct MachineLock: Decodable {
        let everything: Bool
        let whenUnlocked: MachineStatus.Unlocked
        let isAfterFirstUnlockOpen: Bool
        let hasUnattendedSlots: Bool
    }

    private struct MachineUnlock: Decodable {
        let afterFirstUnlock: MachineStatus.Unlocked
        let whenUnlocked: MachineStatus.Unlocked
        let isAfterFirstUnlockOpen: Bool
    }

    @Test func unlockingSaysWhichClassesAreOpenAndUntilWhen() throws {
        let sandbox = try Sandbox.withPassphrase()
        defer { _ = try? sandbox.sealctl(["vault", "lock", "--everything"]) }
        let command = ["vault", "unlock", "--for", "15m", "--passphrase-file", "pass"]
        let report = try decode(MachineUnlock.self, sandbox.succeed(command + ["--json"]).output)
        #expect(report.afterFirstUnlock.unlocked && report.afterFirstUnlock.until == nil)
        #expect(report.whenUnlocked.unlocked && report.whenUnlocked.until != nil && report.isAfterFirstUnlockOpen)
        let lines = try sandbox.succeed(command).outputText.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines[0] == "after first unlock  unlocked until the machine restarts")
        #expect(lines[1].hasPrefix("when unlocked       unlocked until 2"))
    }

    @Test func aTimeLimitIsShown() throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.unlocked(["--for", "15m", "--passphrase-file", "pass"]) {
            let status = try sandbox.status()
            #expect(status.whenUnlocked.unlocked && status.whenUnlocked.until != nil)
            #expect(status.afterFirstUnlock.unlocked && status.afterFirstUnlock.until == nil)
        }
    }

    @Test func aTimeLimitEndsTheUnlocking() throws {
        let sandbox = try Sandbox.withPassphrase()
        try sandbox.unlocked(["--for", "1s", "--passphrase-file", "pass"]) {
            // The loop waits for the end of the unlock. Its duration is not asserted.
            while try sandbox.status().whenUnlocked.unlocked { usleep(100_000) }
            #expect(try sandbox.status().availability == "ready")
        }
    }

    @Test func anUnattendedSlotUnlocksOnlyWhatItReaches() throws {
        let sandbox = try Sandbox()
        try sandbox.succeed(["vault", "create"])
        try sandbox.unlocked([]) {
            let status = try sandbox.status()
            #expect(status.afterFirstUnlock.unlocked && !status.whenUnlocked.unlocked)
        }
    }

    @Test func aWrongPassphraseUnlocksNothing() throws {
        let sandbox = try Sandbox.withPassphrase()
        #expect(try sandbox.sealctl(["vault", "unlock", "--passphrase-file", "wrong"]).exitCode == 51)
        #expect(try sandbox.status().availability == "locked")
    }

    @Test func lockingWhatIsNotThereIsNotFound() throws {
        #expect(try Sandbox().sealctl(["vault", "lock"]).exitCode == 44)
    }

    @Test(.enabled(if: PseudoTerminal.canControl, "setsid of util-linux"))
    func aPersonIsAskedWithoutAnOption() throws {
        let sandbox = try Sandbox.withPassphrase()
        let terminal = try PseudoTerminal()
        let child = try terminal.start(sandbox, ["vault", "unlock"])
        defer { _ = try? sandbox.sealctl(["vault", "lock", "--everything"]) }
        _ = try terminal.read(until: "Passphrase for \(Sandbox.group): ")
        terminal.type("\(Sandbox.passphrase)\n")
        let result = try child.finish()
        #expect(result.exitCode == 0, "\(result.errorText)")
        #expect(try sandbox.status().whenUnlocked.unlocked)
    }
}
