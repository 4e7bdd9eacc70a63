import Glibc
import TestSupport
import Testing

@Suite struct DefaultsCommandTests {
    private static let group = Sandbox.group

    private func defaults(_ sandbox: Sandbox, _ words: [String], input: String = "") throws -> ChildResult {
        try sandbox.sealctl(["defaults"] + words, input: Array(input.utf8))
    }

    /// Writes a value and returns the text that `read` prints.
    private func written(_ words: [String], input: String = "") throws -> String {
        let sandbox = try Sandbox.initialised()
        let result = try defaults(sandbox, ["write", Self.group, "key"] + words, input: input)
        guard result.exitCode == 0 else { throw Unexpected(result) }
        return try sandbox.succeed(["defaults", "read", Self.group, "key"]).outputText
    }

    private static let values: [([String], String)] = [
        (["dark"], "dark\n"), (["two words"], "two words\n"), (["5"], "5\n"), (["-string", "-5"], "-5\n"),
        (["-string", "-hello"], "-hello\n"), (["-string", "{a"], "{a\n"), (["-int", "-5"], "\"-5\"\n"),
        (["-integer", "18446744073709551615"], "18446744073709551615\n"), (["-float", "1.5"], "\"1.5\"\n"),
        (["-bool", "yes"], "1\n"), (["-boolean", "NO"], "0\n"), (["-data", "00fF 10"], "<00ff10>\n"),
        (["-date", "2026-11-21"], "\"2026-11-21 00:00:00 +0000\"\n"),
        (["-date", "2026-11-21T03:30:00Z"], "\"2026-11-21 03:30:00 +0000\"\n"),
        (["-date", "2026-11-21 03:30:00 +0000"], "\"2026-11-21 03:30:00 +0000\"\n"),
        (["-array", "a", "-int", "1", "b c"], "(\n    a,\n    1,\n    \"b c\"\n)\n"), (["-array"], "(\n)\n"),
        (["-dict", "a", "-bool", "true", "b", "(c)"], "{\n    a = 1;\n    b = (\n        c\n    );\n}\n"),
        (["(a, {b = c;})"], "(\n    a,\n    {\n        b = c;\n    }\n)\n"), (["\"quoted\""], "quoted\n"),
        (["<0aff>"], "<0aff>\n"), (["é"], "é\n"), (["(\"é\")"], "(\n    \"\\U00e9\"\n)\n"),
    ]

    @Test(arguments: values) func valuesReadAsTheyWereWritten(words: [String], expected: String) throws {
        #expect(try written(words) == expected)
    }

    private static let inputs: [([String], String, String)] = [
        (["-string", "-"], "secret\n", "secret\n"), (["-data", "-"], "ab", "<6162>\n"),
        (["-"], "<plist version=\"1.0\"><array><real>1</real></array></plist>", "(\n    1\n)\n"),
        (["-array", "a", "-string", "-"], "b", "(\n    a,\n    b\n)\n"),
    ]

    @Test(arguments: inputs) func secretValuesComeFromStandardInput(
        words: [String], input: String, expected: String
    ) throws {
        #expect(try written(words, input: input) == expected)
    }

    private static let refusals: [([String], Int32)] = [
        ([], 64), (["-int"], 64), (["-int", "x"], 64), (["-bool", "maybe"], 64), (["-data", "0"], 64),
        (["-date", "tomorrow"], 64), (["-nothing", "x"], 64), (["a", "b"], 64), (["-int", "1", "2"], 64),
        (["-dict", "a"], 64), (["-dict", "a", "b", "a", "c"], 64), (["{a"], 65), (["-"], 65),
        (["-array", "a", "--grup", "b"], 64), (["--nothing"], 64),
    ]

    @Test(arguments: refusals) func anInvalidValueIsRefusedAndNothingIsWritten(words: [String], status: Int32) throws {
        let sandbox = try Sandbox.initialised()
        let result = try defaults(sandbox, ["write", Self.group, "key"] + words)
        // With a suite and one word, the word is the suite's dictionary.
        #expect(result.exitCode == (words.isEmpty ? 65 : status), "\(result.errorText)")
        #expect(try defaults(sandbox, ["domains"]).outputText.isEmpty)
    }

