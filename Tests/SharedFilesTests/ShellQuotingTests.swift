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
}
