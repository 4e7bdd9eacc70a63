import Glibc
import SealedState
import TestSupport
import Testing

/// Tests of a directory on the path to a record that a member swaps while the record is written.
@Suite(.timeLimit(.minutes(10))) struct SwappedParentFaultTests {
    private static let name = "accounts/probe"

    let fixture: StoreFixture
    let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
        try fixture.place.directory("outside")
        try store.write(ProbeRecord(number: 1), named: Self.name)
    }

    private var outside: String { fixture.place.path("outside") }
    private var away: String { fixture.container + "/away" }

    /// The directories that may be swapped, below the container.
    static let parents = [
        "Library", "Library/Application Support/Records", "Library/Application Support/Records/accounts",
    ]

    // writer: lock, read … asks for the directory: a link now, refused
    // member: ………… moves it away, a link to outside in its place
    @Test(arguments: parents) func aLinkInItsPlaceIsRefused(_ parent: String) throws {
        let path = "\(fixture.container)/\(parent)"
        let refused = code {
            try store.update(ProbeRecord.self, named: Self.name) {
                #expect(rename(path, away) == 0)
                #expect(symlink(outside, path) == 0)
                $0.number = 2
            }
        }
        #expect(refused == .container)
        #expect(try SystemFile.names(outside) == [])
        unlink(path)
        #expect(rename(away, path) == 0)
        #expect(try store.read(ProbeRecord.self, named: Self.name).number == 1)
    }

    @Test(arguments: parents) func anotherDirectoryInItsPlaceGetsTheNewValue(_ parent: String) throws {
        let path = "\(fixture.container)/\(parent)"
        let sequence = try store.update(ProbeRecord.self, named: Self.name) {
            #expect(rename(path, away) == 0)
            #expect(mkdir(path, 0o700) == 0)
            $0.number = 2
        }
        #expect(sequence == 2)
        #expect(try store.read(ProbeRecord.self, named: Self.name).number == 2)
        // The contents of the moved directory were accepted before.
        try FileTree.remove(path)
        #expect(rename(away, path) == 0)
        #expect(code { _ = try store.read(ProbeRecord.self, named: Self.name) } == .replayed)
    }

    // writer: opens the directory, writes, syncs … stopped ………………………………………… renames, in the directory that it has open
    // member:                                     moves it away, a link to outside
    @Test(
        .enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), arguments: parents,
        ["fchmod", "linkat", "fdatasync"])
    func aWriterThatHasItOpenIsNotLedAway(_ parent: String, _ call: String) throws {
        let path = "\(fixture.container)/\(parent)"
        let traced = fixture.traced(["store-write", "2", "1", "durable", Self.name])
        defer { traced.removeLog() }
        _ = try traced.run()
        let place = try #require(try traced.calls(from: ".sealedstate.lock").last { $0.name == call })
        let writer = try traced.start(injecting: ["\(call):signal=STOP:when=\(place.ordinal)"])
        while try !traced.lines().contains(where: { $0.contains("stopped by SIGSTOP") }) { usleep(1000) }
        #expect(rename(path, away) == 0)
        #expect(symlink(outside, path) == 0)
        try wake(childOf: writer.pid)
        #expect(try writer.finish().outputText == "written 3\n")
        #expect(try SystemFile.names(outside) == [])
        #expect(code { _ = try store.read(ProbeRecord.self, named: Self.name) } != nil)

        unlink(path)
        #expect(rename(away, path) == 0)
        #expect(try store.snapshot(of: ProbeRecord.self, named: Self.name).provenance.sequence == 3)
    }

    private func wake(childOf strace: Int32) throws {
        let text = String(decoding: try SystemFile.read("/proc/\(strace)/task/\(strace)/children"), as: UTF8.self)
        for word in text.split(separator: " ") { kill(try #require(Int32(word)), SIGCONT) }
    }
}
