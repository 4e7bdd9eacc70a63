import FoundationEssentials
import SealedState
import Sealing
import Testing

/// A record that has had four shapes.
private struct Account: SealedRecord, Equatable {
    static let recordName = "account"
    static let schemaVersion = 4
    static var migrations: SchemaMigrations<Self> {
        .from(1, V1.self) { V2(name: $0.name, age: 0) }
            .then(2) { old in
                guard old.age >= 0 else { throw ValidationFailure("age", "Not below 0.") }
                return V3(name: old.name, age: old.age)
            }
            .then(3) { old in
                guard old.name != "secret" else { throw Odd(name: old.name) }
                return Account(first: old.name, years: old.age)
            }
    }
    struct V1: Codable { var name: String }
    struct V2: Codable { var name: String, age: Int }
    struct V3: Codable { var name: String, age: Int }
    struct Odd: Error { let name: String }
    var first: String
    var years: Int
}

/// A record with one step, in the other codec.
private struct Place: SealedRecord, Equatable {
    static let recordName = "place"
    static let schemaVersion = 3
    static let oldestReadableVersion = 1
    static let format = RecordFormat.binaryPropertyList
    static var migrations: SchemaMigrations<Self> { .from(2, V2.self) { Place(city: $0.town) } }
    struct V2: Codable { var town: String }
    var city: String
}

/// Steps that do not match each other or the version.
private struct Gap: SealedRecord {
    static let recordName = "gap"
    static let schemaVersion = 4
    static var migrations: SchemaMigrations<Self> { .from(1, [Int].self) { $0 }.then(3) { _ in Gap() } }
}
private struct Short: SealedRecord {
    static let recordName = "short"
    static let schemaVersion = 4
    static var migrations: SchemaMigrations<Self> { .from(1, [Int].self) { $0 }.then(2) { _ in Short() } }
}
private struct Odd: SealedRecord {
    static let recordName = "odd"
    static let schemaVersion = 2
    static let oldestReadableVersion = -5
}

/// Versions that no header holds, and steps at the limits of the number range.
private struct Highest: SealedRecord {
    static let recordName = "ends"
    static let schemaVersion = Int.max
    static let oldestReadableVersion = 1
    static var migrations: SchemaMigrations<Self> { .from(Int.max, [Int].self) { $0 }.then(Int.min) { _ in Highest() } }
}
private struct HighestStep: SealedRecord {
    static let recordName = "ends"
    static let schemaVersion = 2
    static let oldestReadableVersion = 1
    static var migrations: SchemaMigrations<Self> { .from(Int.max, [Int].self) { _ in HighestStep() } }
}
private struct Lowest: SealedRecord {
    static let recordName = "ends"
    static let schemaVersion = Int.min
    static var migrations: SchemaMigrations<Self> { .from(1, [Int].self) { _ in Lowest() } }
}
private struct Zero: SealedRecord {
    static let recordName = "ends"
    static let schemaVersion = 0
}

@Suite struct SchemaMigrationTests {
    private let fixture: StoreFixture
    private let store: SealedStore

    init() throws {
        fixture = try StoreFixture()
        store = try fixture.open()
    }

    private func plant(
        _ json: String, version: UInt32, as name: String = Account.recordName, sequence: UInt64 = 1
    ) throws {
        try plant(Array(json.utf8), .json, version: version, as: name, sequence: sequence)
    }

    private func plant(
        _ payload: [UInt8], _ codec: PayloadCodec, version: UInt32, as name: String, sequence: UInt64 = 1
    ) throws {
        var forgery = try Forgery(store)
        (forgery.name, forgery.schemaVersion, forgery.sequence) = (name, version, sequence)
        (forgery.codec, forgery.payload) = (codec, .bytes(payload))
        try fixture.plant(forgery.blob, name)
    }

