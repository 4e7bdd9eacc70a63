import Testing

@testable import SecretDetection

/// Tests of the measures by which values and names are judged.
@Suite struct JudgingTests {
    private static func with<Result>(_ text: String, _ body: (SearchText) -> Result) -> Result {
        Array(text.utf8).withUnsafeBytes { body(SearchText($0)) }
    }

    @Test(arguments: 0...12) func aRunIsFoundWhereverItBegins(_ place: Int) {
        let before = String(repeating: "#-", count: 6).prefix(place)
        for after in ["", "#", "-#-#-#-#"] {
            let found = (4...7).map { length in
                Self.with("\(before)56789a\(after)") { Placeholder.hasSequence(of: length, in: $0) }
            }
            #expect(found == [true, true, true, false])
            let rows = (4...7).map { length in
                Self.with("\(before)ssssss\(after)") { Placeholder.hasRow(of: length, in: $0) }
            }
            #expect(rows == [true, true, true, false])
        }
    }

    @Test(
        arguments: [
            ("", 0), ("a", 0), ("aaaa", 0), ("abab", 1), ("0f1e2d3c", 3), ("abcabcabcabc", 1.5849625),
            ("aaab", 0.8112781),
        ] as [(String, Float)]) func entropyIsThatOfTheFrequencies(_ text: String, _ bits: Float)
    {
        #expect(abs(Self.with(text, Entropy.bitsPerByte) - bits) < 1e-6)
    }

    @Test func evenTextHasWholeBitsInAnyOrder() {
        for text in ["0123456789abcdef", "ffeeddccbbaa99887766554433221100", "aabbccddeeffgghh".uppercased()] {
            let bits = Self.with(text, Entropy.bitsPerByte)
            #expect(bits == bits.rounded())
        }
    }

    @Test(arguments: [
        ("accessTokenURL2", ["access", "token", "url"]), ("HTTPSecret_key.v1", ["http", "secret", "key", "v"]),
        ("--", []), ("contraseña", ["contraseña"]),
        ("a.b.c.d.e.f.g.h.i.j.k.l.m.n", ["c", "d", "e", "f", "g", "h", "i", "j", "k", "l", "m", "n"]),
        (String(repeating: "x", count: 96) + "-key", [String(repeating: "x", count: 92), "key"]),
    ]) func aNameIsSplitIntoWords(_ name: String, _ words: [String]) {
        let split = Self.with(name) { name in
            NameWords.split(name) { words in
                (0..<words.count).map { String(decoding: words[$0].bytes, as: UTF8.self) }
            }
        }
        #expect(split == words)
    }

    @Test(arguments: ["contraseña", "contrasen\u{303}a", "dbpassword", "api_key", "session-id"])
    func aNameOfASecretIsKnown(_ name: String) { #expect(Self.with(name, SecretName.kind) != nil) }

    @Test(arguments: ["passwords_count", "has_password", "keyboard", "primary_key", "session_started", "a::token"])
    func anotherNameIsNot(_ name: String) { #expect(Self.with(name, SecretName.kind) == nil) }

    @Test(arguments: [
        ("password", true), ("getUserName", true), ("Zugangsschlüssel", true), ("oauth2_token", true),
        ("xK9qZr7Wv", false),
        ("zxqvkjwp", false), ("1234", false),
    ]) func wordsAreDistinguishedFromRandomText(_ text: String, _ isWords: Bool) {
        #expect(Self.with(text) { TextComposition($0).isWords } == isWords)
    }

    @Test func everyKindOfByteIsCounted() {
        let made = Self.with("aB1 _é\n") { TextComposition($0) }
        #expect([made.letters, made.capitals, made.digits, made.blanks, made.symbols] == [4, 1, 1, 2, 1])
    }
}
