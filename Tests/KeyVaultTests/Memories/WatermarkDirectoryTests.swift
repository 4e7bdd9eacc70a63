import AppGroups
import CryptoPrimitives
import Glibc
import Sealing
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

/// Tests of the two directories for the watermarks of a user's programs.
@Suite struct WatermarkDirectoryTests {
    private let sandbox: MemorySandbox
    private let key = (0..<32).map { UInt8($0) }
    private let name = WatermarkEntryTests.name

    init() throws { sandbox = try MemorySandbox() }

    private func table(_ choice: MemoryChoice) throws -> WatermarkTable {
        let secret = key.withRawBytes { SecretBytes(copying: $0) }
        return WatermarkTable(log: try sandbox.place(choice).watermarkLog(vaultID: "0123456789abcdef", key: secret))
    }

    private func mark(_ sequence: UInt64) -> Watermark {
        Watermark(epoch: 1, sequence: sequence, commitment: WatermarkTests.commitment(1))
    }

    @Test func watermarksOfBothDirectoriesCount() throws {
        for (choice, sequence) in [(MemoryChoice.home, 3), (.state, 7), (.home, 5)] as [(MemoryChoice, UInt64)] {
            let table = try table(choice)
            let verdict = table.accept(compartment: name, mark(sequence), isAcknowledged: true)
            #expect(verdict == (sequence == 5 ? .replayed : .advances), "\(choice) \(sequence)")
            #expect(table.condition == (sequence == 3 ? .firstContact : .intact))
        }
    }

    @Test func aRunningProgramReadsTheNewsOfBothDirectories() throws {
        let other = try table(.state)
        _ = other.accept(compartment: name, mark(3), isAcknowledged: true)
        let running = try table(.home)
        _ = other.accept(compartment: name, mark(7), isAcknowledged: true)
        running.refresh()
        #expect(running.accept(compartment: name, mark(6), isAcknowledged: true) == .replayed)
        // State that was read from the other directory at the beginning is kept in this one.
        try sandbox.withoutSeeing("state/sealed-groups") {
            let own = try table(.home)
            #expect(own.accept(compartment: name, mark(6), isAcknowledged: true) == .replayed)
        }
    }

    // home:   accepts 7
    // state:  ......... reads it, the disk is full ... there is room again, accepts a state of another name
    @Test(.enabled(if: SmallFileSystem.isPossible, "needs root and the right to mount"))
    func aStateThatAFullDiskDroppedIsStoredWithTheNextOne() throws {
        let disk = try SmallFileSystem(at: sandbox.directory.path("state"))
        defer { withExtendedLifetime(disk) {} }
        try disk.fillBytes()
        _ = try table(.home).accept(compartment: name, mark(7), isAcknowledged: true)
        let running = try table(.state)
        guard case .notPersisted = running.condition else {
            Issue.record("the state was stored: \(running.condition)")
            return
        }
        try sandbox.withoutSeeing("groups/Watermarks") {
            let own = try table(.state).mark(of: name)
            #expect(own == nil)
        }
        #expect(unlink("\(disk.path)/fill") == 0)
        let other = NameTag(bytes: [UInt8](repeating: 9, count: 16).withRawBytes { Bytes16($0) })
        _ = running.accept(compartment: other, mark(1), isAcknowledged: true)
        #expect(running.condition == .intact)
        try sandbox.withoutSeeing("groups/Watermarks") {
            let own = try table(.state)
            #expect(own.accept(compartment: name, mark(6), isAcknowledged: true) == .replayed)
            #expect(own.mark(of: other)?.sequence == 1)
        }
    }

    /// It does not count, so an acceptance does not need it.
    @Test func anUnsafeFileOfTheOtherDirectoryPreventsNoAcceptance() throws {
        _ = try table(.home).accept(compartment: name, mark(7), isAcknowledged: true)
        let running = try table(.state)
        #expect(chmod(sandbox.path(.home, "Watermarks"), 0o777) == 0)
        try running.acceptLosses()
        #expect(running.condition == .intact)
        #expect(running.mark(of: name)?.sequence == 7)
    }
}
