import AppGroups
import KeyVault
import Sealing
import TestSupport
import Testing

/// Tests of several programs that create, change and open one vault at once.
@Suite(.timeLimit(.minutes(10))) struct VaultRaceFaultTests {
    private func start(_ fixture: VaultFixture, _ command: String, _ words: [String] = []) throws -> ChildProcess {
        try ChildProcess("sealed-probe", [command, fixture.directory.path, fixture.group.identifier] + words)
    }

    /// Starts all children at once after each has reported that it is ready, and returns the last line of each.
    private func release(_ children: [ChildProcess]) throws -> [String] {
        for child in children { #expect(try child.readLine() == "ready") }
        for child in children { try child.write("go\n") }
        return try children.map { child in
            let result = try child.finish()
            guard case .exited = result.status else { return "\(result.status)" }
            return result.outputText.split(separator: "\n").last.map(String.init) ?? ""
        }
    }

    @Test(arguments: 0..<(isLongForm ? 50 : 5)) func ofTwoPassphraseChangesOneWins(_ round: Int) throws {
        // A: open with old, derive new A ... lock, replace the slot, write
        // B: open with old, derive new B ............................... lock, the slot is missing
        let fixture = try VaultFixture()
        try fixture.create(with: passphrase("old"))
        let names = ["first", "second"]
        let answers = try release(names.map { try start(fixture, "vault-change", ["passphrase", "old", $0]) })
        #expect(answers.sorted() == ["done", "slotNotFound"])
        for (name, answer) in zip(names, answers) {
            let credential = try passphrase(name)
            let code = code { () throws(VaultError) in _ = try fixture.open(with: credential) }
            #expect(code == (answer == "done" ? nil : .wrongPassphrase), "\(name): \(answer)")
        }
        let old = try passphrase("old")
        #expect(code { () throws(VaultError) in _ = try fixture.open(with: old) } == .wrongPassphrase)
        let winner = try fixture.open(with: try passphrase(names[answers[0] == "done" ? 0 : 1]))
        #expect(try winner.slots().count == 1)
        #expect(try winner.readAccessLog().isIntact)
    }

    @Test func openingDuringFourOtherChangesYieldsWholeVaults() throws {
        // 4 writers: lock, read, write, lock, read, write, ...
        // readers:   open, look, open, look, ... until the last writer is done
        let fixture = try VaultFixture()
        let follower = try fixture.create()
        try follower.add("s", "a", [0])
        let count = isLongForm ? 500 : 60
        let writers = try (0..<4).map { _ in try start(fixture, "vault-change", ["many", "\(count)"]) }
        let results = try concurrently(3) { index in
            if index == 0 {
                let answers = try release(writers)
                try fixture.openOrCreate().add("s", "over", [1])
                return answers
            }
            return try watch(fixture, follower, reopening: index == 1)
        }
        let answers = try results[0].get()
        #expect(answers == [String](repeating: "done", count: 4))
        for result in results.dropFirst() {
            let failures = try result.get()
            #expect(failures == [])
        }
        let vault = try fixture.open()
        #expect(vault.generation == UInt64(4 * count + 3))
        let log = try vault.readAccessLog()
        #expect(log.isIntact && log.notedHead == .found, "\(log)")
    }

    /// Opens the vault repeatedly, or reads the open one, and returns the faults.
    private func watch(_ fixture: VaultFixture, _ follower: Vault, reopening: Bool) throws -> [String] {
        var generation: UInt64 = 0
        var failures: [String] = []
        var isOver = false
        while !isOver {
            do throws(VaultError) {
                let vault = reopening ? try fixture.open() : follower
                let items = try vault.items()
                isOver = items.contains { $0.account == "over" }
                if !items.contains(where: { $0.account == "a" && $0.size >= 1 }) { failures.append("no item") }
                if vault.generation < generation { failures.append("an older one") }
                generation = vault.generation
            } catch {
                failures.append("\(error)")
                if failures.count > 20 { return failures }
            }
        }
        return failures
    }

    @Test(arguments: 0..<(isLongForm ? 50 : 3)) func eightMakeAVaultWhileEightOpenIt(_ round: Int) throws {
        // 8 makers:  look, lock, look, create or find it
        // 8 openers: absent, absent, ... opened
        let fixture = try VaultFixture()
        let makers = try (0..<8).map { _ in try start(fixture, "vault-key") }
        let openers = try (0..<8).map { _ in try start(fixture, "vault-wait") }
        let answers = try release(makers + openers)
        #expect(Set(answers) == [try fixture.keyID()], "\(answers)")
        #expect(try fixture.open().generation == 1)
        #expect(try fixture.open().readAccessLog().isIntact)
    }
}
