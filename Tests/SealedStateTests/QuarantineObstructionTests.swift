import Glibc
import SealedState
import Synchronization
import TestSupport
import Testing

/// Tests of obstacles to keeping a refused blob: they block no writer
/// (docs/decisions/0004-writing-over-a-damaged-blob.md).
@Suite struct QuarantineObstructionTests {
    let fixture: StoreFixture
    let store: SealedStore
    let rejections = RejectionLog()

    /// The rejections that the hook received.
    final class RejectionLog: Sendable {
        private let errors = Mutex<[StoreError]>([])
        func note(_ error: StoreError) { errors.withLock { $0.append(error) } }
        var all: [StoreError] { errors.withLock { $0 } }
    }

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open { [rejections] options in
            options.maximumRecordSize = 4096
            options.onRejection = { rejections.note($0) }
        }
        try store.write(Note(text: "x"))
        try fixture.plant(Array("garbage".utf8))
    }

    static let planted: [@Sendable (String) throws -> Void] = [
        { try SystemFile.write($0, [1]) },
        { #expect(symlink("/tmp", $0) == 0) },
        { #expect(mkfifo($0, 0o600) == 0) },
    ]

    @Test(arguments: planted.indices) func aPlantedFileInItsPlaceStopsNoWriter(_ index: Int) throws {
        try Self.planted[index](fixture.quarantine)
        #expect(try store.write(Note(text: "new")) == 2)
        #expect(try store.read(Note.self).text == "new")
        #expect(rejections.all.count == 1)
        #expect(rejections.all.allSatisfy { !$0.isRejection && $0.subject == Note.recordName })
        try fixture.plant(Array("garbage".utf8))
        #expect(try store.delete(Note.self) == 3)
    }

    @Test func theHookIsNotNotifiedOfKeptCopies() throws {
        #expect(try store.write(Note(text: "new")) == 2)
        #expect(rejections.all.isEmpty)
    }

    @Test func theSixtyFifthIsReported() throws {
        for number in 0..<64 {
            try fixture.plant(Array("damaged \(number)".utf8))
            try store.write(Note(text: "new"))
        }
        #expect(rejections.all.isEmpty)
        try fixture.plant(Array("one more".utf8))
        try store.write(Note(text: "new"))
        #expect(rejections.all.count == 1)
    }
}

/// Tests of copies of files that cannot get a second name.
@Suite(.enabled(if: TracedProcess.isPossible, "needs strace and the right to trace"), .timeLimit(.minutes(10)))
struct QuarantineCopyTests {
    let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        #expect(try fixture.probe("store-write", "1", "100", "durable") == "written 1")
        try fixture.plant(Array("garbage".utf8), "probe")
    }

    /// Writes over garbage while its link fails, with further failing calls if given.
    private func write(failingLink error: String, also injections: [String] = []) throws -> String {
        let traced = fixture.traced(["store-write", "2", "100", "durable"])
        defer { traced.removeLog() }
        _ = try traced.run()
        let link = try #require(
            try traced.calls().first { $0.name == "linkat" && $0.line.contains(", \"probe.sealed\"") })
        try fixture.plant(Array("rubbish".utf8), "probe")
        return try traced.run(injecting: ["linkat:error=\(error):when=\(link.ordinal)"] + injections)
            .outputText.trimmingNewlines
    }

    private var kept: Set<[UInt8]> {
        get throws {
            let names = try SystemFile.names(fixture.quarantine).filter { $0.hasSuffix(".sealed") }
            return Set(try names.map { try SystemFile.read("\(fixture.quarantine)/\($0)") })
        }
    }

    @Test(arguments: ["EMLINK", "EPERM", "EXDEV", "EOPNOTSUPP"]) func aFileWithoutASecondNameIsCopied(
        _ error: String
    ) throws {
        #expect(try write(failingLink: error) == "written 3")
        #expect(try kept == [Array("garbage".utf8), Array("rubbish".utf8)])
        #expect(try fixture.probe("store-read") == "2 100 3")
        #expect(try fixture.staleFiles() == [])
    }

    @Test func aFullDiskForTheCopyEndsNoWrite() throws {
        // The copy is the first to ask for space.
        #expect(try write(failingLink: "EMLINK", also: ["fallocate:error=ENOSPC:when=1"]) == "written 3")
        #expect(try kept == [Array("garbage".utf8)])
        #expect(try fixture.probe("store-read") == "2 100 3")
    }
}
