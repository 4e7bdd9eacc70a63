import Glibc
import SealedState
import Sealing
import TestSupport
import Testing

/// Tests of a first start that is killed at any call: the next start finishes it, with one key.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(30)))
struct FirstUseFaultTests {
    @Test func killingTheFirstStartAtEverySystemCallLeavesOneKey() throws {
        var hadBlob = false
        var hadKeyFileAlone = false
        for call in try calls() {
            let fixture = try StoreFixture()
            let traced = fixture.traced(Self.command)
            defer { traced.removeLog() }
            #expect(try traced.run(killedAt: call).status == .signalled(SIGKILL), "\(call)")
            let vault = SystemFile.exists(fixture.vault) ? try SystemFile.read(fixture.vault) : nil
            let keyFile = SystemFile.exists(fixture.keyFile) ? try SystemFile.read(fixture.keyFile) : nil
            hadKeyFileAlone = hadKeyFileAlone || (keyFile != nil && vault == nil)
            // The key file is written first: a vault without one could never be opened.
            #expect(vault == nil || keyFile != nil, "\(call)")

            let store = try fixture.open()
            let key = try store.vault.activeKey().id
            if SystemFile.exists(fixture.file("probe")) {
                hadBlob = true
                #expect(try UnverifiedHeader(parsing: try fixture.blob("probe")).claimed.keyID == key, "\(call)")
                #expect(try store.read(ProbeRecord.self).number == 1, "\(call)")
            }
            // Existing files are never created again.
            if let vault { #expect(try SystemFile.read(fixture.vault) == vault, "\(call)") }
            if let keyFile { #expect(try SystemFile.read(fixture.keyFile) == keyFile, "\(call)") }
            #expect(throws: Never.self) { try store.write(ProbeRecord(number: 2)) }
            #expect(try fixture.staleFiles() == [], "\(call)")
            #expect(try fixture.probe("vault-key").contains(key.description), "\(call)")
        }
        #expect(hadBlob && hadKeyFileAlone)
    }

    private static let command = ["store-write", "1", "100", "durable"]

    private func calls() throws -> [TracedProcess.Call] {
        let fixture = try StoreFixture()
        let traced = fixture.traced(Self.command)
        defer { traced.removeLog() }
        #expect(try traced.run().outputText == "written 1\n")
        let calls = try traced.calls(from: isLongForm ? nil : fixture.place.path).filter { $0.name != "execve" }
        if isLongForm { return calls }
        let names: Set = ["mkdirat", "linkat", "renameat", "fdatasync", "write"]
        return calls.filter { names.contains($0.name) }
    }
}
