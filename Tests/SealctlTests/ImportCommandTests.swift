import Glibc
import TestSupport
import Testing

@Suite struct ImportCommandTests {
    struct Item: Decodable {
        let source, outcome: String
        let form, target, reason, code: String?
        let sourceRemoved: Bool
        let notes: [String]
    }

    struct Report: Decodable {
        let counts: [String: Int]
        let items: [Item]
    }

    private func fixture(_ name: String) throws -> [UInt8] {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        return try SystemFile.read("\(root)/Fixtures/tutorial/\(name)")
    }

    @Test(arguments: ["key.raw", "key.base64", "key.hex"])
    func theTutorialsFileBecomesARecord(key: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("state.encrypted", fixture("widget_auth_state.encrypted"))
        try sandbox.file("key", fixture(key))
        let result = try sandbox.succeed(
            [
                "import", "aes-gcm", "state.encrypted", "--as", "auth", "--key", "key", "--date", "tokenExpiresAt",
                "--json",
            ])
        let item = try decode(Item.self, result.output)
        #expect(item.outcome == "sealed" && item.sourceRemoved && item.target == "auth" && item.form == "record")
        #expect(try sandbox.files() == ["key"])
        let json = try sandbox.succeed(["get", "auth"]).outputText
        #expect(json.contains(#""tokenExpiresAt":"2051-01-01T00:00:00.5Z""#), "\(json)")
    }

