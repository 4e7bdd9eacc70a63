import FoundationEssentials
import Glibc
import SealedState
import TestSupport
import Testing

@testable import SealedStateTestKit

/// The shapes that one record has had, each as the type of its version.
private enum ReadingList {
    static let name = "reading_list"

    struct First: SealedRecord, Equatable {
        static let recordName = ReadingList.name
        static let schemaVersion = 1
        var titles: [String]
        static let example = First(titles: ["Middlemarch", "Emma"])
    }

    struct Second: SealedRecord, Equatable {
        static let recordName = ReadingList.name
        static let schemaVersion = 2
        static var migrations: SchemaMigrations<Self> {
            .from(1, First.self) { Second(books: $0.titles.map { Book(title: $0) }) }
        }
        struct Book: Codable, Equatable { var title: String, isRead = false }
        var books: [Book]
        static let example = Second(books: [Book(title: "Emma", isRead: true)])
    }

    struct Third: SealedRecord, Equatable {
        static let recordName = ReadingList.name
        static let schemaVersion = 3
        static let format = RecordFormat.binaryPropertyList
        static var migrations: SchemaMigrations<Self> {
            .from(1, First.self) { Second(books: $0.titles.map { Second.Book(title: $0) }) }
                .then(2) { Third(books: $0.books, changedAt: .distantPast2001) }
        }
        var books: [Second.Book]
        var changedAt: Date
        var cover: Data?
        static let example = Third(
            books: [Second.Book(title: "Persuasion", isRead: true)],
            changedAt: Date(timeIntervalSinceReferenceDate: 123_456), cover: Data([1, 2, 3]))
        static let older: [Int: Third] = [
            1: Third(
                books: [Second.Book(title: "Middlemarch"), Second.Book(title: "Emma")], changedAt: .distantPast2001),
            2: Third(books: Second.example.books, changedAt: .distantPast2001),
        ]
    }
}

extension Date {
    fileprivate static var distantPast2001: Date { Date(timeIntervalSinceReferenceDate: 0) }
}

/// The third shape, changed in common ways without a higher version.
private struct Renamed: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = 1
    var headings: [String]
}
private struct Extended: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = 1
    var titles: [String]
    var owner: String?
}
private struct Dropped: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = 1
}
private struct Raised: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = 2
    static let oldestReadableVersion = 2
    var books: [ReadingList.Second.Book]
}
private struct Short: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = 1
    static let rules: [FieldRule<Self>] = [.field("titles", \.titles, .length(...1))]
    var titles: [String]
}
private struct Strict: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = 1
    var titles: [String]
    func validate() throws(ValidationFailure) { throw ValidationFailure("titles", "None at all.") }
}

/// The same shape, in the other codec.
private struct Recoded: SealedRecord, Equatable {
    static let recordName = "recoded"
    static let schemaVersion = 1
    static let format = RecordFormat.binaryPropertyList
    var at: Date
    var bytes: Data
    var count: Int
    static let example = Recoded(at: .distantPast2001, bytes: Data([1, 2]), count: 3)

    struct JSON: SealedRecord, Equatable {
        static let recordName = Recoded.recordName
        static let schemaVersion = 1
        var at: Date
        var bytes: Data
        var count: Int
        static let example = JSON(at: .distantPast2001, bytes: Data([1, 2]), count: 3)
    }
}
private struct Unversioned: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = 0
}
private struct Overversioned: SealedRecord, Equatable {
    static let recordName = ReadingList.name
    static let schemaVersion = Int.max
    static let oldestReadableVersion = 1
}

@Suite struct GoldenRecordsTests {
    private let place: TemporaryDirectory
    private var golden: GoldenRecords

    init() throws {
        place = try TemporaryDirectory()
        golden = GoldenRecords(directory: place.path("golden"))
        // Overrides the environment that the tests run with.
        golden.recordsMissing = false
    }

    private func fault(_ body: () throws -> Void) -> GoldenFault.Code? {
        do { try body() } catch { return (error as? GoldenFault)?.code }
        return nil
    }

    private var firstFile: String { place.path("golden/reading_list/1.golden") }

    // The files in the repository are written once and read by every later version of the library.
    @Test func theFixturesOfThisRepositoryAreReadByTodaysType() throws {
        let golden = GoldenRecords(directory: repositoryGolden())
        try golden.verify(ReadingList.Third.example, older: ReadingList.Third.older)
    }

