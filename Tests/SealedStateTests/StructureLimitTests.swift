import CryptoPrimitives
import Testing

@testable import SealedState

@Suite struct StructureLimitTests {
    private func exceeds(_ limit: Int, _ json: String) -> Bool {
        Array(json.utf8).withRawBytes { StructureLimit.exceeds(limit, in: $0) }
    }

    private func nested(_ depth: Int, _ open: String = "[", _ close: String = "]") -> String {
        String(repeating: open, count: depth) + String(repeating: close, count: depth)
    }

    @Test func theLimitItselfIsAllowed() {
        #expect(!exceeds(64, nested(64)))
        #expect(exceeds(64, nested(65)))
        #expect(!exceeds(64, nested(64, "{", "}")))
        #expect(exceeds(64, nested(65, "{", "}")))
        #expect(exceeds(0, "[]"))
        #expect(!exceeds(0, "7"))
        #expect(!exceeds(0, ""))
    }

    @Test func siblingsDoNotCount() {
        #expect(!exceeds(2, "[" + String(repeating: "[],{},", count: 1000) + "1]"))
    }

    static let strings = [
        #"["[[[[[["]"#, #"["\"[[[[[["]"#, #"["\\\"[[[["]"#, #"{"[[[[":"{{{{"}"#, #"["\u005b\u005b[[["]"#, #"["é[[[["]"#,
        #"["嬢[[[["]"#,
    ]

    @Test(arguments: strings) func bracketsInStringsDoNotCount(_ json: String) {
        #expect(!exceeds(1, json))
    }

    @Test(arguments: [#"["\\",[[]]]"#, #"["",[[]]]"#, #"["\"",[[]]]"#, #"{"a\\":[[]]}"#])
    func anEscapeDoesNotHideWhatFollowsTheString(_ json: String) {
        #expect(exceeds(2, json))
        #expect(!exceeds(3, json))
    }

    @Test func unfinishedTextCounts() {
        #expect(exceeds(64, String(repeating: "[", count: 100_000)))
        #expect(!exceeds(64, #"""# + String(repeating: "[", count: 1000)))
    }
}
