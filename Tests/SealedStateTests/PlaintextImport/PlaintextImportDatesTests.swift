import FoundationEssentials
import SealedState
import SealedStateTestKit
import StateImport
import TestSupport
import Testing

/// Tests of numbers that are dates: a source is not removed until each of them was stated.
@Suite struct PlaintextImportDatesTests {
    private func importing(
        _ text: String, _ conversion: RecordConversion = RecordConversion(),
        _ change: (inout PlaintextImportOptions) -> Void = { _ in }
    ) throws -> (result: Result<MovedItem, StoreError>, sandbox: PlaintextImportSandbox) {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("s.json", text)
        let importer = try sandbox.importer(change)
        let result = Result { () throws(StoreError) in try importer.record(path, as: "s", conversion: conversion) }
        return (result, sandbox)
    }

    /// Expects that a file is refused with a reason, stays, and becomes no record.
    private func expectRefused(
        _ text: String, _ conversion: RecordConversion = RecordConversion(), naming named: [String] = []
    ) throws {
        let (result, sandbox) = try importing(text, conversion)
        guard case .failure(let error) = result else {
            Issue.record("\(text) was imported")
            return
        }
        #expect(error.code == .sourceMalformed)
        for name in named { #expect(error.reason.contains(name), "\(error.reason)") }
        #expect(try SystemFile.read(sandbox.path("s.json")) == Array(text.utf8))
        #expect(code { _ = try sandbox.record("s") } == .absent)
    }

    @Test func theTutorialsRecordIsKeptUntilItsDateIsStated() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.tutorial("widget_auth_state.encrypted")
        let key = try PlaintextImportKey.file(sandbox.tutorial("key.raw"))
        for isDryRun in [true, false] {
            let error = refusal {
                _ = try sandbox.importer { $0.isDryRun = isDryRun }.aesGCM(path, key: key, as: "auth")
            }
            #expect(error?.code == .sourceMalformed && error?.reason.contains("tokenExpiresAt") == true)
        }
        #expect(SystemFile.exists(path))
        #expect(code { _ = try sandbox.record("auth") } == .absent)

        let kept = try sandbox.importer { $0.keepsSource = true }.aesGCM(path, key: key, as: "auth")
        #expect(kept.word == "sealed" && kept.notes.contains { $0.contains("tokenExpiresAt") })
        // The same record again, and the source to be removed: it is kept.
        #expect(code { _ = try sandbox.importer().aesGCM(path, key: key, as: "auth") } == .sourceMalformed)
        #expect(SystemFile.exists(path))
    }

    @Test(arguments: [
        #"{"expiresAt":0}"#, #"{"createdAt":1700000000}"#, #"{"created_at":1700000000000}"#, #"{"birthDate":-5e8}"#,
        #"{"lastSyncDate":-63114076800}"#, #"{"timestamp":7.5e8}"#, #"{"a":{"b":[{"expires":700000000}]}}"#,
        #"{"expiry_date":700000000.25}"#, #"{"dates":[700000000]}"#, #"{"validUntil":700000000}"#,
        #"{"exp\u0069resAt":1}"#, #"{"lastSeen":700000000}"#, #"{"startTime":700000000}"#,
        #"{"lastSeen":{"bob":700000000}}"#, #"{"x":700000000.25}"#, #"{"createdat":700000000}"#,
        #"{"lastlogin":700000000}"#, #"{"ts":1700000000}"#, #"{"createdAt":"1700000000"}"#,
    ])
    func aNumberThatLooksLikeADateIsNamed(text: String) throws {
        try expectRefused(text)
    }

    @Test(arguments: [
        #"{"format":700000000}"#, #"{"expiresIn":3600}"#, #"{"at":null,"date":"x","timestamp":true}"#,
        #"{"updatedAt":"2026-01-01T00:00:00Z"}"#, #"{"count":1700000000,"latitude":48.1}"#, #"{"runtime":12.5}"#,
        #"{"createdAt":1e17}"#, "[1700000000]", "1700000000", #"{"date":{"day":5}}"#, #"{"x":70.5}"#,
        #"{"birthDate":"19800101","phone":"1700000000"}"#,
    ])
    func otherValuesAreNot(text: String) throws {
        let (result, sandbox) = try importing(text)
        #expect(try result.get().isSourceRemoved)
        #expect(try sandbox.record("s") == text)
    }