    @Test func everyVersionIsRecordedOnceAndVerifiedEverAfter() throws {
        try golden.record(ReadingList.First.example)
        try golden.verify(ReadingList.First.example)
        try golden.record(ReadingList.Second.example)
        try golden.verify(
            ReadingList.Second.example,
            older: [1: .init(books: [.init(title: "Middlemarch"), .init(title: "Emma")])])
        try golden.record(ReadingList.Third.example)
        try golden.verify(ReadingList.Third.example, older: ReadingList.Third.older)
        // An older program beside newer files.
        try golden.verify(ReadingList.First.example)
    }

    @Test func aGoldenRecordIsNeverMadeAgain() throws {
        try golden.record(ReadingList.First.example)
        let before = try SystemFile.read(firstFile)
        #expect(fault { try golden.record(ReadingList.First.example) } == .alreadyRecorded)
        #expect(try SystemFile.read(firstFile) == before)
    }

    @Test func aMissingVersionIsReported() throws {
        #expect(fault { try golden.verify(ReadingList.First.example) } == .missing)
        try golden.record(ReadingList.First.example)
        try golden.record(ReadingList.Third.example)
        #expect(fault { try golden.verify(ReadingList.Third.example, older: ReadingList.Third.older) } == .missing)
    }

    @Test func aShapeThatChangedWithoutTheVersionIsReported() throws {
        try golden.record(ReadingList.First.example)
        #expect(fault { try golden.verify(Renamed(headings: ["Emma"])) } == .shapeChanged)
        let titles = ReadingList.First.example.titles
        #expect(fault { try golden.verify(Extended(titles: titles, owner: "Ada")) } == .shapeChanged)
        #expect(fault { try golden.verify(Dropped()) } == .shapeChanged)
        // No file to compare with.
        #expect(fault { try golden.verify(ReadingList.First(titles: [])) } == .shapeChanged)
        #expect(fault { try golden.verify(Extended(titles: titles)) } == nil)
        try golden.verify(ReadingList.First(titles: ["Other"]), older: [1: .example])
    }

    @Test func theFieldThatChangedIsNamed() throws {
        try golden.record(ReadingList.First.example)
        do throws(GoldenFault) {
            try golden.verify(Extended(titles: ["Emma"], owner: "Ada"))
            Issue.record("no fault")
        } catch {
            #expect(error.reason.contains("owner"))
            #expect(error.errorDescription?.contains(error.reason) == true && error.failureReason == error.reason)
            #expect(error.recoverySuggestion == error.advice)
        }
    }

    @Test func aRuleThatRefusesWhatExistsIsNotAChangeOfTheShape() throws {
        try golden.record(ReadingList.First.example)
        #expect(fault { try golden.verify(Short(titles: ["Emma"])) } == .refused)
        #expect(fault { try golden.verify(ReadingList.First(titles: ["Emma"])) } == .unexpectedValue)
        #expect(fault { try golden.verify(Strict(titles: ["Emma"])) } == .badExample)
    }

    @Test func anotherCodecIsNotAChangeOfTheShape() throws {
        try golden.record(Recoded.JSON.example)
        try golden.verify(Recoded.example)
        try golden.verify(Recoded.JSON.example)
    }

    @Test func aMissingPresentVersionIsRecordedWhereThatIsAskedFor() throws {
        var recording = golden
        recording.recordsMissing = true
        try recording.verify(ReadingList.First.example)
        let before = try SystemFile.read(firstFile)
        try golden.verify(ReadingList.First.example)
        // Recording never replaces an existing file and never writes an older version.
        #expect(fault { try recording.verify(Extended(titles: ["Emma"], owner: "Ada")) } == .shapeChanged)
        #expect(try SystemFile.read(firstFile) == before)
        #expect(unlink(firstFile) == 0)
        #expect(fault { try recording.verify(ReadingList.Second.example) } == .missing)
        #expect(!SystemFile.exists(firstFile))
    }

    @Test func onlyTheEnvironmentsOneAsksForRecording() {
        #expect(GoldenRecords.isRecording(in: ["SEALED_RECORD_GOLDEN": "1"]))
        for other in [[:], ["SEALED_RECORD_GOLDEN": "0"], ["SEALED_RECORD_GOLDEN": ""]] {
            #expect(!GoldenRecords.isRecording(in: other))
        }
    }

    @Test(arguments: ["../../evil name", "a\nb", "", "a//b", "_sealed/leases/x"])
    func anInvalidRecordNameHasNoPath(_ name: String) {
        #expect(fault { try golden.record(ReadingList.First.example, as: name) } == .badExample)
        #expect(fault { try golden.verify(ReadingList.First.example, as: name) } == .badExample)
        #expect(!SystemFile.exists(place.path("golden")))
        do throws(GoldenFault) { try golden.record(ReadingList.First.example, as: name) } catch {
            #expect(!error.description.contains("\n"))
        }
    }

