import TestSupport
import Testing

@Suite struct StrictJSONTests {
    @Test(arguments: [
        "", " ", "{", "[1,]", "{\"a\":1,}", "{a:1}", "{'a':1}", "[1 2]", "01", "1.", ".5", "+1", "1e", "-", "NaN",
        "tru", "nul", "// c\n1", "\"a", "\"\t\"", "\"\\x\"", "\"\\u12\"", "\"\\ud800\"", "\"\\udc00\"",
        "{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":[{\"c\":1,\"c\":2}]}", "{\"a\":1,\"\\u0061\":2}",
        "{\"\\n\":1,\"\\u000a\":2}", "{\"\\\"\":1,\"\\u0022\":2}", "{\"\\ud83d\\ude00\":1,\"😀\":2}",
        "{\"\u{E9}\":1,\"e\u{301}\":2}", "{\"\\/\":1,\"/\":2}",
        "1e999", "-1e400", "[1e309]", "\"\\ud800\\u0041\"", "1 2", "{} {}", "\u{FEFF}{}", "[1]x", "{\"a\"}", "{\"a\":}",
        "{1:2}", "]",
    ])
    func whatIsNoJSONIsRefused(text: String) throws {
        let sandbox = try Sandbox.initialised()
        let result = try sandbox.sealctl(["put", "a", "-", "--json"], input: Array(text.utf8))
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "notJSON")
        #expect(!SystemFile.exists(sandbox.record("a")))
    }

    @Test(arguments: [
        [0x22, 0xFF, 0x22], [0x22, 0xC0, 0x80, 0x22], [0x22, 0xED, 0xA0, 0x80, 0x22],
        [0x22, 0xF4, 0x90, 0x80, 0x80, 0x22], [0x22, 0xE2, 0x82],
    ])
    func invalidUTF8IsRefused(bytes: [UInt8]) throws {
        let sandbox = try Sandbox.initialised()
        #expect(try sandbox.sealctl(["put", "a", "-"], input: bytes).exitCode == 65)
    }

    @Test(arguments: [
        "0", "-0", "1e5", "1E+05", "1.25e-3", "true", "false", "null", "\"\"", "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"",
        "\"\\ud83d\\ude00\"", "\"😀é\"", "[]", "{}", " [ 1 , { \"a\" : [ ] } ] ", "\r\n1\t",
        "{\"a\":1,\"A\":2,\"\\\\a\":3}", "[{\"a\":1},{\"a\":2}]", "{\"a\":{\"a\":1}}", "1.7976931348623157e308",
        "1e-999",
    ])
    func whatIsJSONIsTaken(text: String) throws {
        let sandbox = try Sandbox.initialised()
        try sandbox.put("a", text)
        #expect(try sandbox.succeed(["get", "a"]).outputText == text)
        // The output remains JSON in the layouts for people and for machines.
        try sandbox.succeed(["inspect", "a"])
        let inspected = try sandbox.succeed(["inspect", "a", "--json"])
        #expect(inspected.outputText.split(separator: "\n").count == 1)
    }

    @Test func theFaultIsPlacedByLineAndColumn() throws {
        let sandbox = try Sandbox.initialised()
        let result = try sandbox.sealctl(["put", "a", "-"], input: Array("{\n  \"é\": tru\n}".utf8))
        #expect(result.errorText.contains("line 2, column 8 (byte 10)"))
    }

    @Test func nestingEndsWhereReadersEnd() throws {
        let sandbox = try Sandbox.initialised()
        let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)
        try sandbox.put("a", deepest)
        #expect(try sandbox.succeed(["get", "a"]).outputText == deepest)
        #expect(try sandbox.sealctl(["put", "a", "-"], input: Array("[\(deepest)]".utf8)).exitCode == 65)
        let bottomless = [UInt8](repeating: UInt8(ascii: "["), count: 1 << 20)
        #expect(try sandbox.sealctl(["put", "a", "-"], input: bottomless).exitCode == 65)
    }

    @Test func aRecordEndsAtAMebibyte() throws {
        let sandbox = try Sandbox.initialised()
        let largest = "\"" + String(repeating: "x", count: (1 << 20) - 2) + "\""
        try sandbox.put("a", largest)
        #expect(try sandbox.succeed(["get", "a"]).output.count == 1 << 20)
        let result = try sandbox.sealctl(["put", "a", "-", "--json"], input: Array((largest + " ").utf8))
        #expect(result.exitCode == 65)
        #expect(try decode(MachineError.self, result.errors).code == "tooLarge")
    }
}
