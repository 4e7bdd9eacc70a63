import ContentDecoding
import TestSupport
import Testing

@Suite struct TextPropertyListTests {
    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">

        """

    private func read(_ body: String) -> CarrierReading {
        CarrierReading(Array((Self.head + body + "</plist>\n").utf8), named: "a.plist")
    }

    @Test func elementsComeWithTheirWayAndTheirBytes() throws {
        let reading = read(
            """
            <dict>
              <key>accounts</key><array><dict/><dict><key>token</key><string>ghp_x</string>
              <key>R&amp;D</key><string>a &lt; b</string><key>on</key><true/><key>n</key><integer>-7</integer>
              <key>when</key><date>2001-01-01T00:00:10Z</date><key>data</key><data>AQID</data></dict></array>
            </dict>
            """)
        let token = try reading.only("accounts[1].token")
        #expect(token.text == "ghp_x")
        #expect(token.name == "token")
        #expect(token.form == .xmlPropertyList)
        #expect(reading.fileBytes(of: token) == Array("ghp_x".utf8))
        #expect(try reading.only("accounts[1].R&D").text == "a < b")
        #expect(try reading.only("accounts[1].on").number == 1)
        #expect(try reading.only("accounts[1].n").number == -7)
        #expect(try reading.only("accounts[1].when").number == 978_307_210)
        #expect(try reading.only("accounts[1].data").bytes == [1, 2, 3])
        #expect(reading.leaves.count == 6)
    }

    @Test func commentsAreRunningText() throws {
        let reading = read("<!-- one\n password = hunter2 -->\n<dict><key>a</key><string>b</string></dict>")
        let comment = try #require(reading.leaves.first { $0.kind == .block })
        #expect(comment.text.contains("password = hunter2"))
        #expect(comment.line == 3)
        #expect(try reading.only("a").text == "b")
    }

    @Test(arguments: [
        "<dict><key>a</key><string>first</string><key>b</key><weird>token=here</weird></dict>",
        "<dict><key>a</key><string>first</string><key>b</key><string>token=here & there</string></dict>",
        "<dict><key>a</key><string>first</string></array> token=here",
        "<dict><key>a</key><string>first</string> token=here ",
    ])
    func fromWhereItIsDamagedItIsRunningText(body: String) throws {
        let reading = read(body)
        #expect(try reading.only("a").text == "first")
        let rest = try #require(reading.leaves.last)
        #expect(rest.kind == .block)
        #expect(rest.text.contains("token=here"))
        #expect(rest.line == 4)
        #expect(reading.fileBytes(of: rest) == rest.bytes)
    }

    @Test func listsInUTF16AreRead() throws {
        let text =
            Self.head.replacing("UTF-8", with: "UTF-16") + "<dict><key>a</key><string>größe</string></dict></plist>"
        let bytes: [UInt8] = [0xFE, 0xFF] + text.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
        var found: [FoundValue] = []
        let walk = ValueWalk(budget: CarrierBudget()) { found.append(FoundValue($0)) }
        try XMLPropertyListValues.read(CarrierInput(MemorySource(bytes)), walk)
        #expect(found.map(\.place) == ["a"])
        #expect(found.map(\.text) == ["größe"])
        #expect(found.map(\.range) == [nil])
    }

    @Test func deeperThanTheWayEverythingIsStillRead() throws {
        let depth = 100_000
        let reading = read(
            String(repeating: "<array>", count: depth) + "<string>bottom</string>"
                + String(repeating: "</array>", count: depth))
        #expect(reading.leaves.map(\.text) == ["bottom"])
    }

    @Test func anyCutIsReadToItsEnd() {
        let whole = Array(
            (Self.head + "<dict><key>a</key><string>first &amp; last</string><key>b</key><data>AQID</data></dict>").utf8
        )
        for count in 0..<whole.count {
            let reading = CarrierReading(Array(whole[..<count]), named: "a.plist")
            #expect(reading.fault == nil)
        }
    }

    @Test func stringsFilesAreRead() throws {
        let text = """
            /* password = hunter2 */
            "api_key" = "ghp_x";
            nested = { list = (one, "two \\"2\\"", <0102>); };
            alone;
            """
        let reading = CarrierReading(Array(text.utf8), named: "Localizable.strings")
        let key = try reading.only("api_key")
        #expect(key.text == "ghp_x")
        #expect(key.name == "api_key")
        #expect(reading.fileBytes(of: key) == Array("\"ghp_x\"".utf8))
        #expect(try reading.only("nested.list[1]").text == "two \"2\"")
        #expect(try reading.only("nested.list[2]").bytes == [1, 2])
        #expect(try reading.only("alone").text == "alone")
        #expect(reading.leaves.contains { $0.kind == .block && $0.text.contains("hunter2") })
    }

    @Test func textThatIsNotAListIsRunningText() throws {
        let text = "a = 1;\ntoken: ghp_x\nmore text\n"
        let reading = CarrierReading(Array(text.utf8), named: "notes.plist")
        #expect(try reading.only("a").text == "1")
        let rest = try #require(reading.leaves.last)
        #expect(rest.text == "token: ghp_x\nmore text\n")
        #expect(rest.line == 2)
    }
}
