import SharedFiles
import TestSupport
import Testing

/// Tests of system calls that fail: the old value remains, or the new one does and the error says what is unknown.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(10)))
struct FaultTests {
    static let faults: [(String, FileError.Code)] = [
        ("fallocate:error=ENOSPC", .noSpace), ("fallocate:error=EDQUOT", .quotaExceeded),
        ("fdatasync:error=EIO:when=1", .io), ("fdatasync:error=EINTR:when=1", .io),
        ("fdatasync:error=ENOSPC", .noSpace),
        ("renameat:error=EROFS", .readOnly), ("fchmod:error=EPERM", .permissionDenied),
    ]

    @Test(arguments: faults, ["anonymous", "named"])
    func aFailureBeforeTheRenameLeavesTheOldValueAndNothingElse(
        _ fault: (String, FileError.Code), _ strategy: String
    ) throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        let result = try sandbox.traced(strategy).run(injecting: [fault.0])
        #expect(result.outputText == "\(fault.1.rawValue)\n")
        #expect(try sandbox.text("x") == "old")
        #expect(try sandbox.names() == ["x"])
    }

    // A second fsync would succeed, after the kernel has dropped the unwritten data.
    @Test(arguments: ["fsync:error=EIO:when=1", "fsync:error=EINTR:when=1"])
    func aFailedSyncIsNotTriedAgain(_ fault: String) throws {
        let sandbox = try Sandbox()
        try sandbox.file("x", "old")
        let result = try sandbox.traced("automatic").run(injecting: [fault])
        #expect(result.outputText == "durabilityUnknown\n")
        #expect(try sandbox.text("x") == Sandbox.newValue)
        #expect(try sandbox.names() == ["x"])
    }

    @Test func unsyncedWritesSyncNothing() throws {
        let sandbox = try Sandbox()
        let traced = sandbox.traced("automatic", "unsynced")
        let result = try traced.run(injecting: ["fsync:error=EIO", "fdatasync:error=EIO"])
        #expect(result.outputText == "done\n")
    }

    @Test(arguments: ["fallocate:error=EINTR:when=1", "renameat:error=EINTR:when=1", "fallocate:error=EOPNOTSUPP"])
    func aSignalOrAMissingReservationDoesNotMatter(_ fault: String) throws {
        let sandbox = try Sandbox()
        #expect(try sandbox.traced("automatic").run(injecting: [fault]).outputText == "done\n")
        #expect(try sandbox.text("x") == Sandbox.newValue)
    }

    // The last openat of a run is the one with O_TMPFILE.
    @Test(arguments: ["EOPNOTSUPP", "EISDIR", "ENOENT"])
    func aFileSystemWithoutAnonymousFilesGetsNamedOnes(_ number: String) throws {
        let sandbox = try Sandbox()
        let traced = sandbox.traced("automatic")
        _ = try traced.run()
        let last = try #require(try traced.calls().last { $0.name == "openat" })
        let fault = "openat:error=\(number):when=\(last.ordinal)"
        #expect(try traced.run(injecting: [fault]).outputText == "done\n")
        #expect(try sandbox.names() == ["x"])
        let strict = sandbox.traced("anonymous")
        #expect(try strict.run(injecting: [fault]).outputText != "done\n")
    }

    @Test func aKernelWithoutOpenat2IsReportedAsUnsupported() throws {
        let sandbox = try Sandbox()
        let result = try sandbox.traced("named").run(injecting: ["openat2:error=ENOSYS"])
        #expect(result.outputText == "unsupported\n")
    }
}
