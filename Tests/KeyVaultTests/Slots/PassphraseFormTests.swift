import CryptoPrimitives
import Glibc
import SharedFiles
import TestSupport
import Testing

@testable import KeyVault

@Suite struct PassphraseFormTests {
    private func passphrase(_ bytes: [UInt8]) throws(VaultError) -> [UInt8] {
        let passphrase = try Passphrase(SecretBytes(count: bytes.count) { $0.copyBytes(from: bytes) })
        return passphrase.bytes.withUnsafeBytes { Array($0) }
    }

    private func refusal(_ bytes: [UInt8]) -> VaultError.Code? {
        code { () throws(VaultError) in _ = try passphrase(bytes) }
    }

    @Test(
        arguments: [
            ("correct horse", "correct horse"), ("~ !\"", "~ !\""), (" a ", " a "),
            ("e\u{301}", "\u{E9}"), ("\u{E9}", "\u{E9}"), ("\u{212B}", "\u{C5}"),
            ("\u{1100}\u{1161}\u{11A8}", "\u{AC01}"),
            ("a\u{327}\u{301}", "\u{E1}\u{327}"), ("a\u{301}\u{327}", "\u{E1}\u{327}"), ("\u{958}", "\u{915}\u{93C}"),
            ("a\u{A0}b", "a b"), ("a\u{3000}b", "a b"), ("a\u{2003}\u{202F}b", "a  b"), ("\u{2000}", " "),
            ("\u{FB01}", "\u{FB01}"), ("\u{1F511}\u{FE0F}", "\u{1F511}\u{FE0F}"), ("\u{200D}", "\u{200D}"),
        ])
    func everySpellingHasOneForm(text: String, form: String) throws {
        // The comparison uses bytes, because strings compare equal in every form.
        #expect(try passphrase(Array(text.utf8)) == Array(form.utf8))
    }

    @Test func theFormOfAFormIsItself() throws {
        for text in ["e\u{301}\u{3000}x", "\u{1100}\u{1161}", "a\u{301}\u{327}\u{958}"] {
            let once = try passphrase(Array(text.utf8))
            #expect(try passphrase(once) == once)
        }
    }

    @Test(
        arguments: [
            "a\nb", "\n", "a\tb", "\u{0}", "a\u{7F}", "\u{85}", "\u{9F}é", "é\r",
            // The scalars are unassigned, a noncharacter, and code points of Unicode 15.1 and 16.
            "\u{378}", "\u{FFFF}", "\u{2FFC}", "\u{2EBF0}", "\u{1FAE9}",
        ])
    func controlsAndUnassignedCodePointsAreRefused(text: String) {
        #expect(refusal(Array(text.utf8)) == .invalidArgument)
    }

    @Test(
        arguments: [
            [0xFF], [0xC3], [0x61, 0x80], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xE2, 0x82],
        ] as [[UInt8]])
    func bytesOutsideUTF8AreRefused(bytes: [UInt8]) {
        #expect(refusal(bytes) == .invalidArgument)
    }

    @Test func theSizeCountsInTheNormalForm() throws {
        #expect(refusal([]) == .invalidArgument)
        #expect(refusal([UInt8](repeating: 0x61, count: 1025)) == .invalidArgument)
        #expect(try passphrase([UInt8](repeating: 0x61, count: 1024)).count == 1024)
        // U+0958 takes 3 bytes, and 6 in its normal form.
        #expect(refusal(Array(String(repeating: "\u{958}", count: 171).utf8)) == .invalidArgument)
        #expect(try passphrase(Array(String(repeating: "\u{958}", count: 170).utf8)).count == 1020)
    }

    @Test(
        arguments: [
            ("x", "x"), ("x\n", "x"), ("x\r\n", "x"), (" x \n", " x "),
            ("x\r", nil), ("x\n\n", nil), ("x\r\n\r\n", nil), ("x\ny", nil), ("\n", nil), ("", nil), ("x\n\r", nil),
        ])
    func aFileLosesOneFinalLineEnd(text: String, form: String?) throws {
        let directory = try TemporaryDirectory()
        try SystemFile.write(directory.path("pass"), Array(text.utf8))
        guard let form else {
            let refused = code { () throws(VaultError) in _ = try Passphrase(contentsOf: directory.path("pass")) }
            #expect(refused == .invalidArgument)
            return
        }
        let read = try Passphrase(contentsOf: directory.path("pass"))
        #expect(read.bytes.withUnsafeBytes { Array($0) } == Array(form.utf8))
    }
}

@Suite struct KeyFilePlaceTests {
    private let text = Array("sealed-key-1 \(String(repeating: "ab", count: 32))\n".utf8)

    /// The usual place belongs to the library, so a link or a pipe there comes from another user.
    @Test func onlyARegularFileIsReadAtTheUsualPlace() throws {
        let directory = try TemporaryDirectory()
        try SystemFile.write(directory.path("key"), text)
        #expect(chmod(directory.path("key"), 0o600) == 0)
        #expect(symlink("key", directory.path("link")) == 0)
        #expect(mkfifo(directory.path("pipe"), 0o600) == 0)
        _ = try KeyFile.read(path: directory.path("key"), at: .usual)
        _ = try KeyFile.read(path: directory.path("link"), at: .stated)
        for name in ["link", "pipe"] {
            let refused = code { () throws(VaultError) in
                _ = try KeyFile.read(path: directory.path(name), at: .usual)
            }
            #expect(refused == .unsafeFile, "\(name)")
        }
    }

    @Test(.enabled(if: geteuid() == 0, "root"))
    func anotherUsersFileIsNotReadAtTheUsualPlace() throws {
        let directory = try TemporaryDirectory()
        try SystemFile.write(directory.path("key"), text)
        #expect(chmod(directory.path("key"), 0o600) == 0 && chown(directory.path("key"), 4701, 4701) == 0)
        let refused = code { () throws(VaultError) in
            _ = try KeyFile.read(path: directory.path("key"), at: .usual)
        }
        #expect(refused == .unsafeFile)
    }
}