    @Test func optionsMayFollowTheValue() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", "com.example.other", "key", "-int", "5", "--group", Self.group])
        #expect(try sandbox.succeed(["defaults", "domains"]).outputText == "com.example.other\n")
        let result = try sandbox.succeed(["defaults", "read", "com.example.other", "key", "--json"])
        #expect(result.outputText == "5\n")
    }

    @Test func theIdentifierOfAGroupNamesGroupAndSuite() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "a", "b"])
        let read = try sandbox.sealctl(["defaults", "read", Self.group, "a"], group: "")
        #expect(read.outputText == "b\n")
        let unnamed = try sandbox.sealctl(["defaults", "read", "com.example.settings", "a"], group: "")
        #expect(unnamed.exitCode == 64)
    }

    @Test func keysOfAWholeSuiteAreInOrderAndItCanBeReplaced() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "{ b = 2; \"a b\" = (1, 2); }"])
        let text = try sandbox.succeed(["defaults", "read", Self.group]).outputText
        #expect(text == "{\n    \"a b\" = (\n        1,\n        2\n    );\n    b = 2;\n}\n")
        try sandbox.succeed(["defaults", "write", Self.group, text])
        #expect(try sandbox.succeed(["defaults", "read", Self.group]).outputText == text)
        #expect(try sandbox.succeed(["defaults", "read"]).outputText.contains("\"\(Self.group)\" = {\n"))
        #expect(try defaults(sandbox, ["write", Self.group, "(a)"]).exitCode == 65)
    }

    @Test func additionsGoToWhatIsThere() throws {
        let sandbox = try Sandbox.initialised()
        for words in [["-array-add", "a"], ["-array-add", "-int", "2", "b"]] {
            try sandbox.succeed(["defaults", "write", Self.group, "list"] + words)
        }
        #expect(
            try sandbox.succeed(["defaults", "read", Self.group, "list", "--json"]).outputText == "[\"a\",2,\"b\"]\n")
        for words in [["-dict-add", "a", "1"], ["-dict-add", "b", "-bool", "NO", "a", "2"]] {
            try sandbox.succeed(["defaults", "write", Self.group, "map"] + words)
        }
        let map = try sandbox.succeed(["defaults", "read", Self.group, "map", "--json"]).outputText
        #expect(map == "{\"a\":\"2\",\"b\":false}\n")
        #expect(try defaults(sandbox, ["write", Self.group, "map", "-array-add", "x"]).exitCode == 65)
        #expect(try defaults(sandbox, ["write", Self.group, "list", "-dict-add", "x", "y"]).exitCode == 65)
        #expect(try sandbox.succeed(["defaults", "read", Self.group, "map", "--json"]).outputText == map)
    }

    private static let types: [([String], String)] = [
        (["x"], "string"), (["-int", "1"], "integer"), (["-float", "1"], "float"), (["-bool", "1"], "boolean"),
        (["-data", "00"], "data"), (["-date", "2026-11-21"], "date"), (["-array"], "array"), (["-dict"], "dictionary"),
    ]

    @Test(arguments: types) func everyTypeIsReported(words: [String], type: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "key"] + words)
        #expect(try sandbox.succeed(["defaults", "read-type", Self.group, "key"]).outputText == "Type is \(type)\n")
    }

    @Test func rawBytesAreTheBytes() throws {
        let sandbox = try Sandbox.initialised()
        let bytes = noise(3000)
        try sandbox.succeed(["defaults", "write", Self.group, "key", "-data", "-"], input: bytes)
        #expect(try sandbox.succeed(["defaults", "read", Self.group, "key", "--raw"]).output == bytes)
        try sandbox.succeed(["defaults", "write", Self.group, "key", "-int", "1"])
        #expect(try defaults(sandbox, ["read", Self.group, "key", "--raw"]).exitCode == 65)
        #expect(try defaults(sandbox, ["read", Self.group, "--raw"]).exitCode == 64)
    }

    @Test func missingValuesAreNotFound() throws {
        let sandbox = try Sandbox.initialised()
        #expect(try defaults(sandbox, ["read", Self.group]).exitCode == 44)
        #expect(try defaults(sandbox, ["delete", Self.group]).exitCode == 44)
        try sandbox.succeed(["defaults", "write", Self.group, "a", "b"])
        for words in [
            ["read", Self.group, "b"], ["read-type", Self.group, "b"], ["delete", Self.group, "b"],
            ["rename", Self.group, "b", "c"], ["read", "com.example.none"], ["export", "com.example.none", "-"],
            ["find", "zebra"],
        ] {
            #expect(try defaults(sandbox, words).exitCode == 44, "\(words)")
        }
    }

    @Test func keysAndSuitesAreDeletedAndRenamed() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "{ a = 1; b = 2; c = 3; }"])
        try sandbox.succeed(["defaults", "delete", Self.group, "a"])
        try sandbox.succeed(["defaults", "rename", Self.group, "b", "d"])
        #expect(try defaults(sandbox, ["rename", Self.group, "d", "c"]).exitCode == 45)
        #expect(
            try sandbox.succeed(["defaults", "read", Self.group, "--json"]).outputText == "{\"c\":\"3\",\"d\":\"2\"}\n")
        try sandbox.succeed(["defaults", "delete", Self.group, "--yes"])
        #expect(try defaults(sandbox, ["read", Self.group]).exitCode == 44)
        #expect(try sandbox.succeed(["defaults", "domains"]).outputText.isEmpty)
    }

    @Test func wordsAreFoundInNamesKeysAndValues() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed([
            "defaults", "write", Self.group, "{ theme = Dark; size = 5; list = ({ darkness = 1; }); }",
        ])
        try sandbox.succeed(["defaults", "write", "com.example.darkroom", "{ a = b; }"])
        let found = try sandbox.succeed(["defaults", "find", "DARK"]).outputText
        #expect(found.contains("Found 1 key in suite 'com.example.darkroom'"))
        #expect(found.contains("Found 2 keys in suite '\(Self.group)'") && !found.contains("size"))
    }

    @Test func aSuiteGoesOutAndComesBackInEveryFormat() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "{ a = (1, <0aff>); b = \"é\\n\"; }"])
        try sandbox.succeed(["defaults", "write", Self.group, "c", "-date", "2026-11-21"])
        let before = try sandbox.succeed(["defaults", "read", Self.group]).outputText
        try sandbox.succeed(["defaults", "export", Self.group, "binary.plist"])
        try sandbox.succeed(["defaults", "export", Self.group, "xml.plist", "--format", "xml"])
        #expect(try SystemFile.read(sandbox.path("files/binary.plist")).starts(with: Array("bplist00".utf8)))
        #expect(try SystemFile.read(sandbox.path("files/xml.plist")).starts(with: Array("<?xml".utf8)))
        #expect(try SystemFile.mode(sandbox.path("files/xml.plist")) & 0o777 == 0o600)
        for file in ["binary.plist", "xml.plist"] {
            try sandbox.succeed(["defaults", "write", Self.group, "{ d = e; }"])
            try sandbox.succeed(["defaults", "import", Self.group, file, "--yes"])
            #expect(try sandbox.succeed(["defaults", "read", Self.group]).outputText == before)
        }
        let json = try sandbox.succeed(["defaults", "export", Self.group, "-", "--json"]).outputText
        #expect(json == "{\"a\":[\"1\",\"Cv8=\"],\"b\":\"é\\n\",\"c\":\"2026-11-21T00:00:00Z\"}\n")
    }

    @Test func anImportReplacesUnlessItIsToMerge() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "{ a = 1; b = 1; }"])
        try sandbox.succeed(["defaults", "import", Self.group, "-", "--merge"], input: Array("b = 2; c = 2;".utf8))
        let merged = try sandbox.succeed(["defaults", "read", Self.group, "--json"]).outputText
        #expect(merged == "{\"a\":\"1\",\"b\":\"2\",\"c\":\"2\"}\n")
        try sandbox.succeed(["defaults", "import", Self.group, "-", "--yes"], input: Array("b = 3;".utf8))
        #expect(try sandbox.succeed(["defaults", "read", Self.group, "--json"]).outputText == "{\"b\":\"3\"}\n")
        for input in ["", "(a)", "{a", "<plist><dict>", "\u{0}"] {
            let result = try defaults(sandbox, ["import", Self.group, "-", "--yes"], input: input)
            #expect(result.exitCode == 65, "\(input)")
        }
        #expect(try sandbox.succeed(["defaults", "read", Self.group, "--json"]).outputText == "{\"b\":\"3\"}\n")
        #expect(try defaults(sandbox, ["import", Self.group, "none.plist"]).exitCode == 66)
    }

    @Test func aControlCharacterIsNotExportedAsXML() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "a", "\"\\U0001\""])
        #expect(try defaults(sandbox, ["export", Self.group, "-", "--format", "xml"]).exitCode == 65)
        #expect(try defaults(sandbox, ["export", Self.group, "-"]).exitCode == 0)
    }

    @Test func aLargeValueIsWrittenWithAWarning() throws {
        let sandbox = try Sandbox.initialised()
        let large = try defaults(
            sandbox, ["write", Self.group, "a", "-string", "-"], input: String(repeating: "x", count: 5000))
        #expect(large.exitCode == 0 && large.errorText.contains("warning"))
        let huge = try defaults(
            sandbox, ["write", Self.group, "a", "-string", "-"], input: String(repeating: "x", count: 2 << 20))
        #expect(huge.exitCode == 65)
    }

    private func file(_ sandbox: Sandbox) -> String {
        "\(sandbox.container)/Library/Preferences/\(Self.group).sealed"
    }

    @Test(arguments: [["write", group, "{ c = d; }"], ["import", group, "new.plist"]])
    func aTamperedSuiteIsBegunAnewAsAWhole(words: [String]) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.file("new.plist", Array("c = d;".utf8))
        try sandbox.succeed(["defaults", "write", Self.group, "a", "b"])
        try sandbox.flip(file(sandbox), at: 200)
        #expect(try defaults(sandbox, ["import", Self.group, "new.plist", "--merge"]).exitCode == 65)
        try sandbox.succeed(["defaults"] + words)
        #expect(try sandbox.succeed(["defaults", "read", Self.group, "--json"]).outputText == "{\"c\":\"d\"}\n")
    }

    @Test func aSuiteWhoseFileIsGoneCanBeDeleted() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "a", "b"])
        #expect(unlink(file(sandbox)) == 0)
        let refused = try defaults(sandbox, ["read", Self.group])
        #expect(refused.exitCode == 44 && !refused.errorText.contains("sealctl list"))
        try sandbox.succeed(["defaults", "delete", Self.group, "--yes"])
        #expect(try defaults(sandbox, ["delete", Self.group]).exitCode == 44)
        try sandbox.succeed(["defaults", "write", Self.group, "c", "d"])
    }

    @Test func aLargeSuiteIsInspectedLikeARecord() throws {
        let sandbox = try Sandbox.initialised()
        for key in ["a", "b", "c"] {
            try sandbox.succeed(["defaults", "write", Self.group, key, "-data", "-"], input: noise(900_000))
        }
        #expect(try sandbox.succeed(["inspect", file(sandbox), "--json"]).outputText.contains("verified"))
        try sandbox.succeed(["defaults", "write", Self.group, "{ a = b; }"])
        #expect(try sandbox.succeed(["inspect", file(sandbox)]).outputText.hasSuffix("{\n  \"a\": \"b\"\n}\n"))
    }

    @Test func aTamperedSuiteIsRefusedAndNotEmpty() throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.succeed(["defaults", "write", Self.group, "a", "b"])
        try sandbox.flip("\(sandbox.container)/Library/Preferences/\(Self.group).sealed", at: 200)
        #expect(try defaults(sandbox, ["read", Self.group]).exitCode == 65)
        #expect(try defaults(sandbox, ["write", Self.group, "c", "d"]).exitCode == 65)
    }
}
