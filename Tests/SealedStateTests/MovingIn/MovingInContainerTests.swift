import Glibc
import SealedState
import TestSupport
import Testing

@Suite struct MovingInContainerTests {
    static let json = #"{"a":1}"#

    /// A container as a program on another system has left it.
    private func plant(in root: String) throws {
        for directory in ["Library", "Library/Preferences", "Library/Caches", "Documents", "Documents/deep"] {
            mkdir("\(root)/\(directory)", 0o700)
        }
        let plist = try MovingInYard.fixture("defaults.xml.plist")
        try SystemFile.write("\(root)/Library/Preferences/com.example.app.plist", plist)
        try SystemFile.write("\(root)/Library/Preferences/odd.txt", [1])
        try SystemFile.write("\(root)/state.json", Array(Self.json.utf8))
        try SystemFile.write(
            "\(root)/widget_auth_state.encrypted", MovingInYard.fixture("widget_auth_state.encrypted"))
        try SystemFile.write("\(root)/Documents/deep/photo.jpg", unevenBytes(100_000))
        try SystemFile.write("\(root)/.metadata.plist", [1])
        #expect(symlink("state.json", "\(root)/link") == 0)
    }

    private func mapping(_ yard: MovingInYard) throws -> ContainerMapping {
        ContainerMapping([
            "state.json": .init(record: "state", schemaVersion: 2),
            "widget_auth_state.encrypted": .init(record: "auth", key: .file(try yard.tutorial("key.raw"))),
        ])
    }

    private func words(_ report: MovingInReport) -> [String: String] {
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
    private static let left = [".metadata.plist", "Library/Preferences/odd.txt", "link"]

    @Test func everyFileBecomesWhatItIsMeantToBe() throws {
        let yard = try MovingInYard()
        let root = try yard.plain.directory("app")
        try plant(in: root)
        let report = try yard.moving().container(root, mapping: mapping(yard))
        #expect(report.isComplete)
        #expect(words(report).filter { $0.value == "sealed" }.keys.sorted() == Self.sealed)
        #expect(words(report).filter { $0.value == "left" }.keys.sorted() == Self.left)
        #expect(try files(below: root).sorted() == Self.left)
        try expectAllThere(yard)

        let again = try yard.moving().container(root, mapping: mapping(yard))
        #expect(again.isComplete && words(again)["state.json"] == "alreadyMoved")
        try expectAllThere(yard)
    }

    private func expectAllThere(_ yard: MovingInYard) throws {
        let store = try yard.fixture.open()
        #expect(try yard.record("state") == Self.json)
        #expect(try Array(yard.record("auth").utf8) == MovingInYard.fixture("widget_auth_state.json"))
        #expect(try store.defaults(suite: "com.example.app").contents() == MovingInDefaultsTests.values)
        let stream = yard.fixture.container + "/Documents/deep/photo.jpg.sealed"
        #expect(try SystemFile.mode(stream) == 0o600)
        // Its contents are compared by moving the same once more.
        let copy = try yard.file("photo.jpg", unevenBytes(100_000))
        #expect(try yard.moving().file(copy, to: stream).word == "alreadySealed")
    }

    @Test func theGroupsOwnContainerIsSealedWhereItIs() throws {
        let yard = try MovingInYard()
        let root = yard.fixture.container
        _ = try yard.fixture.open()
        try plant(in: root)
        try yard.fixture.open().write(Note(text: "own"))
        let report = try yard.moving().container(mapping: mapping(yard))
        #expect(report.isComplete, "\(report.failures)")
        #expect(words(report).filter { $0.value == "sealed" }.keys.sorted() == Self.sealed)
        #expect(!SystemFile.exists(root + "/state.json"))
        try expectAllThere(yard)
        #expect(try yard.fixture.open().read(Note.self).text == "own")
        let again = try yard.moving().container()
        #expect(again.isComplete && words(again).values.allSatisfy { $0 == "left" })
        try expectAllThere(yard)
    }

    @Test func aDryRunSaysTheSameAndDoesNothing() throws {
        let yard = try MovingInYard()
        let root = try yard.plain.directory("app")
        try plant(in: root)
        let before = try files(below: root)
        let report = try yard.moving { $0.isDryRun = true }.container(root, mapping: mapping(yard))
        #expect(words(report).filter { $0.value == "planned" }.keys.sorted() == Self.sealed)
        #expect(try files(below: root) == before)
        #expect(try yard.fixture.open().list().isEmpty)
        #expect(!SystemFile.exists(yard.fixture.container + "/Documents"))
    }

    @Test func oneThatCannotBeMovedDoesNotKeepTheOthersFromIt() throws {
        let yard = try MovingInYard()
        let root = try yard.plain.directory("app")
        try plant(in: root)
        try SystemFile.write("\(root)/Library/Preferences/com.example.app.plist", [1, 2, 3])
        let report = try yard.moving().container(
            root, mapping: ContainerMapping(["state.json": .init(record: "state"), "gone.json": .init(record: "gone")]))
        #expect(!report.isComplete)
        #expect(words(report)["Library/Preferences/com.example.app.plist"] == "failed sourceMalformed")
        #expect(words(report)["gone.json"] == "failed sourceUnusable")
        #expect(words(report)["state.json"] == "sealed")
        #expect(SystemFile.exists("\(root)/Library/Preferences/com.example.app.plist"))
    }

    @Test func aRecordsOwnPlaceTakesNoOtherFile() throws {
        let yard = try MovingInYard()
        let root = try yard.plain.directory("app")
        for directory in ["Library", "Library/Application Support", "Library/Application Support/Records"] {
            mkdir("\(root)/\(directory)", 0o700)
        }
        try SystemFile.write("\(root)/Library/Application Support/Records/x", [1])
        try SystemFile.write("\(root)/Library/Application Support/x", [1])
        let report = try yard.moving().container(root)
        #expect(
            words(report) == [
                "Library/Application Support/Records/x": "left", "Library/Application Support/x": "sealed",
            ])
    }

    @Test func whatWasSetAsideCountsOnceUnderItsOwnName() throws {
        let yard = try MovingInYard()
        let root = try yard.plain.directory("app")
        mkdir("\(root)/d", 0o700)
        try SystemFile.write("\(root)/d/.f.moving", [1, 2])
        let report = try yard.moving().container(root)
        #expect(words(report) == ["d/f": "sealed"])
        #expect(try files(below: root) == [])
    }
}
