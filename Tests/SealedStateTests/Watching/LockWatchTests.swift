import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of a watched record of the class *when unlocked*.
@Suite("Watching through lock and unlock", .enabled(if: ProtectedSandbox.isAvailable), .timeLimit(.minutes(5)))
final class LockWatchTests {
    private let sandbox: ProtectedSandbox

    init() throws { sandbox = try ProtectedSandbox() }
    deinit { sandbox.end() }

    @Test func unlockingAndLockingAreReported() async throws {
        try await sandbox.person.write(Guarded(number: 1))
        let updates = Watching(try sandbox.service.updates(of: Guarded.self))
        #expect(try await updates.next(\.refusal) == .locked)
        for _ in 0..<3 {
            try sandbox.unlock()
            #expect(try await updates.next(\.value?.number) == 1)
            try sandbox.lock()
            #expect(try await updates.next(\.refusal) == .locked)
        }
    }

    @Test func aValueWrittenWhileLockedIsReportedAfterTheUnlock() async throws {
        try await sandbox.person.write(Guarded(number: 1))
        let updates = Watching(try sandbox.service.updates(of: Guarded.self))
        #expect(try await updates.next(\.refusal) == .locked)
        try await sandbox.person.write(Guarded(number: 2))
        try sandbox.unlock()
        #expect(try await updates.next(\.value?.number) == 2)
    }

    /// If a look changed a watched directory, it would cause the next look, without end.
    @Test func aLookAtALockedRecordChangesNothingInTheVaultsDirectory() async throws {
        try await sandbox.person.write(Guarded(number: 1))
        #expect(code { _ = try sandbox.service.read(Guarded.self) } == .locked)
        let before = try times()
        for _ in 0..<3 { #expect(code { _ = try sandbox.service.read(Guarded.self) } == .locked) }
        #expect(try times() == before)
    }

    private func times() throws -> [String: [Int]] {
        let directory = sandbox.fixture.place.path("Vaults/\(sandbox.fixture.group)")
        var times: [String: [Int]] = [:]
        for name in try SystemFile.names(directory) + ["."] {
            var status = stat()
            #expect(lstat("\(directory)/\(name)", &status) == 0)
            times[name] = [status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_nsec, Int(status.st_ino)]
        }
        return times
    }
}
