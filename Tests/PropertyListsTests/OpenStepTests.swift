import Foundation
import TestSupport
import Testing

@testable import PropertyLists

@Suite struct OpenStepTests {
    private func read(_ text: String) throws -> PropertyListValue { try PropertyList.parse(Array(text.utf8)).value }

    private func fault(_ bytes: [UInt8], limits: StructureLimits = .propertyList) -> StructureFault? {
        do throws(StructureFault) { _ = try PropertyList.parse(bytes, limits: limits) } catch { return error }
        return nil
    }

    private func isMalformed(_ text: String) -> Bool {
        if case .malformed = fault(Array(text.utf8)) { true } else { false }
    }

    private static let project = """
        // !$*UTF8*$!
        {
        \tarchiveVersion = 1;
        \tclasses = {
        \t};
        \tobjects = {

        /* Begin PBXBuildFile section */
        \t\tA1B2C3D4E5F60718293A4B5C /* App.swift in Sources */ = {isa = PBXBuildFile; fileRef = 00 /* App.swift */; };
        /* End PBXBuildFile section */
        \t\tF0 /* Debug */ = {
        \t\t\tbuildSettings = {
        \t\t\t\tCODE_SIGN_ENTITLEMENTS = "My App/My App.entitlements";
        \t\t\t\t"CODE_SIGN_IDENTITY[sdk=iphoneos*]" = "iPhone Developer";
        \t\t\t\tLD_RUNPATH_SEARCH_PATHS = (
        \t\t\t\t\t"$(inherited)",
        \t\t\t\t\t"@executable_path/Frameworks",
        \t\t\t\t);
        \t\t\t\tPRODUCT_BUNDLE_IDENTIFIER = com.example.app;
        \t\t\t\tshellScript = "echo \\"hi\\"\\nexit 0\\n";
        \t\t\t};
        \t\t};
        \t};
        \trootObject = 01 /* Project object */;
        }

        """

    @Test func aProjectReads() throws {
        let list = try PropertyList.parse(Array(Self.project.utf8))
        #expect(list.format == .openStep)
        let settings = list.value["objects"]?["F0"]?["buildSettings"]
        #expect(settings?["CODE_SIGN_ENTITLEMENTS"]?.string == "My App/My App.entitlements")
        #expect(settings?["CODE_SIGN_IDENTITY[sdk=iphoneos*]"]?.string == "iPhone Developer")
        #expect(settings?["LD_RUNPATH_SEARCH_PATHS"]?.strings == ["$(inherited)", "@executable_path/Frameworks"])
        #expect(settings?["PRODUCT_BUNDLE_IDENTIFIER"]?.string == "com.example.app")
        #expect(settings?["shellScript"]?.string == "echo \"hi\"\nexit 0\n")
        #expect(list.value["objects"]?["A1B2C3D4E5F60718293A4B5C"]?["fileRef"]?.string == "00")
        #expect(try FoundationOracle.reads(Array(Self.project.utf8), as: list.value))
    }