    @Test func theKeyMayComeOnStandardInputOrFromTheVault() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("a", fixture("widget_auth_state.encrypted"))
        try sandbox.file("b", fixture("widget_auth_state.encrypted"))
        let number = ["--number", "tokenExpiresAt"]
        try sandbox.succeed(["import", "aes-gcm", "a", "--as", "a", "--key", "-"] + number, input: fixture("key.hex"))
        try sandbox.succeed(
            ["vault", "add", "-s", "widgetkey", "-a", "app"], input: fixture("key.raw"))
        try sandbox.succeed(["import", "aes-gcm", "b", "--as", "b", "--key-item", "widgetkey/app"] + number)
        #expect(try sandbox.files() == [])
        #expect(try sandbox.succeed(["get", "a"]).output == fixture("widget_auth_state.json"))
        #expect(try sandbox.succeed(["get", "b"]).output == fixture("widget_auth_state.json"))
    }

    @Test func aWrongKeyLeavesTheFile() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("a", fixture("widget_auth_state.encrypted"))
        let key = [UInt8](repeating: 9, count: 32)
        let result = try sandbox.sealctl(["import", "aes-gcm", "a", "--as", "a", "--key", "-", "--json"], input: key)
        #expect(result.exitCode == 51)
        #expect(try decode(MachineError.self, result.errors).code == "wrongKey")
        #expect(try sandbox.files() == ["a"])
        #expect(try sandbox.sealctl(["import", "aes-gcm", "a", "--as", "a"]).exitCode == 64)
    }

    @Test func aFileBecomesASealedFileAndComesBack() throws {
        let sandbox = try Sandbox.initialised()
        let plain = noise(200_000)
        try sandbox.file("photos.tar", plain)
        try sandbox.succeed(["import", "file", "photos.tar", "--dry-run"])
        #expect(try sandbox.files() == ["photos.tar"])
        let item = try decode(Item.self, sandbox.succeed(["import", "file", "photos.tar", "--json"]).output)
        #expect(item.form == "file" && item.target == "photos.tar" && item.sourceRemoved)
        #expect(try sandbox.files() == [])
        #expect(try sandbox.succeed(["file", "cat", "photos.tar"]).output == plain)
        try sandbox.file("photos.tar", [1, 2, 3])
        let result = try sandbox.sealctl(["import", "file", "photos.tar", "--json"])
        #expect(result.exitCode == 45)
        #expect(try decode(MachineError.self, result.errors).code == "conflict")
        #expect(try SystemFile.read(sandbox.path("files/photos.tar")) == [1, 2, 3])
        try sandbox.succeed(["import", "file", "photos.tar", "--replace", "--keep-source"])
        #expect(try sandbox.succeed(["file", "cat", "photos.tar"]).output == [1, 2, 3])
        #expect(try sandbox.files() == ["photos.tar"])
        try sandbox.succeed(["import", "file", "photos.tar", "--name", "backups/p.tar"])
        #expect(try sandbox.succeed(["file", "cat", "backups/p.tar"]).output == [1, 2, 3])
    }

    @Test func aMissingFileIsReportedAlsoWhereItsTargetIs() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("f", [1])
        try sandbox.succeed(["import", "file", "f"])
        let again = try sandbox.sealctl(["import", "file", "f", "--json"])
        #expect(again.exitCode == 66)
        #expect(try decode(MachineError.self, again.errors).code == "sourceGone")
        #expect(try decode(Item.self, again.output).outcome == "gone")
        #expect(try sandbox.sealctl(["import", "file", "other"]).exitCode == 66)
        try sandbox.file("g", [1])
        #expect(try sandbox.sealctl(["import", "file", "g", "--name", "a b"]).exitCode == 64)
    }

    @Test func jsonBecomesARecordWithItsVersion() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("state.json", Array(#"{"x":[1]}"#.utf8))
        try sandbox.succeed(["import", "file", "state.json", "--as", "state", "--schema-version", "4"])
        #expect(try sandbox.succeed(["get", "state"]).outputText == #"{"x":[1]}"#)
        #expect(try sandbox.succeed(["list", "--json"]).outputText.contains(#""schemaVersion":4"#))
        #expect(try sandbox.sealctl(["import", "file", "missing", "--as", "other"]).exitCode == 66)
        #expect(try sandbox.sealctl(["import", "file", "x", "--date", "y"]).exitCode == 64)
        #expect(try sandbox.sealctl(["import", "file", "x", "--schema-version", "2"]).exitCode == 64)
        #expect(try sandbox.sealctl(["import", "file", "x", "--as", "n", "--date", ""]).exitCode == 64)
        #expect(try sandbox.sealctl(["import", "file", "x", "--as", "n", "--name", "y"]).exitCode == 64)
    }

    @Test func aPropertyListBecomesASuite() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("settings.plist", fixture("defaults.xml.plist"))
        let item = try decode(Item.self, sandbox.succeed(["import", "defaults", "settings.plist", "--json"]).output)
        #expect(item.outcome == "sealed" && item.target == "settings" && item.form == "defaults")
        #expect(try sandbox.files() == [])
    }

    @Test func aContainerIsMovedByItsMap() throws {
        let sandbox = try Sandbox.initialised()
        for directory in ["app", "app/Library", "app/Library/Preferences", "app/Documents"] {
            mkdir(sandbox.path("files/\(directory)"), 0o700)
        }
        try sandbox.file("app/state.json", Array("{}".utf8))
        try sandbox.file("app/auth.encrypted", fixture("widget_auth_state.encrypted"))
        try sandbox.file("app/Library/Preferences/s.plist", fixture("defaults.binary.plist"))
        try sandbox.file("app/Documents/note.txt", [1])
        try sandbox.file("key", fixture("key.raw"))
        try sandbox.file(
            "map.json",
            Array(
                (#"{"state.json":{"record":"state"},"auth.encrypted":"#
                    + #"{"record":"auth","cipher":"aes-gcm","dates":["tokenExpiresAt=reference"]}}"#).utf8))
        #expect(try sandbox.sealctl(["import", "container", "app", "--map", "map.json"]).exitCode == 64)
        let command = ["import", "container", "app", "--map", "map.json", "--key", "key", "--json"]
        let planned = try decode(Report.self, sandbox.succeed(command + ["--dry-run"]).output)
        #expect(planned.counts["planned"] == 4)
        let report = try decode(Report.self, sandbox.succeed(command).output)
        #expect(report.counts["sealed"] == 4 && report.items.allSatisfy(\.sourceRemoved))
        #expect(try sandbox.succeed(["get", "state"]).outputText == "{}")
        #expect(try sandbox.succeed(["file", "cat", "Documents/note.txt"]).output == [1])
        let again = try decode(Report.self, sandbox.succeed(command).output)
        #expect(again.counts["gone"] == 2 && again.counts["sealed"] == 0)
    }

    @Test func aFailedMoveDecidesTheStatus() throws {
        let sandbox = try Sandbox.initialised()
        mkdir(sandbox.path("files/app"), 0o700)
        try sandbox.file("app/state.json", Array("no json".utf8))
        try sandbox.file("app/other", [1])
        let map = Array(#"{"state.json":{"record":"state"}}"#.utf8)
        let result = try sandbox.sealctl(["import", "container", "app", "--map", "-", "--json"], input: map)
        #expect(result.exitCode == 65)
        let report = try decode(Report.self, result.output)
        #expect(report.counts["failed"] == 1 && report.counts["sealed"] == 1)
        #expect(report.items.first { $0.outcome == "failed" }?.code == "sourceMalformed")
        #expect(SystemFile.exists(sandbox.path("files/app/state.json")))
    }

    @Test(arguments: [
        "[]", "{", #"{"a":{}}"#, #"{"a":{"record":1}}"#, #"{"a":{"record":"x","other":1}}"#,
        #"{"a":{"record":"x","leave":true}}"#, #"{"a":{"suite":"x","dates":[]}}"#,
        #"{"a":{"record":"x","schemaVersion":0}}"#, #"{"a":{"record":"x","cipher":"rot13"}}"#,
        #"{"a":{"record":"x","dates":["at=later"]}}"#, #"{"a":{"suite":"x","numbers":["at"]}}"#,
    ])
    func aMapThatIsNoneIsRefused(map: String) throws {
        let sandbox = try Sandbox.initialised()
        mkdir(sandbox.path("files/app"), 0o700)
        let result = try sandbox.sealctl(
            ["import", "container", "app", "--map", "-", "--json"], input: Array(map.utf8))
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "malformedMap")
    }
}
