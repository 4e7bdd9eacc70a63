import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct AccessTimeTests {
    /// Sets the time of the last access before that of the last change, so that the file system records the next read.
    private static func age(_ path: String) {
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 0), timespec(tv_sec: 2_000_000, tv_nsec: 0)]
        utimensat(AT_FDCWD, path, times, 0)
    }

    private static func accessTime(_ path: String) -> Int {
        var status = stat()
        lstat(path, &status)
        return status.st_atim.tv_sec
    }

    /// A Boolean value: this file system records reads; if false, there is nothing to test.
    static let areNoted: Bool = {
        guard let directory = try? TemporaryDirectory(), (try? directory.file("a", "text")) != nil else { return false }
        age(directory.path("a"))
        _ = try? SystemFile.read(directory.path("a"))
        return accessTime(directory.path("a")) != 1_000_000
    }()

    @Test(.enabled(if: areNoted)) func anAuditOfOnesOwnFilesLeavesTheirAccessTimes() throws {
        let sandbox = try ScanSandbox()
        try sandbox.put("inner/notes.txt", "key: \(ScanSandbox.secret(1))")
        try sandbox.put("inner/state.json", #"{"key": "\#(ScanSandbox.secret(2))"}"#)
        try sandbox.put("inner/x.sealed", "SEAL\0\u{1}\u{2}")
        let paths = ["", "/inner", "/inner/notes.txt", "/inner/state.json", "/inner/x.sealed"].map {
            sandbox.directory.path + $0
        }
        paths.forEach(Self.age)
        #expect(try sandbox.audit().findings.count > 2)
        #expect(paths.map(Self.accessTime) == paths.map { _ in 1_000_000 })
    }
}
