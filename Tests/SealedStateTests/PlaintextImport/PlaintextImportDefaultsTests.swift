import Glibc
import PropertyLists
import SealedState
import StateImport
import TestSupport
import Testing

@Suite struct PlaintextImportDefaultsTests {
    static let values: [String: PropertyListValue] = [
        "launchCount": .integer(12), "isDarkMode": .bool(true), "ratio": .real(0.25), "userName": .string("Zoë"),
        "recent": .array([.string("a"), .string("b")]), "blob": .data([0, 1, 2]),
        "nested": .dictionary(["x": .integer(-1), "y": .dictionary(["z": .string("deep")])]),
    ]

    @Test(arguments: ["defaults.xml.plist", "defaults.binary.plist"])
    func aPropertyListBecomesASuite(name: String) throws {
        let sandbox = try PlaintextImportSandbox()
        let item = try sandbox.importer().defaults(sandbox.tutorial(name), suite: "settings")
        #expect(item.word == "sealed" && item.isSourceRemoved && item.form == .defaults && item.target == "settings")
        #expect(try sandbox.fixture.open().defaults(suite: "settings").contents() == Self.values)
        #expect(try sandbox.plaintext == [])
        #expect(item.notes == [])
    }

    @Test func theSuiteIsNamedAsTheFileUnlessStated() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("com.example.app.plist", PlaintextImportSandbox.fixture("defaults.xml.plist"))
        #expect(try sandbox.importer().defaults(path).target == "com.example.app")
        #expect(try sandbox.fixture.open().defaultsSuites() == ["com.example.app"])
        #expect(try sandbox.importer().defaults(path).word == "gone")
    }

    @Test func otherValuesOfTheSuiteStay() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.fixture.open().defaults(suite: "s").edit { $0 = ["own": .integer(1), "ratio": .real(0.25)] }
        #expect(try sandbox.importer().defaults(sandbox.tutorial("defaults.binary.plist"), suite: "s").word == "sealed")
        let expected = Self.values.merging(["own": .integer(1)]) { first, _ in first }
        #expect(try sandbox.fixture.open().defaults(suite: "s").contents() == expected)
    }

    @Test func aValueThatDiffersIsAConflictAndNoneIsTaken() throws {
        let sandbox = try PlaintextImportSandbox()
        try sandbox.fixture.open().defaults(suite: "s").edit { $0 = ["ratio": .real(0.5)] }
        let path = try sandbox.tutorial("defaults.binary.plist")
        let error = refusal { _ = try sandbox.importer().defaults(path, suite: "s") }
        #expect(error?.code == .conflict && error?.reason.contains("ratio") == true)
        #expect(try sandbox.fixture.open().defaults(suite: "s").contents() == ["ratio": .real(0.5)])
        #expect(SystemFile.exists(path))
        #expect(try sandbox.importer { $0.replacesTarget = true }.defaults(path, suite: "s").isSourceRemoved)
        #expect(try sandbox.fixture.open().defaults(suite: "s").contents() == Self.values)
    }

    @Test func keyedArchivesComeInAsBytesAndAreNamed() throws {
        let sandbox = try PlaintextImportSandbox()
        let item = try sandbox.importer().defaults(sandbox.tutorial("archive.plist"), suite: "s")
        #expect(item.notes.count == 1 && item.notes[0].contains("archived") && !item.notes[0].contains("plain,"))
        let contents = try sandbox.fixture.open().defaults(suite: "s").contents()
        #expect(contents["plain"] == .integer(1))
        guard case .data(let bytes) = contents["archived"] else {
            Issue.record("no bytes")
            return
        }
        #expect(bytes.starts(with: Array("bplist00".utf8)))
    }

    @Test(arguments: ["", "text", "{ a = b; }", "<plist version=\"1.0\"><array/></plist>", "bplist00garbage"])
    func whatIsNoDictionaryIsRefused(text: String) throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("x.plist", text)
        #expect(code { _ = try sandbox.importer().defaults(path) } == .sourceMalformed)
        #expect(SystemFile.exists(path))
    }

    @Test func anEmptyListHasAnAnswerOfItsOwn() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.file("x.plist", "<plist version=\"1.0\"><dict/></plist>")
        #expect(try sandbox.importer().defaults(path).word == "left")
        #expect(SystemFile.exists(path))
    }

    @Test func aRemovedSuiteDoesNotComeBackWithoutARequest() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.tutorial("defaults.xml.plist")
        _ = try sandbox.importer { $0.keepsSource = true }.defaults(path, suite: "s")
        try sandbox.fixture.open().defaults(suite: "s").removePersistentDomain()
        #expect(code { _ = try sandbox.importer().defaults(path, suite: "s") } == .conflict)
        #expect(SystemFile.exists(path))
        #expect(try sandbox.importer { $0.replacesTarget = true }.defaults(path, suite: "s").isSourceRemoved)
    }

    @Test func aDryRunRefusesWhatTheMoveWould() throws {
        let sandbox = try PlaintextImportSandbox()
        let value = String(repeating: "x", count: 2_000_000)
        let path = try sandbox.file(
            "x.plist", "<plist version=\"1.0\"><dict><key>k</key><string>\(value)</string></dict></plist>")
        #expect(code { _ = try sandbox.importer { $0.isDryRun = true }.defaults(path) } == .tooLarge)
    }

    @Test func anInvalidSuiteNameIsRefused() throws {
        let sandbox = try PlaintextImportSandbox()
        let path = try sandbox.tutorial("defaults.xml.plist")
        #expect(code { _ = try sandbox.importer().defaults(path, suite: "a/b") } == .invalidName)
        #expect(SystemFile.exists(path))
    }
}
