import ContentDecoding
import Foundation
import TestSupport
import Testing

@Suite struct JSONReaderTests {
    private func read(_ text: String, named name: String = "a.json") -> CarrierReading {
        CarrierReading(Array(text.utf8), named: name)
    }

    @Test func valuesComeWithTheirWayAndTheirBytes() throws {
        let reading = read(
            #"{"accounts": [{}, {"token": "ghp_x", "n": -1.5e2, "on": true, "no": null}], "a": {"b": []}}"#)
        let token = try reading.only("accounts[1].token")
        #expect(token.text == "ghp_x")
        #expect(token.name == "token")
        #expect(token.form == .json)
        #expect(reading.fileBytes(of: token) == Array("ghp_x".utf8))
        #expect(try reading.only("accounts[1].n").number == -150)
        #expect(try reading.only("accounts[1].on").kind == .flag)
        #expect(reading.leaves.count == 3)
    }

    @Test func escapesAreUndone() throws {
        let reading = read(#"{"\u0074oken": "gh\u0070_\/x\n\ud83d\ude00\ud83d", "next": "a\\"}"#)
        let token = try reading.only("token")
        #expect(token.name == "token")
        #expect(token.text == "ghp_/x\n😀\u{FFFD}")
        #expect(try reading.only("next").text == "a\\")
    }

    @Test func eachLineMayBeAValue() throws {
        let reading = read("{\"a\": \"one\"}\n{\"a\": \"two\"}\n\n[\"three\"]\n", named: "log.jsonl")
        #expect(reading.leaves.map(\.place) == ["line 1, a", "line 2, a", "line 4, [0]"])
        #expect(reading.leaves.map(\.text) == ["one", "two", "three"])
    }

    @Test(arguments: [
        "{\"a\": \"first\",\n \"b\": token=here}", "{\"a\": \"first\",\n // token=here\n}",
        "{\"a\": \"first\"\n}}token=here",
        "{\"a\": \"first\",\n'token=here': 1}", "{\"a\": \"first\",\n\"token=here",
        "{\"a\": \"first\",\n\"token=here\" 1}",
    ])
    func fromWhereItIsNoJSONItIsRunningText(text: String) throws {
        let reading = read(text)
        #expect(try reading.only("a").text == "first")
        let rest = try #require(reading.leaves.last)
        #expect(rest.kind == .block)
        #expect(rest.text.contains("token=here"))
        #expect(rest.line == 2)
        #expect(reading.fileBytes(of: rest) == rest.bytes)
    }

    @Test func aMillionLevelsAreRead() throws {
        let depth = 1_000_000
        for (opening, closing) in [("[", "]"), ("{\"a\":", "}")] {
            let text =
                String(repeating: opening, count: depth) + "\"bottom\"" + String(repeating: closing, count: depth)
            let reading = read(text)
            #expect(reading.leaves.map(\.text) == ["bottom"])
            #expect(reading.notes.isEmpty)
        }
        #expect(read(String(repeating: "[", count: 2 * depth)).fault == nil)
    }

    @Test func tokensThatCrossAWindowAreWhole() throws {
        // The window is 256 KiB: texts of many lengths cross its borders.
        var generator = SeededGenerator(seed: 7)
        let values = (0..<400).map { index in
            String(repeating: index % 3 == 0 ? "\\u0041" : "x", count: Int.random(in: 0..<9000, using: &generator))
                + "-\(index)"
        }
        let text = "[\n" + values.map { "\"\($0)\"" }.joined(separator: ",  \n ") + "]"
        let reading = read(text)
        #expect(reading.leaves.map(\.text) == values.map { $0.replacing("\\u0041", with: "A") })
        #expect(reading.leaves.map(\.place) == values.indices.map { "[\($0)]" })
        for leaf in reading.leaves.prefix(50) where !leaf.text.contains("A") {
            #expect(reading.fileBytes(of: leaf) == leaf.bytes)
        }
    }

    @Test func aTextTooLongToBeHeldIsStillSearched() throws {
        let reading = read("{\"a\": \"first\", \"b\": \"" + String(repeating: "x", count: 9 << 20) + " token=here\"}")
        #expect(try reading.only("a").text == "first")
        #expect(reading.leaves.contains { $0.kind == .block && $0.text.contains("token=here") })
    }

    @Test func anyCutIsReadToItsEnd() {
        let whole = Array(#"{"a": ["text \u00e9", -1.5, true, null, {"b": {}}], "c": "é"}"#.utf8)
        for count in 0...whole.count {
            #expect(CarrierReading(Array(whole[..<count]), named: "a.json").fault == nil)
        }
    }

    @Test(arguments: 0..<4)
    func theLeavesAreThoseOfPython(seed: Int) throws {
        let files = try Python.files(
            """
            random.seed(\(seed))
            def text(): return "".join(random.choice("abcXYZ 09é嬢😀<>&\\"'\\n\\\\") for _ in range(random.randrange(0, 12)))
            def value(depth):
                kind = random.randrange(8 if depth else 5)
                if kind == 0: return random.choice([True, False, None])
                if kind == 1: return random.randrange(-2**53, 2**53) >> random.randrange(0, 53)
                if kind == 2: return random.uniform(-1e6, 1e6)
                if kind in (3, 4): return text()
                if kind == 5: return [value(depth - 1) for _ in range(random.randrange(0, 6))]
                return {"k" + text().replace("\\n", ""): value(depth - 1) for _ in range(random.randrange(0, 6))}
            leaves = []
            def walk(item, place):
                if isinstance(item, dict):
                    for key, child in item.items():
                        # Long keys come as texts too.
                        if len(key.encode()) >= 16: leaves.append([place, key])
                        walk(child, place + ("." if place else "") + key)
                elif isinstance(item, list):
                    for index, child in enumerate(item): walk(child, place + "[%d]" % index)
                elif isinstance(item, str): leaves.append([place, item])
                elif item is not None: leaves.append([place, "#%r" % float(item)])
            top = [value(4) for _ in range(60)]
            walk(top, "")
            for name, options in (("a", {}), ("b", {"ensure_ascii": False, "indent": 2})):
                write(json.dumps(top, **options).encode(), name)
            write(json.dumps(leaves).encode(), "leaves")
            """, ["a", "b", "leaves"])
        let expected = try JSONDecoder().decode([[String]].self, from: Data(files[2]))
        for file in files[..<2] {
            let found = CarrierReading(file).leaves.map { [$0.place, $0.kind == .text ? $0.text : ""] }
            #expect(found == expected.map { [$0[0], $0[1].hasPrefix("#") ? "" : $0[1]] })
        }
    }
}
