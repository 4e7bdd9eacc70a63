import AppGroups
import Glibc
import SealedState
import StateImport
import TestSupport
import Testing

@Suite struct PlaintextImportContainerTests {
    static let json = #"{"a":1}"#

    /// Creates a container as a program on another system has left it.
    private func plant(in root: String) throws {
        for directory in ["Library", "Library/Preferences", "Library/Caches", "Documents", "Documents/deep"] {
            mkdir("\(root)/\(directory)", 0o700)
        }
        let plist = try PlaintextImportSandbox.fixture("defaults.xml.plist")
        try SystemFile.write("\(root)/Library/Preferences/com.example.app.plist", plist)
        try SystemFile.write("\(root)/Library/Preferences/odd.txt", [1])
        try SystemFile.write("\(root)/state.json", Array(Self.json.utf8))
        try SystemFile.write(
            "\(root)/widget_auth_state.encrypted", PlaintextImportSandbox.fixture("widget_auth_state.encrypted"))
        try SystemFile.write("\(root)/Documents/deep/photo.jpg", unevenBytes(100_000))
        try SystemFile.write("\(root)/.com.apple.metadata.plist", [1])
        #expect(symlink("state.json", "\(root)/link") == 0)
    }

    private func mapping(_ sandbox: PlaintextImportSandbox) throws -> ContainerMapping {
        ContainerMapping([
            "state.json": .init(record: "state", schemaVersion: 2),
            "widget_auth_state.encrypted": .init(
                record: "auth", conversion: RecordConversion(numbers: ["tokenExpiresAt"]),
                key: .file(try sandbox.tutorial("key.raw"))),
        ])
    }

    private func words(_ report: PlaintextImportReport) -> [String: String] {
        Dictionary(uniqueKeysWithValues: report.items.map { ($0.source, $0.word) })
    }

    private func files(below path: String) throws -> [String] {
        try SystemFile.names(path).flatMap { name -> [String] in
            guard let inner = try? files(below: "\(path)/\(name)") else { return [name] }
            return inner.map { "\(name)/\($0)" }
        }
    }

    private static let sealed = [
        "Documents/deep/photo.jpg", "Library/Preferences/com.example.app.plist", "state.json",
        "widget_auth_state.encrypted",
    ]
    private static let left = [".com.apple.metadata.plist", "Library/Preferences/odd.txt", "link"]

    @Test func everyFileBecomesWhatItIsMeantToBe() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try plant(in: root)
        let report = try sandbox.importer().container(root, mapping: mapping(sandbox))
        #expect(report.failures.isEmpty)
        #expect(report.leftInPlaintext.map(\.source) == ["Library/Preferences/odd.txt"])
        #expect(words(report).filter { $0.value == "sealed" }.keys.sorted() == Self.sealed)
        #expect(words(report).filter { $0.value == "left" }.keys.sorted() == Self.left)
        #expect(try files(below: root).sorted() == Self.left)
        try expectAllThere(sandbox)

