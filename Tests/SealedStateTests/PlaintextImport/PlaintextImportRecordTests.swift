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
        let sandbox = try PlaintextImportSandbox()
        let item = try sandbox.importer().record(sandbox.file("state.json", Self.json), as: "state", schemaVersion: 3)
        #expect(item.word == "sealed" && item.isSourceRemoved && item.form == .record && item.target == "state")
        #expect(try sandbox.record("state") == Self.json)
        #expect(try sandbox.fixture.open().list().map { $0.header?.schemaVersion } == [3])
        #expect(try sandbox.plaintext == [])
    }

    @Test func theSourceStaysWhereThatIsAskedAndAgainIsNothingNew() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", Self.json)
        let importer = try sandbox.importer { $0.keepsSource = true }
        #expect(try importer.record(path, as: "state").word == "sealed")
        let blob = try sandbox.fixture.blob("state")
        let again = try importer.record(path, as: "state")
        #expect(again.word == "alreadySealed" && !again.isSourceRemoved)
        #expect(try sandbox.fixture.blob("state") == blob)
        #expect(try sandbox.plaintext == ["state.json"])
        // Without that option the move removes the source, and writes nothing again.
        let last = try sandbox.importer().record(path, as: "state")
        #expect(last.word == "alreadySealed" && last.isSourceRemoved)
        #expect(try sandbox.fixture.blob("state") == blob)
        #expect(try sandbox.importer().record(path, as: "state").word == "gone")
    }

    @Test func aDifferenceIsAConflictAndNothingIsChanged() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", Self.json)
        _ = try sandbox.importer { $0.keepsSource = true }.record(path, as: "state")
        try sandbox.file("state.json", #"{"a":2}"#)
        let blob = try sandbox.fixture.blob("state")
        #expect(code { _ = try sandbox.importer().record(path, as: "state") } == .conflict)
        #expect(code { _ = try sandbox.importer { $0.isDryRun = true }.record(path, as: "state") } == .conflict)
        #expect(try sandbox.fixture.blob("state") == blob)
        #expect(try SystemFile.read(path) == Array(#"{"a":2}"#.utf8))
        #expect(try sandbox.importer { $0.replacesTarget = true }.record(path, as: "state").isSourceRemoved)
        #expect(try sandbox.record("state") == #"{"a":2}"#)
    }

    @Test func anotherSchemaVersionIsAnotherValue() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", Self.json)
        _ = try sandbox.importer { $0.keepsSource = true }.record(path, as: "state")
        #expect(code { _ = try sandbox.importer().record(path, as: "state", schemaVersion: 2) } == .conflict)
        #expect(SystemFile.exists(path))
    }

    @Test func aDeletedRecordDoesNotComeBackWithoutARequest() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", Self.json)
        _ = try sandbox.importer { $0.keepsSource = true }.record(path, as: "state")
        try sandbox.fixture.open().delete(named: "state")
        #expect(code { _ = try sandbox.importer().record(path, as: "state") } == .conflict)
        #expect(SystemFile.exists(path))
        #expect(try sandbox.importer { $0.replacesTarget = true }.record(path, as: "state").isSourceRemoved)
        #expect(try sandbox.record("state") == Self.json)
    }

    @Test func aDryRunChangesNothing() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", Self.json)
        _ = try sandbox.fixture.open()
        let before = try visible(sandbox)
        let item = try sandbox.importer { $0.isDryRun = true }.record(path, as: "state")
        #expect(item.word == "planned" && !item.isSourceRemoved)
        #expect(try visible(sandbox) == before)
        #expect(try sandbox.plaintext == ["state.json"])
    }

    /// Returns the files of the home, except locks.
    private func visible(_ sandbox: PlaintextImportSandbox) throws -> [String] {
        try sandbox.fixture.files().filter { !$0.contains("/.") }
    }

    @Test(arguments: ["", "{", "[1,]", "\u{FEFF}{}", "text", "{}{}"])
    func whatIsNoJSONIsNoRecord(text: String) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", text)
        #expect(code { _ = try sandbox.importer().record(path, as: "state") } == .sourceMalformed)
        #expect(SystemFile.exists(path))
        #expect(code { _ = try sandbox.record("state") } == .absent)
    }

    @Test func specialFilesAreRefusedWithoutAWait() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.file("real", Self.json)
        try sandbox.plain.link("link", to: "real")
        try sandbox.plain.fifo("fifo")
        try sandbox.plain.directory("directory")
        for name in ["link", "fifo", "directory", "missing", "missing/file"] {
            #expect(
                code { _ = try sandbox.importer().record(sandbox.path(name), as: "state") } == .sourceUnusable,
                "\(name)")
        }
        #expect(try sandbox.plaintext == ["directory", "fifo", "link", "real"])
    }

    @Test func aFileWithASecondNameIsMovedOnlyIfItStays() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", Self.json)
        #expect(link(path, sandbox.path("second")) == 0)
        #expect(code { _ = try sandbox.importer().record(path, as: "state") } == .sourceUnusable)
        #expect(try sandbox.importer { $0.keepsSource = true }.record(path, as: "state").word == "sealed")
    }

    @Test func aFileThatIsTooLargeIsRefusedUnread() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("state.json", Self.json)
        #expect(code { _ = try sandbox.importer { $0.maximumFileSize = 3 }.record(path, as: "state") } == .tooLarge)
        #expect(SystemFile.exists(path))
    }

    @Test func datesBecomeTextWhereTheirKeysAreNamed() throws {
        let sandbox = try PlaintextImportSandbox()
        let text = #"{"at":0,"deep":[{"at" : -978307200}],"no":1,"text":"at","other":{"at":null,"x":"\"at\":5"}}"#
        let item = try sandbox.importer { $0.keepsSource = true }.record(
            sandbox.file("dates.json", text), as: "dates",
            conversion: RecordConversion(dates: ["at": .reference, "nowhere": .reference]))
        let expected =
            #"{"at":"2001-01-01T00:00:00Z","deep":[{"at" : "1970-01-01T00:00:00Z"}],"no":1,"text":"at","other":"#
            + #"{"at":null,"x":"\"at\":5"}}"#
        #expect(try sandbox.record("dates") == expected)
        #expect(item.notes.count == 1 && item.notes[0].contains("nowhere"))
    }

    @Test(arguments: ["key.raw", "key.base64", "key.hex"])
    func theTutorialsOwnFileBecomesARecordThatReads(key: String) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.tutorial("widget_auth_state.encrypted")
        let item = try sandbox.importer().aesGCM(
            path, key: .file(sandbox.tutorial(key)), as: WidgetAuthState.recordName,
            conversion: RecordConversion(dates: ["tokenExpiresAt": .reference]))
        #expect(item.word == "sealed" && item.isSourceRemoved)
        let expires = Date(timeIntervalSinceReferenceDate: 1_577_836_800.5)
        #expect(
            try sandbox.fixture.open().read(WidgetAuthState.self)
                == WidgetAuthState(isAuthenticated: true, displayName: "Ada", tokenExpiresAt: expires))
        #expect(try sandbox.plaintext == [key])
    }

    @Test func withoutDatesTheBytesAreTheOnesThatWereSealed() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.tutorial("widget_auth_state.encrypted")
        _ = try sandbox.importer().aesGCM(
            path, key: .file(sandbox.tutorial("key.raw")), as: "auth",
            conversion: RecordConversion(numbers: ["tokenExpiresAt"]))
        #expect(try Array(sandbox.record("auth").utf8) == PlaintextImportSandbox.fixture("widget_auth_state.json"))
    }

    @Test func theKeyMayBeInTheVault() throws {
        let sandbox = try PlaintextImportSandbox()
        let store = try sandbox.fixture.open()
        try PlaintextImportSandbox.fixture("key.hex").withUnsafeBytes { bytes in
            try store.vault.addItem(service: "widgetkey", account: "app", value: bytes)
        }
        let item = try sandbox.importer().aesGCM(
            sandbox.tutorial("widget_auth_state.encrypted"), key: .item(service: "widgetkey", account: "app"),
            as: "auth", conversion: RecordConversion(numbers: ["tokenExpiresAt"]))
        #expect(item.isSourceRemoved)
        #expect(try Array(sandbox.record("auth").utf8) == PlaintextImportSandbox.fixture("widget_auth_state.json"))
    }

    @Test func everyFlippedBitAndEveryOtherKeyIsRefusedAndLeavesTheFile() throws {
        let sandbox = try PlaintextImportSandbox()
        let sealed = try PlaintextImportSandbox.fixture("widget_auth_state.encrypted")
        let key = try sandbox.tutorial("key.raw")
        let importer = try sandbox.importer()
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1 << (index % 8)
            let path = try sandbox.file("state.enc", changed)
            #expect(code { _ = try importer.aesGCM(path, key: .file(key), as: "auth") } == .wrongKey)
            #expect(try SystemFile.read(path) == changed)
        }
        let path = try sandbox.file("state.enc", Array(sealed.prefix(27)))
        #expect(code { _ = try importer.aesGCM(path, key: .file(key), as: "auth") } == .sourceMalformed)
        #expect(code { _ = try sandbox.record("auth") } == .absent)
    }

    @Test(arguments: [
        [], [1], [UInt8](repeating: 7, count: 31), [UInt8](repeating: 7, count: 33), Array("zz".utf8),
        Array(repeating: UInt8(ascii: "g"), count: 64), Array(repeating: UInt8(ascii: "!"), count: 44),
        Array(repeating: UInt8(ascii: "_"), count: 43),
    ])
    func anInvalidKeyIsRefused(text: [UInt8]) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.tutorial("widget_auth_state.encrypted")
        let key = try sandbox.file("key", text)
        #expect(code { _ = try sandbox.importer().aesGCM(path, key: .file(key), as: "auth") } == .wrongKey)
        #expect(SystemFile.exists(path))
    }
}