    @Test func everyWayToWriteAValueReads() throws {
        let cases: [(String, PropertyListValue)] = [
            ("{}", .dictionary([:])), ("()", .array([])), ("< >", .data([])), ("\"\"", .string("")),
            ("(a, b,)", .array([.string("a"), .string("b")])), ("( a , b )", .array([.string("a"), .string("b")])),
            ("{a=b;}", .dictionary(["a": .string("b")])), ("{a;}", .dictionary(["a": .string("a")])),
            ("{a=<0a 0B\nff>;}", .dictionary(["a": .data([10, 11, 255])])), ("word", .string("word")),
            ("a = b;", .dictionary(["a": .string("b")])),
            ("/* x */ \"a\" = \"b\"; c;\n", .dictionary(["a": .string("b"), "c": .string("c")])),
            ("{a='x\"y';}", .dictionary(["a": .string("x\"y")])), ("{a=-1.5;}", .dictionary(["a": .string("-1.5")])),
            ("{a=http://x/y;}", .dictionary(["a": .string("http://x/y")])),
            ("{a=b/* x */;}", .dictionary(["a": .string("b")])),
            ("{a=\"x\ny\";} // end", .dictionary(["a": .string("x\ny")])),
            ("({a=(b);})", .array([.dictionary(["a": .array([.string("b")])])])),
            ("\u{FEFF}{\"é\"=\"嬢\";}", .dictionary(["é": .string("嬢")])),
            (#""\a\b\f\n\r\t\v\"\'\\""#, .string("\u{7}\u{8}\u{C}\n\r\t\u{B}\"'\\")),
            (#""\101\7\12x""#, .string("A\u{7}\nx")),
            (#""\200\377""#.replacing("377", with: "375"), .string("\u{A0}\u{FF}")),
            (#""\U00e9\U41 \Ud83d\Ude00""#, .string("éA 😀")),
            (#""\%\q\é\$""#, .string("%qé$")), ("\"a\\\nb\"", .string("a\nb")),
        ]
        for (text, value) in cases { #expect(try read(text) == value, "\(text)") }
    }

    @Test(arguments: [
        "{}", "(a, b,)", "{a;}", "a = b;", "\"a\" = \"b\"; c;", "{a='x\"y';}", "{a=-1;}", "{a=\"x\ny\";} // end",
        #"{a="\a\b\f\n\r\t\v\"\'\\";}"#,
        #"{a="\101\7\12x\200\260\375";}"#, #"{a="\U00e9\U41 \%\q\$";}"#, "{a=(b,{c=d;});}", "{a=<0a 0B ff>;}",
    ]) func listsThatFoundationReadsAreReadTheSame(_ text: String) throws {
        #expect(try FoundationOracle.reads(Array(text.utf8), as: read(text)))
    }

    @Test(arguments: [
        "{", "(", "{a", "{a=", "{a=b", "{a=b}", "{a=b;", "{a=b;}}", "{a=b;};", "{a=b;} x", "(a b)", "(a,,b)", "(,)",
        "(a", "(a,", "a b", "a = b",
        "a = b; c", "a = b; }", "{=b;}", "{a=;}", "{(a)=b;}", "{<0a>=b;}", "\"a", "'a", "\"a\\", "/* a", "// only",
        "/* a */", "<0a0>", "<0g>", "<0a",
        #""\400""#, #""\376""#, #""\U""#, #""\Ug""#, #""\Ud83d""#, #""\Ude00""#, #""\Ud83dx""#, #""\Ud83d\U0041""#,
        "{a=@x;}", "{a=a+b;}", "{a=é;}",
        "{a=b; a=c;}", "a = b; a = c;", "{\"\u{E9}\"=a; \"e\u{301}\"=b;}", "(a;)", "{a=b,}", "[a]", "{a=\"\u{1}\";}",
    ]) func anInvalidPropertyListIsRefused(_ text: String) {
        #expect(isMalformed(text), "\(String(describing: fault(Array(text.utf8))))")
    }

    @Test func valuesOfGNUstepAreRefused() {
        #expect(fault(Array("{a=<*I5>;}".utf8)) == .unsupported("a value of GNUstep, line 1"))
    }

    @Test(arguments: ["", " \n", "\0", "bplist", "\u{7F}", "#!/bin/sh", "é", "=a;", ";", ")", "<html>", "<?php"])
    func whatBeginsLikeNoneIsRefused(_ text: String) {
        #expect(fault(Array(text.utf8)) != nil)
    }

    @Test func utf16ReadsWithItsMark() throws {
        let bytes = ([0xFEFF] + Array("\"é\" = \"😀\";".utf16)).flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        #expect(try PropertyList.parse(bytes).value == .dictionary(["é": .string("😀")]))
    }

    @Test func limitsHold() {
        func row(_ text: String, _ count: Int) -> String { String(repeating: text, count: count) }
        #expect(fault(Array((row("(", 64) + row(")", 64)).utf8)) == nil)
        #expect(fault(Array(row("(", 65).utf8)) == .tooDeep(limit: 64))
        #expect(fault(Array(row("{a=", 100_000).utf8)) == .tooDeep(limit: 64))
        let limits = StructureLimits(depth: 8, values: 10, size: 100)
        #expect(fault(Array("(\(row("a,", 9)))".utf8), limits: limits) == nil)
        #expect(fault(Array("(\(row("a,", 10)))".utf8), limits: limits) == .tooManyValues(limit: 10))
        #expect(fault(Array("\"\(row("x", 101))\"".utf8), limits: limits) == .tooMuchContent(limit: 100))
        #expect(fault(Array("{\(row("x", 4097))=a;}".utf8)) == .longKey)
        #expect(fault(Array("{a=\"e\(row("\\U0301", 31))\";}".utf8)) == .stackedMarks)
    }

    @Test func aFaultShowsItsLine() {
        #expect(fault(Array("{\n  a = b;\n  c = d\n}\n".utf8)) == .malformed("a value without a semicolon, line 4"))
    }

    @Test func itIsOnlyRead() {
        #expect(throws: StructureFault.self) { try PropertyList.bytes(of: .string("a"), as: .openStep) }
    }

    @Test func theLastOfARepeatedKeyCountsWhereThatIsAsked() throws {
        let text = Array("{a = 1; b = {c = 1;}; a = 2; b = {d = 2;};}".utf8)
        #expect(fault(text) == .malformed("a key occurs twice, line 1"))
        let list = try PropertyList.parse(text, repeatedKeys: .lastCounts).value
        #expect(list["a"]?.string == "2" && list["b"]?["c"] == nil && list["b"]?["d"]?.string == "2")
        #expect(try FoundationOracle.reads(text, as: list))
    }

    @Test func aRepeatedKeyOfXMLIsAlwaysRefused() {
        let text = Array("<plist><dict><key>a</key><true/><key>a</key><true/></dict></plist>".utf8)
        #expect(throws: StructureFault.self) { try PropertyList.parse(text, repeatedKeys: .lastCounts) }
    }
}
