import ContainerAudit
import Synchronization
import TestSupport
import Testing

@Suite struct ParallelAuditTests {
    let sandbox: ScanSandbox

    init() throws {
        sandbox = try ScanSandbox()
        for number in 0..<150 as Range<UInt64> {
            try sandbox.put(
                "d\(number % 7)/f\(number).txt", "key: \(ScanSandbox.secret(number))\nkey: \(ScanSandbox.secret(1))\n")
        }
    }

    @Test(arguments: [2, 3, 8]) func aReportIsTheSameRegardlessOfTheWorkers(workers: Int) throws {
        let alone = try sandbox.audit { $0.workers = 1 }
        let together = try sandbox.audit { $0.workers = workers }
        #expect(alone.files.count == 150)
        #expect(try together.json() == alone.json())
    }

    @Test(arguments: [1, 4]) func whichFindingsAreListedDoesNotDependOnTheWorkers(workers: Int) throws {
        let full = try sandbox.audit { $0.workers = 1 }
        let cut = try sandbox.audit {
            $0.workers = workers
            $0.limits.maximumFindings = 20
        }
        #expect(cut.findings == Array(full.findings.prefix(20)))
        #expect(cut.omissions.unlisted.reduce(0) { $0 + $1.count } == full.findings.count - 20)
    }

    @Test func progressNeverGoesBackAndEndsWithEverything() throws {
        let seen = Mutex<[AuditProgress]>([])
        _ = try sandbox.audit { $0.progress = { step in seen.withLock { $0.append(step) } } }
        let counting = seen.withLock { $0.filter { $0.totalFiles != nil } }
        #expect(counting.map(\.files) == counting.map(\.files).sorted())
        #expect(counting.last?.files == counting.last?.totalFiles)
        #expect(counting.last.map { $0.bytes > 0 && $0.findings > 0 } == true)
    }
}