    fileprivate static let shapes: [(UInt32, String, Account)] = [
        (1, #"{"name":"Ada"}"#, Account(first: "Ada", years: 0)),
        (2, #"{"name":"Ada","age":36}"#, Account(first: "Ada", years: 36)),
        (3, #"{"name":"Ada","age":37}"#, Account(first: "Ada", years: 37)),
        (4, #"{"first":"Ada","years":38}"#, Account(first: "Ada", years: 38)),
    ]

    @Test(arguments: shapes.indices) func everyVersionIsReadThroughItsSteps(_ index: Int) throws {
        let (version, json, value) = Self.shapes[index]
        try plant(json, version: version)
        let blob = try fixture.blob(Account.recordName)
        let snapshot = try store.snapshot(of: Account.self)
        #expect(snapshot.value == value)
        #expect(snapshot.provenance.schemaVersion == Int(version))
        #expect(snapshot.isMigrated == (version < 4))
        // Never written back without a request.
        #expect(try fixture.blob(Account.recordName) == blob)
    }

    @Test func anUpdateWritesThePresentVersion() throws {
        try plant(#"{"name":"Ada"}"#, version: 1)
        try store.update(Account.self) { $0.years = 40 }
        let snapshot = try store.snapshot(of: Account.self)
        #expect(snapshot.value == Account(first: "Ada", years: 40))
        #expect(snapshot.provenance.schemaVersion == 4)
        #expect(!snapshot.isMigrated)
        #expect(snapshot.provenance.sequence == 2)
    }

    @Test func anOlderShapeThatDoesNotFitItsVersionIsUndecodable() throws {
        try plant(#"{"first":"Ada"}"#, version: 1)
        let error = try #require(refusal { _ = try store.read(Account.self) })
        #expect(error.code == .undecodable)
        #expect(error.reason.contains("name") && error.reason.contains("1"))
    }

    @Test func aStepThatThrowsIsReportedByItsVersionsAndNotByWhatItThrew() throws {
        try plant(#"{"name":"secret","age":1}"#, version: 2)
        let error = try #require(refusal { _ = try store.read(Account.self) })
        #expect(error.code == .migrationFailed)
        #expect(error.reason.contains("3 to 4"))
        #expect(!error.description.contains("secret"))
        #expect(error.cause == nil)
        try plant(#"{"name":"x","age":-1}"#, version: 2, sequence: 2)
        let rule = try #require(refusal { _ = try store.read(Account.self) })
        #expect(rule.code == .migrationFailed)
        #expect(rule.reason.contains("2 to 3") && rule.reason.contains("age"))
    }

    @Test func anUpdateOverAValueThatDoesNotMigrateLeavesItAsItIs() throws {
        try plant(#"{"name":"x","age":-1}"#, version: 2)
        let blob = try fixture.blob(Account.recordName)
        #expect(code { try store.update(Account.self) { $0.years = 1 } } == .migrationFailed)
        #expect(try fixture.blob(Account.recordName) == blob)
    }

    @Test func olderVersionsAreHeldToTheSameLimits() throws {
        let nested = String(repeating: "[", count: 100) + String(repeating: "]", count: 100)
        try plant(#"{"name":"Ada","extra":\#(nested)}"#, version: 1)
        #expect(code { _ = try store.read(Account.self) } == .unsafeStructure)
    }

    @Test func aVersionWithoutAStepIsDecodedAsTheType() throws {
        try plant(#"{"city":"Ulm"}"#, version: 1, as: "place")
        #expect(try store.read(Place.self) == Place(city: "Ulm"))
        try plant(#"{"town":"Ulm"}"#, version: 2, as: "place", sequence: 2)
        #expect(try store.read(Place.self) == Place(city: "Ulm"))
    }

    @Test func aReaderUsesTheCodecInTheHeader() throws {
        let limits = StoreOptions().structureLimits
        let old = Array(try PayloadCoding.encode(Place.V2(town: "Ulm"), as: .binaryPropertyList, limits: limits))
        try plant(old, .binaryPropertyList, version: 2, as: "place")
        #expect(try store.read(Place.self) == Place(city: "Ulm"))
        let list = Array(
            try PayloadCoding.encode(Account(first: "A", years: 1), as: .binaryPropertyList, limits: limits))
        try plant(list, .binaryPropertyList, version: 4, as: "account")
        #expect(try store.read(Account.self) == Account(first: "A", years: 1))
        try plant(Array("A".utf8), .raw, version: 4, as: "account", sequence: 2)
        #expect(code { _ = try store.read(Account.self) } == .undecodable)
    }

    @Test func newerAndOlderVersionsAreRefused() throws {
        let versions = [(5, StoreError.Code.tooNew), (UInt32.max, .tooNew), (0, .tooOld)]
        for (index, (version, expected)) in versions.enumerated() {
            try plant(#"{"first":"Ada","years":38}"#, version: version, sequence: UInt64(index) + 1)
            #expect(code { _ = try store.read(Account.self) } == expected, "\(version)")
        }
    }

    @Test func versionsBelow1AreNotReadRegardlessOfTheType() throws {
        try plant("{}", version: 0, as: "odd")
        #expect(code { _ = try store.read(Odd.self) } == .tooOld)
        try plant("{}", version: 1, as: "odd", sequence: 2)
        #expect(code { _ = try store.read(Odd.self) } == nil)
    }

    @Test func stepsOutOfOrderAreReported() throws {
        try plant("[1]", version: 1, as: "gap")
        let gap = try #require(refusal { _ = try store.read(Gap.self) })
        #expect(gap.code == .migrationFailed)
        #expect(gap.reason.contains("1") && gap.reason.contains("3"))
        try plant("[1]", version: 1, as: "short")
        let short = try #require(refusal { _ = try store.read(Short.self) })
        #expect(short.code == .migrationFailed)
        #expect(short.reason.contains("3") && short.reason.contains("4"))
    }

    @Test func extremeVersionsDoNotTrap() throws {
        try plant("{}", version: 1, as: "ends")
        #expect(code { _ = try store.read(Highest.self) } == .migrationFailed)
        #expect(code { _ = try store.read(HighestStep.self) } == .migrationFailed)
        #expect(code { _ = try store.read(Lowest.self) } == .tooNew)
        #expect(code { _ = try store.read(Zero.self) } == .tooNew)
        try plant("{}", version: 0, as: "ends", sequence: 2)
        #expect(code { _ = try store.read(Zero.self) } == .tooOld)
        #expect(code { _ = try store.read(HighestStep.self) } == .tooOld)
        #expect(code { try store.write(Highest()) } == .unencodable)
        #expect(code { try store.write(Zero()) } == .unencodable)
    }

    @Test func theOldestReadableVersionIsWhereTheStepsBegin() {
        #expect(Account.oldestReadableVersion == 1)
        #expect(Note.oldestReadableVersion == 2)
        #expect(ProbeRecord.oldestReadableVersion == 1)
    }
}
