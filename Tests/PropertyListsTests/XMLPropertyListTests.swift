import Foundation
import TestSupport
import Testing

@testable import PropertyLists

@Suite struct XMLPropertyListTests {
    private static let head = """
        <?xml version="1.0" encoding="UTF-8"?>
        <!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
        <plist version="1.0">
        """

    private func document(_ body: String) -> [UInt8] { Array((Self.head + body + "</plist>\n").utf8) }

    private func read(_ bytes: [UInt8]) throws -> PropertyListValue { try PropertyList.parse(bytes).value }

    private func read(_ body: String) throws -> PropertyListValue { try read(document(body)) }

    private func written(_ value: PropertyListValue) throws -> [UInt8] { try PropertyList.bytes(of: value, as: .xml) }

    private func fault(_ bytes: [UInt8], limits: StructureLimits = .propertyList) -> StructureFault? {
        do throws(StructureFault) { _ = try PropertyList.parse(bytes, limits: limits) } catch { return error }
        return nil
    }

    private func isMalformed(_ bytes: [UInt8]) -> Bool {
        if case .malformed = fault(bytes) { true } else { false }
    }

    private func isUnsupported(_ bytes: [UInt8]) -> Bool {
        if case .unsupported = fault(bytes) { true } else { false }
    }

    // MARK: Both ways

    @Test func writtenListsReadBack() throws {
        let bytes = try written(Samples.everything)
        #expect(try PropertyList.parse(bytes).format == .xml)
        #expect(try read(bytes) == Samples.everything)
    }

    @Test func theLayoutIsThatOfApplesWriter() throws {
        #expect(try written(Samples.everything) == FoundationOracle.bytes(of: Samples.everything, as: .xml))
        let deep = (0..<12).reduce(PropertyListValue.data([UInt8](0..<100))) { value, _ in .array([value]) }
        #expect(try written(deep) == FoundationOracle.bytes(of: deep, as: .xml))
    }

    @Test(arguments: 0..<40) func anyValueReadsBackHereAndInFoundation(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<10 {
            let value = Samples.random(using: &generator)
            let bytes = try written(value)
            #expect(try read(bytes) == value)
            #expect(try bytes == FoundationOracle.bytes(of: value, as: .xml))
        }
    }

    @Test(arguments: 0..<20) func everyNumberIsWrittenAsCWritesIt(_ seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<500 {
            let value = Double(bitPattern: generator.next())
            guard value.isFinite, !value.isZero else { continue }
            #expect(XMLScalarText.text(of: value) == String(format: "%.17g", value))
            #expect(try read("<real>\(XMLScalarText.text(of: value))</real>") == .real(value))
        }
    }

    @Test(arguments: [1, 10, 123, 1e15, 1e16, 1e17, 0.001, 1e-4, 1e-5, 0.00012345, 1e22, -4.5])
    func roundNumbersAreWrittenAsCWritesThem(_ value: Double) {
        #expect(XMLScalarText.text(of: value) == String(format: "%.17g", value))
    }

    @Test func valuesThatAppleDropsAreKept() throws {
        let value = PropertyListValue.array([.real(-0.0), .string("a\r\nb\r"), .real(.infinity), .real(-.infinity)])
        let back = try read(try written(value))
        #expect(back == value)
        #expect(back.array?.first?.real?.sign == .minus)
        #expect(try read(try written(.real(.nan))).real?.isNaN == true)
    }

