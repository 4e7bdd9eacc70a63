import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

@Suite struct AccessLogTests {
    let fixture: AccessLogFixture

    init() throws { fixture = try AccessLogFixture() }

    @Test func everyUserWhoSharesTheLogMayWriteIt() throws {
        let place = try TemporaryDirectory()
        let path = place.path("access.log")
        func append() throws {
            try AccessLog.noteFailedOpening(in: .open(place.path), mode: 0o660, generation: 1)
        }
        try append()
        #expect(try SystemFile.mode(path) == 0o660)
        // One mode was narrowed by the creator's umask, and the other grants more rights than necessary.
        for (mode, widened) in [(0o600, 0o660), (0o664, 0o664)] as [(mode_t, UInt32)] {
            chmod(path, mode)
            try append()
            #expect(try SystemFile.mode(path) == widened)
        }
    }

    @Test func withoutAFileTheLogIsEmptyAndIntact() throws {
        let result = try fixture.log.verify(noted: nil)
        #expect(result == AccessLogVerification())
        #expect(result.isIntact)
        #expect(try SystemFile.names(fixture.place.path) == [])
    }

    @Test func entriesAreReadBackInOrder() throws {
        try fixture.log.append(.created, generation: 1)
        try fixture.noteFailedOpening()
        try fixture.log.append(.slotAdded, outcome: .intended, subject: [9], generation: 2, durable: true)
        let entries = try fixture.entries()
        #expect(entries.map(\.index) == [0, 1, 2])
        #expect(entries.map(\.event) == [.created, .openFailed, .slotAdded])
        #expect(entries.map(\.outcome) == [.succeeded, .refused, .intended])
        #expect(entries.map(\.generation) == [1, 7, 2])
        #expect(entries.map(\.isUnkeyed) == [false, true, false])
        #expect(entries.map(\.subject) == [nil, nil, fixture.log.subject(of: [9])])
    }

    @Test func anEntryShowsWhoAndWhen() throws {
        let before = WallClock.milliseconds()
        try fixture.append(1)
        let entry = try #require(try fixture.entries().first)
        #expect(entry.pid == getpid())
        #expect(entry.uid == geteuid())
        let executable = try SystemFile.linkTarget("/proc/self/exe")
        #expect(entry.executable.utf8.count <= ExecutableName.maximumSize)
        #expect(executable.hasSuffix(entry.executable))
        #expect(entry.isExecutableCut == (entry.executable != executable))
        #expect((before...WallClock.milliseconds()).contains(entry.milliseconds))
    }

    @Test func aChildProcessIsEnteredUnderItsOwnID() throws {
        let child = try ChildProcess("sealed-probe", ["access-log", fixture.place.path, "1", "65536"])
        let result = try child.finish(input: Array("\n".utf8))
        #expect(result.exitCode == 0)
        let entry = try #require(try fixture.entries().first)
        #expect(entry.pid == child.pid)
        #expect(entry.executable.hasSuffix("/sealed-probe"))
    }

    @Test func theHeadCountsEveryEntry() throws {
        #expect(try fixture.append(3).count == 3)
        try fixture.noteFailedOpening()
        let head = try fixture.append(1)
        #expect(head.count == 5)
        #expect(try fixture.log.verify(noted: head).notedHead == .found)
        #expect(Array(try fixture.bytes().suffix(32)) == Array(head.encoded.dropFirst(8)))
    }

    @Test func aSubjectIsNeverInPlaintext() throws {
        let subject = Array("bank.example account-of-ada".utf8)
        try fixture.log.append(.itemRead, subject: subject, generation: 1)
        let bytes = try fixture.bytes()
        let windows = (0...bytes.count - 8).map { Array(bytes[$0..<$0 + 8]) }
        #expect(!windows.contains(Array(subject.prefix(8))))
        #expect(!windows.contains(Array(subject.suffix(8))))
        #expect(try fixture.entries().first?.subject == fixture.log.subject(of: subject))
        #expect(fixture.log.subject(of: subject) != fixture.log.subject(of: subject + [0]))
    }

    @Test func theFileGetsItsExactModeRegardlessOfTheUmask() throws {
        try fixture.append(1)
        #expect(try SystemFile.mode(fixture.path) == 0o600)
        #expect(try fixture.bytes().count == 256)
    }

    @Test func twoLogsOfOneDirectoryContinueEachOther() throws {
        let other = AccessLogFixture.log(in: fixture.directory)
        for _ in 0..<5 {
            try fixture.append(1)
            try other.append(.opened, generation: 1)
        }
        let result = try fixture.log.verify(noted: nil)
        #expect(result.count == 10)
        #expect(result.isIntact)
    }

    @Test func aLogWhoseFileWasRemovedStartsAgainAndIsFound() throws {
        let head = try fixture.append(3)
        unlink(fixture.path)
        #expect(try fixture.log.verify(noted: head).notedHead == .cutShort(missing: 3))
        // The entries have another millisecond, because equal entries would be the same log.
        usleep(5000)
        try fixture.append(4)
        let result = try fixture.log.verify(noted: head)
        #expect(result.notedHead == .differs)
        #expect(!result.isIntact)
    }

    @Test(arguments: ["fifo", "link", "directory", "second name"])
    func somethingPlantedIsRefused(kind: String) throws {
        switch kind {
        case "fifo": try fixture.place.fifo("access.log")
        case "link":
            try fixture.place.file("target", "")
            try fixture.place.link("access.log", to: "target")
        case "directory": try fixture.place.directory("access.log")
        default:
            try fixture.place.file("target", "")
            link(fixture.place.path("target"), fixture.path)
        }
        let codes: [FileError.Code] = [.unsafePath, .notRegularFile]
        do {
            try fixture.append(1)
            Issue.record("it was written to")
        } catch let error as FileError {
            #expect(codes.contains(error.code))
        }
        if SystemFile.exists(fixture.place.path("target")) {
            #expect(try SystemFile.read(fixture.place.path("target")) == [])
        }
    }

    @Test func tooLongAWaitIsReported() throws {
        let held = try LockFile(directory: fixture.directory, name: AccessLogFile.lockLeaf)
            .acquire(.whole, .exclusive, timeout: .zero)
        let error = #expect(throws: FileError.self) {
            try fixture.log.append(.opened, generation: 1, timeLimit: .milliseconds(1))
        }
        #expect(error?.code == .lockTimeout)
        held.unlock()
        try fixture.append(1)
    }

    @Test func withoutKeysEntriesAreShownUnverified() throws {
        try fixture.append(2)
        try fixture.noteFailedOpening()
        var events: [AccessEvent] = []
        try AccessLog.readUnverified(in: fixture.directory) { events.append($0.event) }
        #expect(events == [.itemRead, .itemRead, .openFailed])
    }
}
