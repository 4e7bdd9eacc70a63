import Glibc
import TestSupport
import Testing

/// Tests of `docs/sealedstate.magic`, by which file(1) identifies the project's files.
@Suite(.enabled(if: FileMagic.program != nil, "file(1) is not installed"))
struct FileMagicTests {
    @Test(arguments: [
        ("good-record-json", "SealedState sealed blob, format 1, record, sequence 7, key epoch 3"),
        ("good-record-tombstone", "SealedState sealed blob, format 1, deleted record, sequence 9, key epoch 3"),
        ("good-stream-named", "SealedState sealed blob, format 1, stream, key epoch 3"),
        ("good-vault-body", "SealedState sealed blob, format 1, vault body, key epoch 3"),
        ("r04-format-2", "SealedState sealed blob, format 2"),
    ])
    func aBlobIsNamed(vector: String, description: String) throws {
        #expect(try FileMagic.description(of: "\(BlobVector.folder)/blobs/\(vector).seal") == description)
    }

    @Test func everyGoodBlobIsNamed() throws {
        for vector in BlobVector.good {
            let path = "\(BlobVector.folder)/blobs/\(vector.name).seal"
            #expect(try FileMagic.description(of: path).hasPrefix("SealedState sealed blob, format 1, "))
        }
    }

    @Test(arguments: [
        ("vault/good-services.vault", "SealedState vault, format 2, services, period 1, generation 3"),
        ("vault/good-persons.vault.person", "SealedState vault, format 2, persons, period 1, generation 3"),
        ("backup/good-everything.backup", "SealedState backup, format 2"),
        ("keyFile/good-key.key", "SealedState key file"),
        ("roster/good-roster.roster", "SealedState roster, format 1, version 3"),
        ("secretKey/good-identity.key", "SealedState identity"),
        ("secretKey/good-writer.key", "SealedState writer key"),
        ("secretKey/good-team.key", "SealedState team key"),
        ("protectedKey/good-identity.key", "SealedState identity, protected by a passphrase"),
        ("protectedKey/good-writer.key", "SealedState writer key, protected by a passphrase"),
        ("protectedKey/good-team.key", "SealedState team key, protected by a passphrase"),
    ])
    func aFileOfEachFormatIsNamed(file: String, description: String) throws {
        #expect(try FileMagic.description(of: "\(BlobVector.folder)/\(file)") == description)
    }

    @Test(arguments: [
        ("SVLT\u{1}", "SealedState vault, format 1"), ("SVLT\u{2}", "SealedState vault, format 2"),
        ("sealed-key-1 00ff\n", "SealedState key file"),
        ("SEALED-WRITER-KEY-1QQQQQQ\n", "SealedState writer key"),
        ("# a comment\n\n# another\nSEALED-SECRET-KEY-1QQQQQQ\n", "SealedState identity"),
    ])
    func shortAndCommentedFilesAreNamed(text: String, description: String) throws {
        let folder = try TemporaryDirectory()
        try folder.file("x", text)
        #expect(try FileMagic.description(of: folder.path("x")) == description)
    }

    @Test(arguments: [
        "SEALED with a kiss", "SVLT, a text", "sealed-key-2 00", "seal",
        "A text names SEALED-WRITER-KEY-1 in a line.\n", "# A comment about\nthe mark SEALED-TEAM-KEY-1\n",
        "SEALED-SECRET-KEYS\n",
    ])
    func otherTextsAreNot(text: String) throws {
        let folder = try TemporaryDirectory()
        try folder.file("x", text)
        #expect(try !FileMagic.description(of: folder.path("x")).contains("SealedState"))
    }
}

private enum FileMagic {
    static let program: String? = ["/usr/bin/file", "/usr/local/bin/file"].first { access($0, X_OK) == 0 }

    static func description(of path: String) throws -> String {
        let magic = repositoryPath("docs/sealedstate.magic")
        let result = try ChildProcess.run(try #require(program), ["-b", "-m", magic, path])
        try #require(result.status == .exited(0), "\(result.errorText)")
        return String(result.outputText.prefix { $0 != "\n" })
    }
}