    @Test func textThatXMLCannotRepresentIsNotWritten() {
        for text in ["\u{0}", "a\u{1}", "\u{1F}", "\u{FFFE}", "x\u{FFFF}"] {
            for value in [PropertyListValue.string(text), .dictionary([text: .bool(true)])] {
                #expect(throws: StructureFault.unsupported("a control character, which XML cannot represent")) {
                    try PropertyList.bytes(of: value, as: .xml)
                }
            }
        }
    }

    // MARK: Reading

    @Test func everyWayToWriteAValueReads() throws {
        let cases: [(String, PropertyListValue)] = [
            ("<string/>", .string("")), ("<string></string>", .string("")), ("<dict/>", .dictionary([:])),
            ("<dict></dict>", .dictionary([:])), ("<array/>", .array([])), ("<data/>", .data([])),
            ("<true/>", .bool(true)), ("<false></false>", .bool(false)), ("<true ></true >", .bool(true)),
            ("<string> a  b </string>", .string(" a  b ")), ("<string>a\r\nb</string>", .string("a\r\nb")),
            ("<string>&lt;&gt;&amp;&quot;&apos;</string>", .string("<>&\"'")),
            ("<string>&#233;&#xE9;&#x1F600;</string>", .string("éé😀")),
            ("<string>a<![CDATA[<b>&amp;]]>c</string>", .string("a<b>&amp;c")),
            ("<string>a<!-- b -->c</string>", .string("ac")), ("<string>a]]b</string>", .string("a]]b")),
            ("<integer>+5</integer>", .integer(5)), ("<integer> 5\n</integer>", .integer(5)),
            ("<integer>0x1F</integer>", .integer(31)), ("<integer>-0X1f</integer>", .integer(-31)),
            ("<integer>-9223372036854775808</integer>", .integer(.min)),
            ("<integer>9223372036854775808</integer>", .unsigned(1 << 63)), ("<integer>007</integer>", .integer(7)),
            ("<real>1</real>", .real(1)), ("<real>-1.5E3</real>", .real(-1500)), ("<real> .5 </real>", .real(0.5)),
            ("<real>inf</real>", .real(.infinity)), ("<real>-Infinity</real>", .real(-.infinity)),
            ("<date>2001-01-01T00:00:01Z</date>", .date(Samples.date(1))),
            ("<date>2000-02-29T12:00:00Z</date>", .date(Samples.date(-26_481_600))),
            ("<date>0000-01-01T00:00:00Z</date>", .date(Samples.date(-63_145_526_400))),
            ("<date>9999-12-31T23:59:59Z</date>", .date(Samples.date(252_423_993_599))),
            ("<data>\n\tQU\n\tI=\n</data>", .data([0x41, 0x42])), ("<data>QQ==</data>", .data([0x41])),
            ("<!-- a --><?b c?><array><!-- d --><true/></array><!-- e -->", .array([.bool(true)])),
        ]
        for (body, value) in cases { #expect(try read(body) == value, "\(body)") }
    }

    @Test func listsThatFoundationReadsAreReadTheSame() throws {
        for body in [
            "<string>a\r\nb\rc</string>", "<string>a]]&gt;b</string>", "<integer>0X1f</integer>", "<real>1e400</real>",
            "<date>1970-01-01T00:00:00Z</date>", "<data>\n QUJD\n RA==\n</data>",
            "<string>&#xe9;<![CDATA[<>]]></string>",
        ] {
            #expect(try FoundationOracle.reads(document(body), as: read(body)), "\(body)")
        }
    }

    @Test(arguments: [
        "<plist><true/></plist>", "<plist version='1.0'><true/></plist>", "\u{FEFF}<plist><true/></plist>",
        " \n<?xml version=\"1.0\"?><plist><true/></plist>", "<!-- x --><plist><true/></plist> <!-- y -->\n",
        "<?xml version='1.0' encoding='utf-8' standalone='yes'?><plist><true/></plist>",
        "<!DOCTYPE plist PUBLIC \"-//Apple Computer//DTD PLIST 1.0//EN\" \"x\"><plist><true/></plist>",
    ]) func everyWayToBeginReads(_ text: String) throws {
        let list = try PropertyList.parse(Array(text.utf8))
        #expect(list.value == .bool(true) && list.format == .xml)
    }

    @Test func utf16ReadsWithItsMark() throws {
        let text = "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><string>é😀</string></plist>"
        for isBig in [true, false] {
            let units = [0xFEFF] + Array(text.utf16)
            let bytes = units.flatMap {
                isBig ? [UInt8($0 >> 8), UInt8($0 & 255)] : [UInt8($0 & 255), UInt8($0 >> 8)]
            }
            #expect(try read(bytes) == .string("é😀"))
            #expect(isMalformed(bytes + [0]))
            #expect(isMalformed(Array(bytes.prefix(bytes.count - 2))))
        }
    }

    // MARK: Refusals

    @Test(arguments: [
        "<string>", "<string>a", "<string>a</key>", "<dict>", "<dict><key>a</key></dict>", "<dict><true/></dict>",
        "<dict><key>a</key><key>b</key></dict>", "<key>a</key>", "<array><key>a</key></array>", "<array></dict>",
        "<dict></array>", "</dict>", "", "<true/><true/>", "x<true/>", "<true/>x", "<array>x</array>", "<true>x</true>",
        "<html/>", "<String>a</String>", "<string a=\"b\">c</string>", "<string", "<string>a</string", "<plist/>",
        "<plist><true/></plist>", "<array><string>a</array>", "<string><b/></string>",
        "<string>a<string>b</string></string>",
        "<string>&</string>", "<string>&;</string>", "<string>&#;</string>", "<string>&#x;</string>",
        "<string>&#0;</string>", "<string>&#1;</string>", "<string>&#xD800;</string>", "<string>&#x110000;</string>",
        "<string>&#+65;</string>", "<string>&#xFFFE;</string>", "<string>&amp</string>", "<string>&#X41;</string>",
        "<string>a\u{1}</string>", "<string>\u{FFFF}</string>", "<string><![CDATA[a</string>", "<!-- a",
        "<string><!-- a</string>",
        "<integer/>", "<integer></integer>", "<integer>1.5</integer>", "<integer>x</integer>", "<integer>0x</integer>",
        "<integer>--1</integer>", "<integer>1 2</integer>", "<real/>", "<real>0x10</real>", "<real>1,5</real>",
        "<real>x</real>",
        "<real>nan(1)</real>", "<date/>", "<date>2001-01-01</date>", "<date>2001-13-01T00:00:00Z</date>",
        "<date>2001-02-29T00:00:00Z</date>", "<date>2001-01-01T24:00:00Z</date>", "<date>2001-01-01T00:00:60Z</date>",
        "<date>-001-01-01T00:00:00Z</date>", "<date>2001-01-01T00:00:00</date>", "<data>Q</data>", "<data>QUI</data>",
        "<data>QUI=QUI=</data>", "<data>=</data>", "<data>Q===</data>", "<data>QUI*</data>", "<data>QU=I</data>",
        "<dict><key>a</key><true/><key>a</key><true/></dict>",
        "<dict><key>\u{E9}</key><true/><key>e\u{301}</key><true/></dict>",
    ]) func anInvalidPropertyListIsRefused(_ body: String) {
        #expect(isMalformed(document(body)), "\(String(describing: fault(document(body))))")
    }

    @Test(arguments: [
        "<?xml version=\"1.0\"?><!DOCTYPE plist [<!ENTITY a \"b\">]><plist><string>&a;</string></plist>",
        "<!DOCTYPE plist SYSTEM \"file:///etc/passwd\"><plist><true/></plist>",
        "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"x\" [<!ENTITY a SYSTEM \"/etc/passwd\">]><plist><true/></plist>",
        "<!DOCTYPE html><plist><true/></plist>", "<!DOCTYPE plist><plist><true/></plist>",
        "<?xml version=\"1.0\" encoding=\"ISO-8859-1\"?><plist><true/></plist>",
        "<?xml version=\"1.0\" encoding=\"UTF-16\"?><plist><true/></plist>", "<plist version=\"2.0\"><true/></plist>",
        "<plist><string>&b;</string></plist>", "<plist><integer>18446744073709551616</integer></plist>",
        "<plist><integer>-9223372036854775809</integer></plist>",
    ]) func otherXMLFeaturesAreRefused(_ text: String) {
        #expect(isUnsupported(Array(text.utf8)), "\(String(describing: fault(Array(text.utf8))))")
    }

    @Test(arguments: [
        "<?xml version=\"1.0\"?>", "<?xml version=\"1.0\"", "<?xml version?><plist/>", "<plist", "<plist>",
        "<plist><true/>",
        "<plist><true/></plist>x", "<plist><true/></plist><plist/>", "<plist/>", "<plist x=\"1\"><true/></plist>",
        "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN><plist/>", "<!-- ", "<plist><true/></plist>\0",
    ]) func anotherBeginningOrEndIsRefused(_ text: String) {
        #expect(isMalformed(Array(text.utf8)), "\(String(describing: fault(Array(text.utf8))))")
    }

    @Test func bytesThatAreNotUTF8AreRefused() {
        for bytes: [UInt8] in [[0xFF], [0xC0, 0x80], [0xED, 0xA0, 0x80], [0xE2, 0x82]] {
            #expect(isMalformed(Array("<plist><string>".utf8) + bytes + Array("</string></plist>".utf8)))
        }
    }

    @Test func everyCutIsRefused() throws {
        let bytes = document("<dict><key>a</key><array><integer>1</integer><data>QQ==</data></array></dict>")
        // Without the line feed it is still whole.
        for count in 0..<bytes.count - 1 { #expect(fault(Array(bytes.prefix(count))) != nil, "\(count)") }
    }

    @Test func limitsHold() {
        func row(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
        func nested(_ levels: Int) -> [UInt8] { document(row("<array>", levels) + row("</array>", levels)) }
        #expect(fault(nested(64)) == nil)
        #expect(fault(nested(65)) == .tooDeep(limit: 64))
        #expect(fault(nested(100_000)) == .tooDeep(limit: 64))
        let limits = StructureLimits(depth: 8, values: 10, size: 100)
        #expect(fault(document("<array>" + row("<true/>", 9) + "</array>"), limits: limits) == nil)
        #expect(
            fault(document("<array>" + row("<true/>", 10) + "</array>"), limits: limits) == .tooManyValues(limit: 10))
        #expect(fault(document("<string>\(row("é", 50))</string>"), limits: limits) == nil)
        #expect(fault(document("<string>\(row("é", 51))</string>"), limits: limits) == .tooMuchContent(limit: 100))
        #expect(fault(document("<data>\(row("QUJD", 34))</data>"), limits: limits) == .tooMuchContent(limit: 100))
        #expect(fault(document("<dict><key>\(row("x", 4097))</key><true/></dict>")) == .longKey)
        #expect(fault(document("<string>a\(row("\u{301}", 31))</string>")) == .stackedMarks)
    }

    @Test func aFaultShowsItsLine() {
        let bytes = Array("<plist>\n<dict>\n<key>a</key>\n</dict>\n</plist>".utf8)
        #expect(fault(bytes) == .malformed("a key without a value, line 4"))
    }
}