    @Test func noDirectoryMeansTheWorkingDirectory() throws {
        let folder = try GoldenFolder(directory: "", record: "a/b", version: 1)
        #expect(folder.path(of: 1) == "./a/b/1.golden")
    }

    @Test func versionsBeyondTheHeadersRangeAreReported() throws {
        for record in [true, false] {
            #expect(fault { try record ? golden.record(Unversioned()) : golden.verify(Unversioned()) } == .badExample)
            #expect(
                fault { try record ? golden.record(Overversioned()) : golden.verify(Overversioned()) } == .badExample)
        }
    }

    @Test func aValueThatReadsAsAnotherIsReported() throws {
        try golden.record(ReadingList.First.example)
        try golden.record(ReadingList.Second.example)
        #expect(fault { try golden.verify(ReadingList.Second.example) } == .noExpectedValue)
        let other = [1: ReadingList.Second(books: [])]
        #expect(fault { try golden.verify(ReadingList.Second.example, older: other) } == .unexpectedValue)
    }

    @Test func versionsThatAreGivenUpAreRefusedAndThatIsRight() throws {
        try golden.record(ReadingList.First.example)
        try golden.record(ReadingList.Second.example)
        try golden.verify(Raised(books: ReadingList.Second.example.books))
    }

    @Test func anEditedFileIsReported() throws {
        try golden.record(ReadingList.First.example)
        let text = String(decoding: try SystemFile.read(firstFile), as: UTF8.self)
        let edits = [
            text.replacing("Emma", with: "Anna"), text.replacing("version: 1", with: "version: 2"), "", "x\n",
            text.replacing("codec: json", with: "codec: bplist"), String(text.dropLast(9)),
            text.replacing("\n", with: "\r\n"),
        ]
        for edit in edits {
            try SystemFile.write(firstFile, Array(edit.utf8))
            #expect(fault { try golden.verify(ReadingList.First.example) } == .damaged, "\(edit)")
        }
    }

    @Test func anExampleThatCannotBeReadBackIsNotRecorded() throws {
        #expect(fault { try golden.record(Strict(titles: [])) } == .badExample)
        #expect(!SystemFile.exists(firstFile))
    }

    private func repositoryGolden(file: String = #filePath) -> String {
        file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
            + "/Fixtures/golden"
    }
}

/// A record that needs the vault to be unlocked.
private struct Diary: SealedRecord, Equatable {
    static let recordName = "diary"
    static let schemaVersion = 1
    static let protection = RecordProtection.whenUnlocked
    var text: String
}

@Suite struct TestStoreTests {
    @Test(.enabled(if: ProtectedSandbox.isAvailable)) func aTestStoreIsLockedAndUnlockedLikeADevice() throws {
        let test = try TestStore()
        #expect(code { try test.store.write(Diary(text: "x")) } == .locked)
        try test.unlock()
        try test.store.write(Diary(text: "x"))
        #expect(try test.store.read(Diary.self).text == "x")
        #expect(try test.reopened().read(Diary.self).text == "x")
        try test.lock()
        #expect(code { _ = try test.store.read(Diary.self) } == .locked)
        #expect(code { _ = try test.reopened().read(Diary.self) } == .locked)
        try test.store.write(Note(text: "the other class goes on"))
        try test.unlock()
        #expect(try test.store.read(Diary.self).text == "x")
    }

    @Test func oneTestsUnlockingIsNotAnothers() throws {
        let (one, other) = (try TestStore(), try TestStore())
        try? one.unlock()
        #expect(code { try other.store.write(Diary(text: "x")) } == .locked)
    }

    @Test func aTestStoreHasAClockOfItsOwn() throws {
        let test = try TestStore()
        try test.store.write(WidgetAuthState(isAuthenticated: true, tokenExpiresAt: test.clock.now + 60))
        #expect(try test.store.read(WidgetAuthState.self).isAuthenticated)
        test.clock.advance(by: .seconds(61))
        #expect(code { _ = try test.store.read(WidgetAuthState.self) } == .stale)
    }

    @Test func anotherProgramSeesTheSameRecords() throws {
        let test = try TestStore()
        try test.store.write(Note(text: "x"))
        #expect(try test.reopened().read(Note.self).text == "x")
    }

    @Test func nothingOfItIsLeft() throws {
        var test: TestStore? = try TestStore()
        let path = try #require(test?.store.containerPath)
        #expect(SystemFile.exists(path))
        test = nil
        #expect(!SystemFile.exists(path))
    }
}
