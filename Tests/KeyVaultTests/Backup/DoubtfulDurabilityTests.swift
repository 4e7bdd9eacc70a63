import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault
@testable import SharedFiles

/// Tests that a file that is in place, but may not survive a power loss, does not count as unwritten.
@Suite struct DoubtfulDurabilityTests {
    private let fixture: VaultFixture

    init() throws { fixture = try VaultFixture() }

    // A directory opened with O_PATH allows renames but cannot be synced.
    private func unsyncable(_ path: String) throws -> Directory {
        let opened = open(path, 0o10000000 | O_CLOEXEC)
        try #require(opened >= 0)
        return Directory(path: path, owning: opened)
    }

    @Test func aBackupThatIsThereIsNotReportedAsMissing() throws {
        let path = fixture.directory.path("backup")
        let target = BackupTarget(
            path: path, directory: try unsyncable(fixture.directory.path), leaf: "backup")
        #expect(code { () throws(VaultError) in try target.create([1, 2]) } == .durabilityUnknown)
        #expect(try SystemFile.read(path) == [1, 2])
    }

    @Test func anIntermediateStepIsNotReportedAsTheWhole() throws {
        let directory = try unsyncable(fixture.directory.path)
        let step = { () throws(VaultError) in
            try VaultError.onFiles("make the vault") { () throws(FileError) in
                _ = try directory.makeDirectory("new", mode: 0o700)
            }
        }
        #expect(code(step) == .durabilityUnknown)
        rmdir(fixture.directory.path("new"))
        #expect(code { () throws(VaultError) in try VaultError.beforeCompletion(step) } == .file)
    }
}
