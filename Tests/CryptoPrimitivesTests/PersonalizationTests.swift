import CryptoPrimitives
import TestSupport
import Testing

@Suite struct PersonalizationTests {
    /// Two uses of one key with the same string would be interchangeable: a value of the first would be accepted for
    /// the second.
    @Test func everyStringInTheSourcesIsUsedOnceAndHas16Bytes() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        var strings: [String] = []
        try forEachSwiftFile("\(root)/Sources") { strings += literals(in: $0) }
        #expect(strings.count >= 5)
        #expect(strings.allSatisfy { $0.utf8.count == 16 && $0.utf8.allSatisfy { (0x21...0x7e).contains($0) } })
        #expect(Set(strings).count == strings.count, "\(strings.sorted())")
    }

    /// The document is the register of the strings. A missing string may be chosen twice.
    @Test func everyStringInTheSourcesIsInTheDocument() throws {
        let root = #filePath.split(separator: "/").dropLast(3).map { "/" + $0 }.joined()
        let document = String(decoding: try SystemFile.read("\(root)/docs/spec/personalization.md"), as: UTF8.self)
        var strings: Set<String> = []
        try forEachSwiftFile("\(root)/Sources") { strings.formUnion(literals(in: $0)) }
        #expect(strings.filter { !document.contains("`\($0)`") } == [])
    }

    @Test func equalityIsOfTheText() {
        let (one, same) = (Personalization("SealedState.tst1"), Personalization("SealedState.tst1"))
        #expect(one == same)
        #expect(one != Personalization("SealedState.tst2"))
    }

    @Test func anotherLengthEndsTheProcess() async {
        await #expect(processExitsWith: .failure) { _ = Personalization("SealedState.long1") }
        await #expect(processExitsWith: .failure) { _ = Personalization("short") }
    }

    private func literals(in text: String) -> [String] {
        text.split(separator: "Personalization(\"", omittingEmptySubsequences: false).dropFirst()
            .map { String($0.prefix { $0 != "\"" }) }
    }

    private func forEachSwiftFile(_ path: String, _ body: (String) -> Void) throws {
        for name in try SystemFile.names(path) {
            let child = "\(path)/\(name)"
            if name.hasSuffix(".swift") {
                body(String(decoding: try SystemFile.read(child), as: UTF8.self))
            } else if !name.contains(".") {
                try forEachSwiftFile(child, body)
            }
        }
    }
}