    @Test func fieldsAreNamedByPathsThroughArrays() throws {
        let text = #"{"at":1,"sessions":[{"startedAt":2,"deep":{"at":3}},{"startedAt":4}],"times":[5000,[6000]],"n":7}"#
        try expectRefused(text, naming: [": at, sessions[].deep.at, sessions[].startedAt."])
        let conversion = RecordConversion(
            dates: ["sessions[].startedAt": .reference, "deep.at": .unix, "times": .unixMilliseconds],
            numbers: ["at", "nowhere"])
        try expectRefused(text, conversion, naming: ["No number was found under nowhere."])
        let (result, sandbox) = try importing(text, conversion) { $0.keepsSource = true }
        #expect(try result.get().notes == ["No number was found under nowhere."])
        let expected =
            #"{"at":1,"sessions":[{"startedAt":"2001-01-01T00:00:02Z","deep":{"at":"1970-01-01T00:00:03Z"}},"#
            + #"{"startedAt":"2001-01-01T00:00:04Z"}],"times":["1970-01-01T00:00:05Z","#
            + #"["1970-01-01T00:00:06Z"]],"n":7}"#
        #expect(try sandbox.record("s") == expected)
    }

    @Test func aFieldNamesTheValuesOfADictionaryToo() throws {
        let text = #"{"seen":{"ann":1000,"bob":{"at":"2000","n":3}},"end":null}"#
        let conversion = RecordConversion(dates: ["seen": .unixMilliseconds, "end": .unix], numbers: ["n"])
        let (result, sandbox) = try importing(text, conversion)
        #expect(try result.get().isSourceRemoved)
        let expected =
            #"{"seen":{"ann":"1970-01-01T00:00:01Z","bob":{"at":"1970-01-01T00:00:02Z","n":3}},"end":null}"#
        #expect(try sandbox.record("s") == expected)
    }