        let again = try sandbox.importer().container(root, mapping: mapping(sandbox))
        #expect(again.failures.isEmpty && words(again)["state.json"] == "gone")
        try expectAllThere(sandbox)
    }

    private func expectAllThere(_ sandbox: PlaintextImportSandbox) throws {
        let store = try sandbox.fixture.open()
        #expect(try sandbox.record("state") == Self.json)
        #expect(try Array(sandbox.record("auth").utf8) == PlaintextImportSandbox.fixture("widget_auth_state.json"))
        #expect(try store.defaults(suite: "com.example.app").contents() == PlaintextImportDefaultsTests.values)
        #expect(try store.files.read("Documents/deep/photo.jpg") == unevenBytes(100_000))
    }

    @Test func theGroupsOwnContainerIsSealedWhereItIs() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = sandbox.fixture.container
        _ = try sandbox.fixture.open()
        try plant(in: root)
        try sandbox.fixture.open().write(Note(text: "own"))
        let report = try sandbox.importer().container(mapping: mapping(sandbox))
        #expect(report.failures.isEmpty, "\(report.failures)")
        #expect(words(report).filter { $0.value == "sealed" }.keys.sorted() == Self.sealed)
        #expect(!SystemFile.exists(root + "/state.json"))
        try expectAllThere(sandbox)
        #expect(try sandbox.fixture.open().read(Note.self).text == "own")
        let again = try sandbox.importer().container()
        #expect(again.failures.isEmpty && words(again).values.allSatisfy { $0 == "left" })
        try expectAllThere(sandbox)
    }

    @Test func aDryRunSaysTheSameAndDoesNothing() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try plant(in: root)
        let before = try files(below: root)
        let report = try sandbox.importer { $0.isDryRun = true }.container(root, mapping: mapping(sandbox))
        #expect(words(report).filter { $0.value == "planned" }.keys.sorted() == Self.sealed)
        #expect(try files(below: root) == before)
        #expect(try sandbox.fixture.open().list().isEmpty)
        #expect(!SystemFile.exists(sandbox.fixture.container + "/Documents"))
    }

    @Test func oneThatCannotBeMovedDoesNotKeepTheOthersFromIt() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try plant(in: root)
        try SystemFile.write("\(root)/Library/Preferences/com.example.app.plist", [1, 2, 3])
        let report = try sandbox.importer().container(
            root, mapping: ContainerMapping(["./state.json": .init(record: "state")]))
        #expect(!report.isComplete)
        #expect(words(report)["Library/Preferences/com.example.app.plist"] == "failed sourceMalformed")
        #expect(words(report)["state.json"] == "sealed")
        #expect(SystemFile.exists("\(root)/Library/Preferences/com.example.app.plist"))
    }

    @Test func aRecordsOwnPlaceTakesNoOtherFile() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        for directory in ["Library", "Library/Application Support", "Library/Application Support/Records"] {
            mkdir("\(root)/\(directory)", 0o700)
        }
        try SystemFile.write("\(root)/Library/Application Support/Records/x", [1])
        try SystemFile.write("\(root)/Library/Application Support/x", [1])
        let report = try sandbox.importer().container(root)
        #expect(
            words(report) == [
                "Library/Application Support/Records/x": "left", "Library/Application Support/x": "sealed",
            ])
        #expect(report.items.last?.target == "Library/Application_Support/x")
    }

    @Test func filesThatWouldBecomeOneStayUntilTheMapNamesThem() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        for name in ["a b", "a_b", "c"] { try SystemFile.write("\(root)/\(name)", Array(name.utf8)) }
        let report = try sandbox.importer().container(root)
        #expect(words(report) == ["a b": "left", "a_b": "left", "c": "sealed"])
        #expect(report.leftInPlaintext.count == 2)
        try SystemFile.write("\(root)/c", Array("c".utf8))
        var mapping = ContainerMapping()
        for names in [["a b": "c"], ["a b": "x", "a_b": "x"], ["a b": "x y"]] {
            mapping.files = names
            #expect(code { _ = try sandbox.importer().container(root, mapping: mapping) } == .invalidName)
        }
        mapping.files = ["a b": "first", "a_b": "second"]
        #expect(try sandbox.importer().container(root, mapping: mapping).isComplete)
        #expect(try sandbox.fixture.open().files.read("first") == Array("a b".utf8))
        #expect(try sandbox.fixture.open().files.read("second") == Array("a_b".utf8))
    }

    @Test(arguments: [
        ContainerMapping(["gone.json": .init(record: "gone")]), ContainerMapping(["../state.json": .init(record: "a")]),
        ContainerMapping(["state.json": .init(record: "a/../b")]), ContainerMapping(["link": .init(record: "a")]),
        ContainerMapping(["state.json": .init(record: "a"), "Documents/deep/photo.jpg": .init(record: "a")]),
    ])
    func aRuleThatCannotBeFollowedIsReportedBeforeAnythingIsMoved(mapping: ContainerMapping) throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try plant(in: root)
        let before = try files(below: root)
        #expect(
            [.sourceUnusable, .invalidName].contains(
                code { _ = try sandbox.importer().container(root, mapping: mapping) })
        )
        #expect(try files(below: root) == before)
    }

    @Test func theMapSaysWhatBecomesOfWhatHasNoPlaceAndWhatStays() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try plant(in: root)
        try SystemFile.write("\(root)/.token", [1])
        let preferences = "\(root)/Library/Preferences"
        try SystemFile.write("\(preferences)/My App.plist", PlaintextImportSandbox.fixture("defaults.xml.plist"))
        #expect(try sandbox.importer { $0.isDryRun = true }.container(root).leftInPlaintext.count == 2)
        var mapping = try mapping(sandbox)
        mapping.suites["Library/Preferences/My App.plist"] = "app"
        mapping.left = ["Documents", "Library/Preferences/odd.txt"]
        let report = try sandbox.importer().container(root, mapping: mapping)
        #expect(report.isComplete && words(report)[".token"] == "sealed")
        #expect(words(report)["Library/Preferences/My App.plist"] == "sealed")
        #expect(SystemFile.exists("\(root)/Documents/deep/photo.jpg"))
    }

    @Test func theHomeItsPartsAndTheKeysInUseAreNeverMoved() throws {
        let sandbox = try PlaintextImportSandbox()
        _ = try sandbox.fixture.open()
        let home = sandbox.fixture.place.path
        let before = try files(below: home)
        for path in [home, home + "/Keys", home + "/Vaults", home + "/Containers"] {
            #expect(code { _ = try sandbox.importer().container(path) } == .sourceUnusable, "\(path)")
        }
        for name in before.filter({ !$0.hasPrefix("Containers/") }) {
            #expect(code { _ = try sandbox.importer().file("\(home)/\(name)") } == .sourceUnusable, "\(name)")
        }
        #expect(try files(below: home).filter { !$0.hasSuffix(".lock") } == before.filter { !$0.hasSuffix(".lock") })
        let root = try sandbox.plain.directory("app")
        try plant(in: root)
        try SystemFile.write("\(root)/key.raw", PlaintextImportSandbox.fixture("key.raw"))
        let rule = ContainerMapping.Rule(record: "auth", key: .file("\(root)/key.raw"))
        let report = try sandbox.importer().container(
            root, mapping: ContainerMapping(["widget_auth_state.encrypted": rule]))
        #expect(words(report)["key.raw"] == "left" && report.leftInPlaintext.contains { $0.source == "key.raw" })
    }

    @Test func aContainerThatIsGoneTakesNothing() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try SystemFile.write("\(root)/f", [1])
        let importer = try sandbox.importer()
        rename(sandbox.fixture.container, sandbox.path("away"))
        #expect(code { _ = try importer.container(root) } == .containerMissing)
        #expect(code { _ = try importer.file("\(root)/f") } == .containerMissing)
        #expect(try files(below: root) == ["f"])
    }

    @Test func theQuotaHoldsForSealedFilesToo() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try SystemFile.write("\(root)/large", unevenBytes(300_000))
        _ = try sandbox.fixture.open()
        try GroupRegistry(sandbox.fixture.group, in: sandbox.fixture.home).setQuota(100_000)
        for isDryRun in [true, false] {
            let report = try sandbox.importer { $0.isDryRun = isDryRun }.container(root)
            #expect(words(report) == ["large": "failed quotaExceeded"])
        }
        #expect(try files(below: root) == ["large"])
    }

    @Test func twoFormsOfOneLetterAreTwoFiles() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        let names = ["caf\u{E9}", "cafe\u{301}"]
        for (index, name) in names.enumerated() { try SystemFile.write("\(root)/\(name)", [UInt8(index)]) }
        #expect(try sandbox.importer().container(root).leftInPlaintext.count == 2)
        var mapping = ContainerMapping()
        mapping.files = [names[1]: "second"]
        let report = try sandbox.importer().container(root, mapping: mapping)
        #expect(report.leftInPlaintext.count == 1 && report.items.count == 2)
        #expect(try sandbox.fixture.open().files.read("second") == [1])
        #expect(try sandbox.importer().container(root).isComplete)
        #expect(try sandbox.fixture.open().files.read("caf_") == [0])
    }

    @Test func aMissingGoldenRecordIsReportedBeforeAnythingIsMoved() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        for name in ["a", "state.json"] { try SystemFile.write("\(root)/\(name)", Array(Self.json.utf8)) }
        let rule = ContainerMapping.Rule(record: "a", conversion: RecordConversion(golden: sandbox.path("none")))
        let mapping = ContainerMapping(["state.json": rule])
        #expect(code { _ = try sandbox.importer().container(root, mapping: mapping) } == .sourceUnusable)
        #expect(try files(below: root).sorted() == ["a", "state.json"])
    }

    @Test func rulesForFilesThatWereMovedBeforeAreNoFault() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try SystemFile.write("\(root)/f", [1])
        try SystemFile.write("\(root)/p.plist", PlaintextImportSandbox.fixture("defaults.xml.plist"))
        var mapping = ContainerMapping()
        (mapping.files, mapping.suites) = (["f": "g"], ["p.plist": "app"])
        for word in ["sealed", "gone"] {
            let report = try sandbox.importer().container(root, mapping: mapping)
            #expect(words(report) == ["f": word, "p.plist": word])
        }
    }

    @Test func emptyAndZeroedPartsOfNoDatabaseBecomeNoFiles() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        try SystemFile.write("\(root)/a.sqlite-wal", [])
        try SystemFile.write("\(root)/a.sqlite-journal", [UInt8](repeating: 0, count: 512))
        let report = try sandbox.importer().container(root)
        #expect(words(report).values.allSatisfy { $0 == "left" })
        #expect(report.leftInPlaintext.map(\.source) == ["a.sqlite-journal"])
    }

    @Test func setAsideSourcesCountOnceUnderTheirOwnName() throws {
        let sandbox = try PlaintextImportSandbox()
        let root = try sandbox.plain.directory("app")
        mkdir("\(root)/d", 0o700)
        try sandbox.setAside("f", [1, 2], below: root + "/d")
        let report = try sandbox.importer().container(root)
        #expect(words(report) == ["d/f": "sealed"])
        #expect(try files(below: root) == [])
    }
}
