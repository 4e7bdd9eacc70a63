import AppGroups
import Glibc
import KeyVault
import TestSupport
import Testing

/// Tests that a program that is killed at any system call of a change leaves either the old or the new vault, and that
/// the next change succeeds.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(60)))
struct VaultKillFaultTests {
    @Test(arguments: SweptChange.allCases)
    func killingAChangeAtEverySystemCallLeavesOldOrNew(_ change: SweptChange) throws {
        let swept = try SweptVault(change)
        var outcomes: Set<Bool> = []
        var unreached = 0
        let calls = try calls(of: swept)
        for call in calls {
            let old = try swept.prepare()
            // A complete file that was never renamed is removed by the next write of that file.
            #expect(Set(try swept.staleFiles()).isSubset(of: SweptVault.pendingNames), "before \(call)")
            let traced = swept.probe
            defer { traced.removeLog() }
            let killed = try traced.run(killedAt: call)
            // A round that removes fewer files, or maps fewer pages for its secrets, ends before the last calls of the
            // undisturbed one.
            if killed.status == .exited(0) {
                unreached += 1
            } else {
                #expect(killed.status == .signalled(SIGKILL), "\(call)")
            }
            let isNew = try swept.wasChanged(old, "\(call)")
            // An acknowledged change is kept.
            if killed.outputText.contains("done") { #expect(isNew, "\(call)") }
            #expect(Set(try swept.staleFiles(withValues: false)).isSubset(of: SweptVault.pendingNames), "\(call)")
            outcomes.insert(isNew)
        }
        #expect(unreached <= max(2, calls.count / 50))
        _ = try swept.prepare()
        #expect(Set(try swept.staleFiles()).isSubset(of: SweptVault.pendingNames))
        // Both outcomes occurred, so the sweep included the rename.
        #expect(outcomes == [true, false])
    }

    /// Returns the calls of an undisturbed change. The short form uses the calls that change something after the lock
    /// is acquired.
    private func calls(of swept: SweptVault) throws -> [TracedProcess.Call] {
        let old = try swept.prepare()
        let traced = swept.probe
        defer { traced.removeLog() }
        #expect(try traced.run().outputText.hasSuffix("done\n"))
        #expect(try swept.wasChanged(old, "undisturbed"))
        if isLongForm { return try traced.calls(from: nil) }
        let calls = try traced.calls(from: "\".lock\"").filter(\.isChange)
        #expect(Set(calls.map(\.name)).isSuperset(of: Self.steps))
        return swept.change == .add ? calls : calls.filter { Self.steps.contains($0.name) }
    }

    private static let steps: Set = ["write", "linkat", "fdatasync", "renameat", "fsync"]

    @Test func killingTheMakingOfAVaultLeavesOneKeyOrNone() throws {
        var hadVault = false
        var hadKeyFileAlone = false
        for call in try callsOfCreation() {
            let fixture = try VaultFixture()
            let traced = Self.creation(fixture)
            defer { traced.removeLog() }
            #expect(try traced.run(killedAt: call).status == .signalled(SIGKILL), "\(call)")
            let vault = SystemFile.exists(fixture.path) ? try SystemFile.read(fixture.path) : nil
            let keyFile = SystemFile.exists(fixture.keyFile) ? try SystemFile.read(fixture.keyFile) : nil
            hadVault = hadVault || vault != nil
            hadKeyFileAlone = hadKeyFileAlone || (keyFile != nil && vault == nil)
            // The key file is written first, because a vault without one could never be opened.
            #expect(vault == nil || keyFile != nil, "\(call)")
            let opened = try fixture.openOrCreate()
            // Existing files are never created again.
            if let vault { #expect(try SystemFile.read(fixture.path) == vault, "\(call)") }
            if let keyFile { #expect(try SystemFile.read(fixture.keyFile) == keyFile, "\(call)") }
            try opened.add("s", "a", [1, 2, 3])
            #expect(try fixture.open().value("s", "a") == [1, 2, 3], "\(call)")
            #expect(try fixture.open().readAccessLog().isIntact, "\(call)")
            let names = try SystemFile.names(fixture.beside(""))
            #expect(Set(names.filter { !$0.hasPrefix(".marks.") }).isSubset(of: SweptVault.knownNames), "\(call)")
        }
        #expect(hadVault && hadKeyFileAlone)
    }

    private static func creation(_ fixture: VaultFixture) -> TracedProcess {
        let home = fixture.directory.path
        return TracedProcess(["vault-change", home, fixture.group.identifier, "create"], log: home + ".trace")
    }

    private func callsOfCreation() throws -> [TracedProcess.Call] {
        let fixture = try VaultFixture()
        let traced = Self.creation(fixture)
        defer { traced.removeLog() }
        #expect(try traced.run().outputText == "done\n")
        if isLongForm { return try traced.calls(from: nil) }
        return try traced.calls(from: fixture.directory.path).filter {
            $0.isChange && $0.name != "fcntl" && $0.name != "fchmod"
        }
    }
}