    @Test(arguments: [
        RecordConversion(dates: ["s.a": .unix, "s[].a": .reference]),
        RecordConversion(dates: ["s[].a": .unix], numbers: ["s.a"]), RecordConversion(dates: ["": .unix]),
    ])
    func aFieldWithTwoMeaningsOrNoNameIsRefused(conversion: RecordConversion) throws {
        let (result, sandbox) = try importing(#"{"s":[{"a":1}]}"#, conversion)
        #expect(code { _ = try result.get() } == .invalidName)
        #expect(try sandbox.plaintext == ["s.json"])
    }

    @Test func millisecondsAreExact() throws {
        let conversion = RecordConversion(dates: ["at": .unixMilliseconds])
        let (result, sandbox) = try importing(#"{"at":1700000000123}"#, conversion)
        #expect(try result.get().isSourceRemoved)
        let fields = try JSONDecoder().decode([String: String].self, from: Data(sandbox.record("s").utf8))
        #expect(
            fields["at"].flatMap(DateText.date(from:)) == Date(timeIntervalSinceReferenceDate: 721_692_800.123))
    }

    @Test func aBinaryPropertyListHasNoFieldsToState() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.tutorial("defaults.binary.plist")
        let conversion = RecordConversion(dates: ["expiresAt": .unix])
        #expect(
            code { _ = try sandbox.importer().record(path, as: "s", conversion: conversion) } == .sourceMalformed)
        #expect(SystemFile.exists(path))
    }

    @Test func aNumberThatIsNoDateInItsUnitIsRefused() throws {
        try expectRefused(
            #"{"when":1700000000000}"#, RecordConversion(dates: ["when": .reference]), naming: ["when", "0 to 9999"])
    }

    static let example = WidgetAuthState(
        isAuthenticated: true, displayName: "x", tokenExpiresAt: Date(timeIntervalSinceReferenceDate: 1))

    /// Writes a golden record as the tests of a program do, and returns its path.
    private func golden(_ sandbox: PlaintextImportSandbox) throws -> String {
        let directory = try sandbox.plain.directory("Golden")
        try GoldenRecords(directory: directory).record(Self.example)
        let folder = "\(directory)/\(WidgetAuthState.recordName)"
        let name = try #require(try SystemFile.names(folder).first)
        return "\(folder)/\(name)"
    }

    @Test func aGoldenRecordChecksFieldsTypesAndDates() throws {
        let sandbox = try PlaintextImportSandbox()
        let golden = try golden(sandbox)
        let number = #"{"isAuthenticated":true,"displayName":"Ada","tokenExpiresAt":1577836800}"#
        let path = try sandbox.file("s.json", number)
        let error = refusal {
            _ = try sandbox.importer { $0.keepsSource = true }
                .record(path, as: "s", conversion: RecordConversion(golden: golden))
        }
        #expect(error?.code == .sourceMalformed)
        #expect(error?.reason.contains("tokenExpiresAt is whole number, in the golden record date") == true)
        #expect(code { _ = try sandbox.record("s") } == .absent)

        let conversion = RecordConversion(dates: ["tokenExpiresAt": .reference], golden: golden)
        let item = try sandbox.importer().record(path, as: WidgetAuthState.recordName, conversion: conversion)
        #expect(item.isSourceRemoved && SystemFile.exists(golden))
        let state = try sandbox.fixture.open().read(WidgetAuthState.self)
        #expect(state.tokenExpiresAt == Date(timeIntervalSinceReferenceDate: 1_577_836_800))
    }

    @Test(arguments: [
        (#"{"a":1,"b":"x"}"#, #"{"a":1}"#, ["b is not in the golden record"]),
        (#"{"a":1}"#, #"{"a":1,"b":{"c":"x"}}"#, ["b (object) is missing"]),
        (#"{"a":"1","b":null}"#, #"{"a":1,"b":true}"#, ["a is text, in the golden record whole number", "b is null"]),
        (#"{"a":[{"n":1},{}]}"#, #"{"a":[{"n":1}]}"#, ["a[].n (whole number) is missing in 1 of 2 objects"]),
        (#"{"a":1.5}"#, #"{"a":1}"#, ["a is number, in the golden record whole number"]),
        (#"{"a":[{"n":1},{"n":"x"}]}"#, #"{"a":[{"n":1}]}"#, ["a[].n is text"]),
        (#"{"a":"2026-01-01"}"#, #"{"a":"2026-01-01T00:00:00Z"}"#, ["a is text, in the golden record date"]),
        ("[]", "{}", ["the record is array, in the golden record object"]),
    ])
    func differencesAreListed(text: String, golden: String, differences: [String]) throws {
        let place = try TemporaryDirectory()
        try SystemFile.write(place.path("golden.json"), Array(golden.utf8))
        try expectRefused(text, RecordConversion(golden: place.path("golden.json")), naming: differences)
    }

    @Test func anEmptyArrayAndATextLikeADateFitAGoldenRecord() throws {
        let place = try TemporaryDirectory()
        try SystemFile.write(place.path("golden.json"), Array(#"{"a":[{"b":1},{}],"c":"x","d":1.5}"#.utf8))
        let conversion = RecordConversion(golden: place.path("golden.json"))
        let (result, _) = try importing(#"{"a":[{}],"c":"2026-01-01T00:00:00Z","d":1}"#, conversion)
        #expect(try result.get().isSourceRemoved)
    }

    @Test func aGoldenRecordThatIsNoneIsRefusedBeforeAnythingIsWritten() throws {
        let place = try TemporaryDirectory()
        try SystemFile.write(place.path("golden.json"), Array("SealedState golden record 1\nrecord: a\n".utf8))
        let conversion = RecordConversion(golden: place.path("golden.json"))
        try expectRefused("{}", conversion, naming: ["neither JSON nor a golden record"])
        let (missing, sandbox) = try importing("{}", RecordConversion(golden: place.path("none")))
        #expect(throws: StoreError.self) { try missing.get() }
        #expect(try sandbox.plaintext == ["s.json"])
    }

    @Test func aGoldenRecordIsNotImportedWithItsContainer() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.file("a.json", #"{"n":1}"#)
        let golden = try sandbox.file("golden.json", #"{"n":2}"#)
        let mapping = ContainerMapping(["a.json": .init(record: "a", conversion: RecordConversion(golden: golden))])
        let report = try sandbox.importer().container(sandbox.plain.path, mapping: mapping)
        #expect(report.failures.isEmpty && report.leftInPlaintext.map(\.source) == ["golden.json"])
        #expect(try sandbox.plaintext == ["golden.json"])
    }
}
