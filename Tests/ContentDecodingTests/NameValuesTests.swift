import ContentDecoding
import TestSupport
import Testing

/// Tests of names that are secrets: they are found like any text.
@Suite struct NameValuesTests {
    private static let token = "ghp_0123456789abcdefABCDEF0123456789abcd"

    /// Expects the name as one value, next to its value.
    private func expectName(_ reading: CarrierReading, below place: String, times: Int = 1) {
        let found = reading.leaves.filter { $0.text == Self.token && $0.name == nil }
        #expect(found.map(\.place) == Array(repeating: place, count: times))
        #expect(found.allSatisfy { $0.kind == .text })
        for leaf in found where leaf.range != nil { #expect(reading.fileBytes(of: leaf) == Array(Self.token.utf8)) }
        #expect(!reading.leaves.contains { $0.name == nil && $0.text == "short" })
    }

    @Test func aKeyOfJSON() {
        let object = #"{"short": 1, "\#(Self.token)": [1, 2, {"value": "x"}]}"#
        expectName(CarrierReading(Array(#"{"outer": \#(object)}"#.utf8)), below: "outer")
    }

    @Test func aKeyThatIsDeeperThanTheWay() {
        let json = #"{"a":{"b":{"c":{"d":{"\#(Self.token)":1}}}}}"#
        let reading = CarrierReading(Array(json.utf8), budget: CarrierBudget(depth: 2))
        #expect(reading.leaves.contains { $0.text == Self.token })
    }

    @Test(arguments: ["FMT_XML", "FMT_BINARY"])
    func aKeyOfAPropertyList(format: String) throws {
        let bytes = try Python.bytes(
            """
            inner = {"short": 1, "\(Self.token)": [1, 2, {"value": "x"}]}
            write(plistlib.dumps({"outer": inner}, fmt=\(format)))
            """)
        expectName(CarrierReading(bytes), below: "outer")
    }

    @Test func aKeyOfAnOldPropertyList() {
        let text = #"{ outer = { short = 1; "\#(Self.token)" = (1, 2); }; }"#
        expectName(CarrierReading(Array(text.utf8), named: "a.plist"), below: "outer")
    }

    @Test func aKeyOfAnArchive() throws {
        let bytes = try Python.bytes(
            """
            write(binary({"$archiver": "NSKeyedArchiver", "$version": 100000, "$top": {"root": UID(1)}, "$objects": [
                "$null", {"$class": UID(2), "NS.keys": [UID(3)], "NS.objects": [UID(4)]},
                {"$classname": "NSMutableDictionary", "$classes": ["NSMutableDictionary", "NSObject"]},
                "\(Self.token)", "value"]}))
            """)
        let reading = CarrierReading(bytes)
        #expect(reading.leaves.contains { $0.text == Self.token && $0.name == nil && !$0.place.contains(Self.token) })
        // A class's name is not a key.
        #expect(!reading.leaves.contains { $0.text == "NSMutableDictionary" })
    }

    @Test func aNameOfACookie() throws {
        let bytes = try Python.bytes(
            CookiesReaderTests.writer + "write(file([page([cookie('.b.org', '\(Self.token)', '/', 'short')])]))")
        expectName(CarrierReading(bytes), below: "cookie of .b.org")
    }

    @Test func aTableAndAColumn() throws {
        let folder = try DatabaseFolder()
        try folder.python(
            """
            db.execute('CREATE TABLE "\(Self.token)" (id INTEGER PRIMARY KEY, "column_\(Self.token)" TEXT)')
            db.executemany('INSERT INTO "\(Self.token)" VALUES (?, ?)', [(n, 'x') for n in range(9)])
            """)
        let reading = try folder.read()
        let table = try #require(reading.exactly(Self.token).first)
        #expect(table.trail == "" && table.name == nil && table.kind == "text")
        #expect(reading.exactly("column_" + Self.token).count == 1)
        #expect(reading.exactly(Self.token).count == 1)
    }
}
