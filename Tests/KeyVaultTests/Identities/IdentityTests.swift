import CryptoPrimitives
import Glibc
import KeyVault
import TestSupport
import Testing

@Suite struct IdentityTests {
    private let directory: TemporaryDirectory
    private var path: String { directory.path("identity") }

    init() throws { directory = try TemporaryDirectory() }

    private func identity(_ text: String) throws -> Identity {
        try Identity(text: Array(text.utf8).withRawBytes { SecretBytes(copying: $0) })
    }

    private func failure(_ text: String) throws -> VaultError? {
        let bytes = Array(text.utf8).withRawBytes { SecretBytes(copying: $0) }
        do throws(VaultError) {
            _ = try Identity(text: bytes)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the key's own line of a new identity's file.
    private func line() throws -> String {
        let name = directory.path("fresh-\(SecureRandom.bytes(count: 8).map(String.init).joined())")
        try Identity.random().write(to: name)
        let text = String(decoding: try SystemFile.read(name), as: UTF8.self)
        return try #require(text.split(separator: "\n").last.map(String.init))
    }

    @Test func aFileIsMadeForItsOwnerOnlyAndReadBack() throws {
        let mask = umask(0)
        defer { umask(mask) }
        let identity = try Identity.random()
        try identity.write(to: path)
        #expect(try SystemFile.mode(path) == 0o600)
        #expect(try Identity(contentsOf: path).recipients == identity.recipients)
        let text = String(decoding: try SystemFile.read(path), as: UTF8.self)
        #expect(text.hasPrefix("# recipient: \(identity.recipient)\nSEALED-SECRET-KEY-1"))
        #expect(text.utf8.count == 13 + 65 + 1 + 77 + 1)
    }

    @Test func aFileThatExistsIsNotWrittenOver() throws {
        try Identity.random().write(to: path)
        let before = try SystemFile.read(path)
        #expect(code { () throws(VaultError) in try Identity.random().write(to: path) } == .file)
        try directory.link("link", to: "nowhere")
        #expect(code { () throws(VaultError) in try Identity.random().write(to: directory.path("link")) } == .file)
        #expect(try SystemFile.read(path) == before)
        #expect(!SystemFile.exists(directory.path("nowhere")))
    }

    @Test func aLinkedDirectoryIsAPlaceLikeAnyOther() throws {
        _ = try directory.directory("real")
        try directory.link("short", to: "real")
        try Identity.random().write(to: directory.path("short/identity"))
        #expect(throws: Never.self) { try Identity(contentsOf: directory.path("real/identity")) }
    }

    @Test func commentsEmptyLinesAndSeveralKeysAreRead() throws {
        let (one, two) = (try line(), try line())
        let both = try identity("# created: today\n\n\(one)\r\n#\n\t\(two)  \n\n")
        #expect(both.recipients == (try identity(one).recipients) + (try identity(two).recipients))
        #expect(both.recipient == (try identity(one).recipient))
    }

    @Test func anInvalidIdentityIsMalformedAndNotRepeated() throws {
        let good = try line()
        for text in [
            "", "\n", "# only a comment\n", good.lowercased(), String(good.dropLast()), good + "Q", good + " \(good)",
        ] {
            let error = try #require(try failure(text))
            #expect(error.code == .malformedIdentity)
            #expect(!error.description.contains(good.dropFirst(20).dropLast(2)))
        }
    }

    @Test func theLineThatIsWrongIsNamed() throws {
        let error = try #require(try failure("# one\n\(try line())\nSEALED-SECRET-KEY-1QQQQ\n"))
        #expect(error.code == .malformedIdentity)
        #expect(error.reason.contains("3") && !error.description.contains("QQQQ"))
    }

    @Test(arguments: [0o644, 0o640, 0o620, 0o604, 0o602] as [mode_t])
    func aFileThatOthersMayReadIsRefused(mode: mode_t) throws {
        try Identity.random().write(to: path)
        chmod(path, mode)
        #expect(code { () throws(VaultError) in _ = try Identity(contentsOf: path) } == .unsafeFile)
    }

    @Test func aMissingFileIsAFileErrorAndAnEndlessOneIsMalformed() throws {
        #expect(code { () throws(VaultError) in _ = try Identity(contentsOf: path) } == .file)
        try directory.file("identity", String(repeating: "#", count: 20_000))
        #expect(code { () throws(VaultError) in _ = try Identity(contentsOf: path) } == .malformedIdentity)
    }

    @Test func itPrintsAsNothing() throws {
        #expect("\(try Identity.random())" == "Identity(…)")
    }
}
