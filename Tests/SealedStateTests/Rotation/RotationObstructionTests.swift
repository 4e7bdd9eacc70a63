import Glibc
import Sealing
import TestSupport
import Testing

@testable import SealedState

/// Tests of obstacles to a rotation that a member of the group or the file system causes.
struct RotationObstructionTests {
    private static let member: uid_t = 65_533
    private static let isRoot = geteuid() == 0

    let sandbox: RotationSandbox

    init() throws { sandbox = try RotationSandbox() }

    /// Creates a file whose name is not UTF-8, in the container.
    private func plantNameless(owner: uid_t) throws {
        let name = Array(sandbox.path("bad").utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        let file = open(name, O_CREAT | O_WRONLY, 0o600)
        try #require(file >= 0 && fchown(file, owner, 0) == 0)
        close(file)
    }

    @Test(.enabled(if: isRoot, "needs root")) func aNamelessFileOfAMemberIsReportedAndPassedOver() throws {
        try sandbox.write(1)
        try plantNameless(owner: Self.member)
        let report = try sandbox.rotate()
        #expect(report.isCompleted)
        #expect(report.left.map(\.code) == [.file])
        #expect(report.left.map(\.isBlocking) == [false])
        // Destroying a key cannot be undone, so the file counts as an obstacle.
        let key = try #require(try sandbox.store.rotationStatus().keys.first)
        #expect(key.obstacles == [.unknownFiles(1)])
    }

    @Test(.enabled(if: isRoot, "needs root"), arguments: [member, 0])
    func deepDirectoriesHoldUpOnlyWhereTheyAreTheOwnersOwn(_ owner: uid_t) throws {
        var path = sandbox.path("deep")
        for _ in 0..<70 {
            try #require(mkdir(path, 0o700) == 0 && chown(path, owner, 0) == 0)
            path += "/d"
        }
        let report = try sandbox.rotate()
        #expect(report.left.map(\.isBlocking) == [owner == 0])
        #expect(report.isCompleted == (owner != 0))
    }

    @Test func aDirectoryWhoseNameIsNotTextIsNotTakenForNothing() throws {
        let name = Array(sandbox.path("bad").utf8CString.dropLast()) + [CChar(bitPattern: 0xFF), 0]
        try #require(mkdir(name, 0o700) == 0)
        let report = try sandbox.rotate()
        #expect(!report.isCompleted)
        #expect(report.left.map(\.code) == [.file])
    }

    @Test func namedPathsAreSkipped() throws {
        try sandbox.write(1)
        try plantNameless(owner: geteuid())
        let path = try #require(try sandbox.rotate().left.first).path
        #expect(try !sandbox.rotate { $0.passingOver = ["another"] }.isCompleted)
        let report = try sandbox.rotate { $0.passingOver = [path] }
        #expect(report.isCompleted)
        #expect(report.left.map(\.isBlocking) == [false])
    }

    // An authentic blob is its owner's data, so it is not given up without consent.
    @Test(.enabled(if: isRoot, "needs root")) func aStreamThatAMemberHasToHimselfWaitsForHimOrForAWord() throws {
        try sandbox.plantStream("s", [1], mode: 0o600)
        try #require(chown(sandbox.path("s"), Self.member, 0) == 0)
        let report = try sandbox.rotate()
        #expect(!report.isCompleted)
        #expect(report.left.map(\.code) == [.permissionDenied])
        #expect(try sandbox.rotate { $0.passingOver = ["s"] }.isCompleted)
        #expect(try sandbox.header("s").epoch == 1)
    }

    @Test func filesBelowANamedDirectoryAreSkipped() {
        var options = RotationOptions()
        options.passingOver = ["a/b"]
        #expect(options.passesOver("a/b") && options.passesOver("a/b/c"))
        #expect(!options.passesOver("a") && !options.passesOver("a/bc"))
    }

    struct Closed: Sendable, CustomTestStringConvertible {
        let path: String
        let isDirectory: Bool
        let owner: uid_t
        let isBlocking: Bool
        var testDescription: String { "\(path) of \(owner)" }

        static let records = "Library/Application Support/Records/"
        static let all = [
            Closed(path: "x", isDirectory: false, owner: member, isBlocking: false),
            Closed(path: "x", isDirectory: true, owner: member, isBlocking: false),
            Closed(path: records + "x", isDirectory: false, owner: member, isBlocking: false),
            Closed(path: records + "x.sealed", isDirectory: false, owner: member, isBlocking: true),
            Closed(path: records + "x", isDirectory: true, owner: member, isBlocking: true),
            Closed(path: "x", isDirectory: false, owner: 65_534, isBlocking: true),
            Closed(path: "x", isDirectory: true, owner: 65_534, isBlocking: true),
            Closed(path: "x", isDirectory: false, owner: 0, isBlocking: true),
        ]
    }

    @Test(.enabled(if: isRoot && ChildProcess.canRunUnprivileged, "needs root and setpriv"), arguments: Closed.all)
    func closedFilesDelayARotationIfTheyMayBeItsRecords(_ item: Closed) throws {
        try sandbox.write(1)
        if item.isDirectory {
            try #require(mkdir(sandbox.path(item.path), 0o700) == 0)
        } else {
            try SystemFile.write(sandbox.path(item.path), [1], mode: 0o600)
        }
        _ = try ChildProcess.run("/usr/bin/chown", ["-R", "65534:65534", sandbox.fixture.place.path])
        try #require(chown(sandbox.path(item.path), item.owner, 0) == 0 && chmod(sandbox.path(item.path), 0) == 0)
        let words = ["rotate", sandbox.fixture.place.path, sandbox.fixture.group.identifier]
        let output = try ChildProcess.runUnprivileged("sealed-probe", words).outputText
        #expect(output.contains("left permissionDenied \(item.path)"), "\(output)")
        #expect(output.contains(item.isBlocking ? "open 2" : "completed 2"), "\(output)")
    }

    // MARK: The file system

    @Test func aBlobThatCannotBeWrittenAgainHoldsTheRotationUp() throws {
        try sandbox.plantStream("large", RotationSandbox.contents(2_000_000))
        let script = #"trap "" XFSZ; ulimit -f 1000; exec "$@""#
        let words = [
            "-c", script, "sh", builtProduct("sealed-probe"), "rotate", sandbox.fixture.place.path,
            sandbox.fixture.group.identifier,
        ]
        let output = try ChildProcess.run("/bin/sh", words).outputText
        #expect(output.contains("left tooLarge large"), "\(output)")
        #expect(output.contains("open 2"), "\(output)")
        #expect(try sandbox.rotate().isCompleted)
        #expect(try sandbox.header("large").epoch == 2)
    }

    @Test(.enabled(if: isRoot, "needs root"), arguments: [0, 12_345])
    func aStreamKeepsItsGroupRegardlessOfItsDirectory(_ group: gid_t) throws {
        try sandbox.plantStream("d/s", [1, 2, 3])
        try #require(chown(sandbox.path("d/s"), 0, group) == 0)
        try #require(chown(sandbox.path("d"), 0, 54_321) == 0 && chmod(sandbox.path("d"), 0o2770) == 0)
        #expect(try sandbox.rotate().resealed == 1)
        var status = stat()
        try #require(stat(sandbox.path("d/s"), &status) == 0)
        #expect(status.st_gid == group)
        #expect(try SystemFile.mode(sandbox.path("d/s")) == 0o640)
    }
}
