import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of confidentiality: a sealed value is nowhere in clear.
@Suite struct CanaryTests {
    private static let canary = "canary-6f1d-never-in-clear"

    @Test func noFileBelowTheHomeHoldsAPlaintext() throws {
        let fixture = try StoreFixture()
        let store = try fixture.open { $0.durability = .durable }
        let text = String(repeating: Self.canary, count: 5000)
        try store.write(Note(text: text))
        try store.update(Note.self) { $0.text += Self.canary }
        try store.write(Note(text: Self.canary), named: "accounts/short", durability: .unsynced)
        _ = try store.read(Note.self)
        // Refused blobs and their copies in quarantine.
        var damaged = try fixture.blob()
        damaged[Field.commitment] ^= 1
        try fixture.plant(damaged)
        #expect(code { _ = try store.read(Note.self) } == .wrongCommitment)
        try store.write(Note(text: text))
        try store.write(Note(text: Self.canary), named: "deleted")
        try store.delete(named: "deleted")
        let files = try fixture.files()
        #expect(files.count >= 8)
        for file in files { try expectNoCanary(in: try SystemFile.read(fixture.place.path(file)), file) }
    }

    @Test(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"))
    func aKilledWriterLeavesNoPlaintextAndNoCore() throws {
        // The payload of the probe is a row of x; sixteen of them in a row in a sealed file are practically impossible.
        let fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "50000", "durable") == "written 1")
        for injection in [
            "linkat:signal=KILL", "renameat:signal=ABRT", "fdatasync:signal=SEGV", "write:signal=KILL:when=1",
        ] {
            let traced = fixture.traced(["store-write", "2", "50000", "durable"])
            defer { traced.removeLog() }
            #expect(try traced.run(injecting: [injection]).exitCode > 128)
            for file in try fixture.files() {
                let bytes = try SystemFile.read(fixture.place.path(file))
                #expect(!bytes.contains(row: UInt8(ascii: "x"), 16), "\(file)")
            }
        }
    }

    private func expectNoCanary(in bytes: [UInt8], _ file: String) throws {
        let canary = Array(Self.canary.utf8)
        let isThere = bytes.indices.contains { bytes[$0] == canary[0] && bytes[$0...].starts(with: canary) }
        #expect(!isThere, "\(file)")
    }
}

extension [UInt8] {
    /// Returns whether the byte occurs that often in a row.
    fileprivate func contains(row byte: UInt8, _ count: Int) -> Bool {
        var length = 0
        for next in self {
            length = next == byte ? length + 1 : 0
            if length == count { return true }
        }
        return false
    }
}
