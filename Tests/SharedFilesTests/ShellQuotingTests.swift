import SharedFiles
import Testing

@Suite struct ShellQuotingTests {
    @Test(arguments: [
        ("/srv/a", "/srv/a"), ("a b", "'a b'"), ("", "''"), ("it's", #"'it'\''s'"#), ("$HOME", "'$HOME'"),
        ("--x; rm", "'--x; rm'"), ("ü", "'ü'"),
    ])
    func aPathIsOneWordOfTheShell(_ path: String, _ word: String) {
        #expect(path.shellQuoted == word)
    }

    @Test func controlCharactersOfAPlantedNameDoNotReachTheTerminal() {
        let text = FileError(.notFound, operation: "read", path: "a\u{1B}[2J\u{202E}\nb").description
        #expect(!text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x202E })
    }

    @Test(arguments: [
        0x1B, 0x7F, 0x85, 0x61C, 0x200B, 0x200D, 0x2028, 0x2060, 0x2064, 0x2069, 0xFEFF, 0xE0001, 0xE007F,
    ])
    func invisibleCharactersAreEscaped(_ value: UInt32) throws {
        let text = "a" + String(try #require(Unicode.Scalar(value))) + "b"
        #expect(text.printable == "a\\u{\(String(value, radix: 16))}b")
    }

    @Test(arguments: ["grün", "名前", "e\u{301}", "😀", "a b"])
    func whatIsSeenStays(_ text: String) {
        #expect(text.printable.unicodeScalars.elementsEqual(text.unicodeScalars))
    }
}
