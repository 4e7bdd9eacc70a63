import AppGroups
import TestSupport
import Testing

/// Tests of a lease whose record cannot be written: it is not taken, and no process has to wait for it.
@Suite(
    .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(10)))
struct LeaseCallFaultTests {
    static let faults = [
        ("fallocate", "ENOSPC", "noSpace"), ("fallocate", "EDQUOT", "quotaExceeded"), ("linkat", "EROFS", "readOnly"),
        ("fdatasync", "EIO", "file"), ("fdatasync", "ENOSPC", "noSpace"), ("renameat", "EIO", "file"),
        ("fsync", "EIO", "durabilityUnknown"),
    ]

    @Test(arguments: faults) func aLeaseThatCannotBeWrittenIsNotTaken(_ fault: (String, String, String)) throws {
        let fixture = try StoreFixture()
        let words = ["lease", fixture.place.path, fixture.group.identifier, "refresh", "600000"]
        #expect(try ChildProcess.run("sealed-probe", words).outputText == "waiting\ntook 1\nperformed\n")
        let traced = fixture.traced(["lease", "refresh", "600000"])
        defer { traced.removeLog() }
        let failed = try traced.run(injecting: ["\(fault.0):error=\(fault.1)"], everyThread: true)
        #expect(failed.outputText == "waiting\n\(fault.2)\n")
        // The fence of a lease that was not granted may be used up.
        let next = try ChildProcess.run("sealed-probe", words).outputText
        #expect(next.hasSuffix("performed\n") && !next.contains("took 1\n"), "\(next)")
        #expect(try fixture.staleFiles() == [])
    }
}
