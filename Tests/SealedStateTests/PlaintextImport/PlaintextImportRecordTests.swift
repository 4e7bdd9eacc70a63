import CryptoPrimitives
import FoundationEssentials
import Glibc
import KeyVault
import SealedState
import Sealing
import StateImport
import TestSupport
import Testing

@Suite struct PlaintextImportRecordTests {
    static let json = #"{"a":1,"b":"zwei"}"#

    @Test func aFileBecomesARecordAndIsRemoved() throws {
        let yard = try PlaintextImportYard()
        let item = try yard.importer().record(yard.file("state.json", Self.json), as: "state", schemaVersion: 3)
        #expect(item.word == "sealed" && item.isSourceRemoved && item.form == .record && item.target == "state")
        #expect(try yard.record("state") == Self.json)
        #expect(try yard.fixture.open().list().map { $0.header?.schemaVersion } == [3])
        #expect(try yard.plaintext == [])
    }

    @Test func theSourceStaysWhereThatIsAskedAndAgainIsNothingNew() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", Self.json)
        let importer = try yard.importer { $0.keepsSource = true }
        #expect(try importer.record(path, as: "state").word == "sealed")
        let blob = try yard.fixture.blob("state")
        let again = try importer.record(path, as: "state")
        #expect(again.word == "alreadySealed" && !again.isSourceRemoved)
        #expect(try yard.fixture.blob("state") == blob)
        #expect(try yard.plaintext == ["state.json"])
        // Without that option the move removes the source, and writes nothing anew.
        let last = try yard.importer().record(path, as: "state")
        #expect(last.word == "alreadySealed" && last.isSourceRemoved)
        #expect(try yard.fixture.blob("state") == blob)
        #expect(try yard.importer().record(path, as: "state").word == "gone")
    }

    @Test func whatDiffersIsAConflictAndNothingIsChanged() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", Self.json)
        _ = try yard.importer { $0.keepsSource = true }.record(path, as: "state")
        try yard.file("state.json", #"{"a":2}"#)
        let blob = try yard.fixture.blob("state")
        #expect(code { _ = try yard.importer().record(path, as: "state") } == .conflict)
        #expect(code { _ = try yard.importer { $0.isDryRun = true }.record(path, as: "state") } == .conflict)
        #expect(try yard.fixture.blob("state") == blob)
        #expect(try SystemFile.read(path) == Array(#"{"a":2}"#.utf8))
        #expect(try yard.importer { $0.replacesTarget = true }.record(path, as: "state").isSourceRemoved)
        #expect(try yard.record("state") == #"{"a":2}"#)
    }

    @Test func anotherSchemaVersionIsAnotherValue() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", Self.json)
        _ = try yard.importer { $0.keepsSource = true }.record(path, as: "state")
        #expect(code { _ = try yard.importer().record(path, as: "state", schemaVersion: 2) } == .conflict)
        #expect(SystemFile.exists(path))
    }

    @Test func aDeletedRecordDoesNotComeBackUnasked() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", Self.json)
        _ = try yard.importer { $0.keepsSource = true }.record(path, as: "state")
        try yard.fixture.open().delete(named: "state")
        #expect(code { _ = try yard.importer().record(path, as: "state") } == .conflict)
        #expect(SystemFile.exists(path))
        #expect(try yard.importer { $0.replacesTarget = true }.record(path, as: "state").isSourceRemoved)
        #expect(try yard.record("state") == Self.json)
    }

    @Test func aDryRunChangesNothing() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", Self.json)
        _ = try yard.fixture.open()
        let before = try visible(yard)
        let item = try yard.importer { $0.isDryRun = true }.record(path, as: "state")
        #expect(item.word == "planned" && !item.isSourceRemoved)
        #expect(try visible(yard) == before)
        #expect(try yard.plaintext == ["state.json"])
    }

    /// Returns the files of the home, except locks.
    private func visible(_ yard: PlaintextImportYard) throws -> [String] {
        try yard.fixture.files().filter { !$0.contains("/.") }
    }

    @Test(arguments: ["", "{", "[1,]", "\u{FEFF}{}", "text", "{}{}"])
    func whatIsNoJSONIsNoRecord(text: String) throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", text)
        #expect(code { _ = try yard.importer().record(path, as: "state") } == .sourceMalformed)
        #expect(SystemFile.exists(path))
        #expect(code { _ = try yard.record("state") } == .absent)
    }

    @Test func whatIsNoFileIsRefusedAndNotWaitedFor() throws {
        let yard = try PlaintextImportYard()
        try yard.file("real", Self.json)
        try yard.plain.link("link", to: "real")
        try yard.plain.fifo("fifo")
        try yard.plain.directory("directory")
        for name in ["link", "fifo", "directory", "missing", "missing/file"] {
            #expect(code { _ = try yard.importer().record(yard.path(name), as: "state") } == .sourceUnusable, "\(name)")
        }
        #expect(try yard.plaintext == ["directory", "fifo", "link", "real"])
    }

    @Test func aFileWithASecondNameIsMovedOnlyIfItStays() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", Self.json)
        #expect(link(path, yard.path("second")) == 0)
        #expect(code { _ = try yard.importer().record(path, as: "state") } == .sourceUnusable)
        #expect(try yard.importer { $0.keepsSource = true }.record(path, as: "state").word == "sealed")
    }

    @Test func aFileThatIsTooLargeIsRefusedUnread() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.file("state.json", Self.json)
        #expect(code { _ = try yard.importer { $0.maximumFileSize = 3 }.record(path, as: "state") } == .tooLarge)
        #expect(SystemFile.exists(path))
    }

    @Test func datesBecomeTextWhereTheirKeysAreNamed() throws {
        let yard = try PlaintextImportYard()
        let text = #"{"at":0,"deep":[{"at" : -978307200}],"no":1,"text":"at","other":{"at":null,"x":"\"at\":5"}}"#
        let item = try yard.importer().record(yard.file("dates.json", text), as: "dates", dates: ["at", "nowhere"])
        let expected =
            #"{"at":"2001-01-01T00:00:00Z","deep":[{"at" : "1970-01-01T00:00:00Z"}],"no":1,"text":"at","other":"#
            + #"{"at":null,"x":"\"at\":5"}}"#
        #expect(try yard.record("dates") == expected)
        #expect(item.notes.count == 1 && item.notes[0].contains("nowhere"))
    }

    @Test(arguments: ["key.raw", "key.base64", "key.hex"])
    func theTutorialsOwnFileBecomesARecordThatReads(key: String) throws {
        let yard = try PlaintextImportYard()
        let path = try yard.tutorial("widget_auth_state.encrypted")
        let item = try yard.importer().aesGCM(
            path, key: .file(yard.tutorial(key)), as: WidgetAuthState.recordName, dates: ["tokenExpiresAt"])
        #expect(item.word == "sealed" && item.isSourceRemoved)
        let expires = Date(timeIntervalSinceReferenceDate: 1_577_836_800.5)
        #expect(
            try yard.fixture.open().read(WidgetAuthState.self)
                == WidgetAuthState(isAuthenticated: true, displayName: "Ada", tokenExpiresAt: expires))
        #expect(try yard.plaintext == [key])
    }

    @Test func withoutNamedDatesTheBytesAreTheOnesThatWereSealed() throws {
        let yard = try PlaintextImportYard()
        let path = try yard.tutorial("widget_auth_state.encrypted")
        _ = try yard.importer().aesGCM(path, key: .file(yard.tutorial("key.raw")), as: "auth")
        #expect(try Array(yard.record("auth").utf8) == PlaintextImportYard.fixture("widget_auth_state.json"))
    }

    @Test func theKeyMayLieInTheVault() throws {
        let yard = try PlaintextImportYard()
        let store = try yard.fixture.open()
        try PlaintextImportYard.fixture("key.hex").withUnsafeBytes { bytes in
            try store.vault.addItem(service: "widgetkey", account: "app", value: bytes)
        }
        let item = try yard.importer().aesGCM(
            yard.tutorial("widget_auth_state.encrypted"), key: .item(service: "widgetkey", account: "app"), as: "auth")
        #expect(item.isSourceRemoved)
        #expect(try Array(yard.record("auth").utf8) == PlaintextImportYard.fixture("widget_auth_state.json"))
    }

    @Test func everyFlippedBitAndEveryOtherKeyIsRefusedAndLeavesTheFile() throws {
        let yard = try PlaintextImportYard()
        let sealed = try PlaintextImportYard.fixture("widget_auth_state.encrypted")
        let key = try yard.tutorial("key.raw")
        let importer = try yard.importer()
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << (index % 8)
            let path = try yard.file("state.enc", changed)
            #expect(code { _ = try importer.aesGCM(path, key: .file(key), as: "auth") } == .wrongKey)
            #expect(try SystemFile.read(path) == changed)
        }
        let path = try yard.file("state.enc", Array(sealed.prefix(27)))
        #expect(code { _ = try importer.aesGCM(path, key: .file(key), as: "auth") } == .sourceMalformed)
        #expect(code { _ = try yard.record("auth") } == .absent)
    }

    @Test(arguments: [
        [], [1], [UInt8](repeating: 7, count: 31), [UInt8](repeating: 7, count: 33), Array("zz".utf8),
        Array(repeating: UInt8(ascii: "g"), count: 64), Array(repeating: UInt8(ascii: "!"), count: 44),
        Array(repeating: UInt8(ascii: "_"), count: 43),
    ])
    func whatIsNoKeyIsRefused(text: [UInt8]) throws {
        let yard = try PlaintextImportYard()
        let path = try yard.tutorial("widget_auth_state.encrypted")
        let key = try yard.file("key", text)
        #expect(code { _ = try yard.importer().aesGCM(path, key: .file(key), as: "auth") } == .wrongKey)
        #expect(SystemFile.exists(path))
    }
}
