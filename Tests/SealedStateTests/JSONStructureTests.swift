import CryptoPrimitives
import PropertyLists
import Testing

@testable import SealedState

@Suite struct JSONStructureTests {
    private func fault(
        _ json: String, depth: Int = 64, values: Int = 100_000
    ) -> StructureFault? {
        let limits = StructureLimits(depth: depth, values: values, size: 1 << 20)
        return Array(json.utf8).withRawBytes { bytes in
            do throws(StructureFault) { try JSONStructure.check(bytes, against: limits) } catch { return error }
            return nil
        }
    }

    private func nested(_ depth: Int, _ open: String = "[", _ close: String = "]") -> String {
        String(repeating: open, count: depth) + String(repeating: close, count: depth)
    }

    @Test func theLimitOnDepthItselfIsAllowed() {
        #expect(fault(nested(64)) == nil)
        #expect(fault(nested(65)) == .tooDeep(limit: 64))
        #expect(fault(nested(64, "{", "}")) == nil)
        #expect(fault(nested(65, "{", "}")) == .tooDeep(limit: 64))
        #expect(fault("[]", depth: 0) == .tooDeep(limit: 0))
        #expect(fault("7", depth: 0) == nil)
        #expect(fault("", depth: 0) == nil)
    }

    @Test func noLimitGoesDeeperThanTheDecoder() {
        #expect(fault(nested(512), depth: .max) == nil)
        #expect(fault(nested(513), depth: .max) == .tooDeep(limit: 512))
    }

    @Test func siblingsAreNotDepth() {
        #expect(fault("[" + String(repeating: "[],{},", count: 1000) + "1]", depth: 2) == nil)
    }

    static let strings = [
        #"["[[[[[["]"#, #"["\"[[[[[["]"#, #"["\\\"[[[["]"#, #"{"[[[[":"{{{{"}"#, #"["\u005b\u005b[[["]"#, #"["é[[[["]"#,
        #"["嬢[[[["]"#, #"["😀[[[["]"#, #"["\ud83d\ude00[[["]"#,
    ]

    @Test(arguments: strings) func bracketsInStringsAreNotDepth(_ json: String) {
        #expect(fault(json, depth: 1) == nil)
    }

    @Test(arguments: [#"["\\",[[]]]"#, #"["",[[]]]"#, #"["\"",[[]]]"#, #"{"a\\":[[]]}"#])
    func anEscapeDoesNotHideWhatFollowsTheString(_ json: String) {
        #expect(fault(json, depth: 2) == .tooDeep(limit: 2))
        #expect(fault(json, depth: 3) == nil)
    }

    @Test func unfinishedTextCounts() {
        #expect(fault(String(repeating: "[", count: 100_000)) == .tooDeep(limit: 64))
        #expect(fault(#"""# + String(repeating: "[", count: 1000)) == nil)
        for end in [#"""#, #""\"#, #""\u"#, #""\u12"#, #""\ud83d\u"#, "\"\u{301}"] { #expect(fault(end) == nil) }
        #expect(Array("\"".utf8 + [0xF0]).withRawBytes { (try? JSONStructure.check($0, against: .any)) != nil })
    }

    static let counted: [(String, Int)] = [
        ("7", 1), ("[]", 1), ("[1,2,3]", 4), ("[ 1 , 2 ]", 3), (#"{"a":1,"b":[true,null]}"#, 7), (#"["a","a"]"#, 3),
        ("[-1.5e3]", 2), (#"{"a":{"b":{}}}"#, 5), ("[1\n,2\t,3\r]", 4), (#"[["","\""],[]]"#, 5),
    ]

    @Test(arguments: counted) func valuesAndKeysAreCounted(_ counted: (json: String, values: Int)) {
        #expect(fault(counted.json, values: counted.values) == nil)
        #expect(
            fault(counted.json, values: counted.values - 1)
                == (counted.values == 1 ? nil : .tooManyValues(limit: counted.values - 1)))
    }

    // A key of 1 MiB of them took four minutes.
    @Test(arguments: ["\u{301}", #"\u0301"#, "\u{1D165}", #"\ud834\udd65"#, "\u{F73}", #"\u0316"#, "\u{5B0}"])
    func marksInARowAreLimited(_ mark: String) {
        let row = String(repeating: mark, count: 30)
        #expect(fault(#"{"a\#(row)":1}"#) == nil)
        #expect(fault(#"{"a\#(row)\#(mark)":1}"#) == .stackedMarks)
        #expect(fault(#"["\#(row)\#(mark)"]"#) == .stackedMarks)
        #expect(fault(#"["\#(row)a\#(row)","\#(row)"]"#) == nil)
        #expect(fault(#"["\#(row)\n\#(row)\u0041\#(row)嬢\#(row)"]"#) == nil)
    }

    // A key of 1 MiB took half a second to decode.
    @Test(arguments: [
        ("x", 1), ("é", 2), ("嬢", 3), ("😀", 4), (#"\u0041"#, 1), (#"\u00e9"#, 2), (#"\ud83d\ude00"#, 4), (#"\n"#, 1),
    ])
    func keysAreLimitedAndOtherTextsAreNot(_ character: (text: String, size: Int)) {
        let most = String(repeating: character.text, count: 4096 / character.size)
        let rest = String(repeating: "x", count: 4096 % character.size)
        #expect(fault(#"{"\#(most)\#(rest)":1}"#) == nil)
        #expect(fault(#"{"\#(most)\#(rest)x" : 1}"#) == .longKey)
        #expect(fault(#"{"a":[{"\#(most)\#(character.text)":1}]}"#) == .longKey)
        #expect(fault(#"{"a":"\#(most)\#(most)","b":["\#(most)\#(most)"]}"#) == nil)
    }

    @Test func textsOfManyLanguagesPass() {
        for text in ["Tiếng Việt", "हिन्दी", "ภาษาไทย", "العَرَبِيَّة", "עִבְרִית", "한국어", "தமிழ்", "བོད་སྐད", "👩‍👩‍👧‍👦🇩🇪", "Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤̞͉͚̯̞̠͍A"] {
            #expect(fault("[\"\(text)\"]") == nil, "\(text)")
        }
    }
}

extension StructureLimits {
    static let any = StructureLimits(depth: .max, values: .max, size: .max)
}
