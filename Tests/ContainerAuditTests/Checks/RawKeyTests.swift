import ContainerAudit
import TestSupport
import Testing

@Suite struct RawKeyTests {
    let sandbox: AuditSandbox
    init() throws {
        sandbox = try AuditSandbox()
        _ = try sandbox.store()
    }

    private static let hex = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"
    private static let base64 = "n4bQgYhMfWWaL+qgxVrQFaO/TxsrC4Is0V1sFbDwCgg="

    private static func random(_ count: Int) -> [UInt8] {
        var generator = SeededGenerator(seed: 7)
        return generator.bytes(count)
    }

    @Test(arguments: [("master.key", 32), ("aes-key.bin", 16), ("hmacSecret", 64), ("Library/Caches/dek", 32)])
    func randomBytesUnderTheNameOfAKeyAreOne(name: String, count: Int) throws {
        try sandbox.put(name, Self.random(count))
        let report = try sandbox.audit()
        #expect(report.ids == ["keyfile.raw"])
        #expect(report.findings.first?.confidence == .likely)
    }

    @Test(arguments: [hex, hex + "\n", hex.uppercased(), base64, base64 + "\r\n"])
    func aKeyInLettersIsOneAsWell(text: String) throws {
        try sandbox.put("encryption.key", text)
        let report = try sandbox.audit()
        #expect(report.ids.contains("keyfile.raw") && !report.ids.contains("plaintext.file"))
        #expect(!String(decoding: try report.json(), as: UTF8.self).contains(text.prefix(16)))
    }

    @Test(
        arguments: [
            ("public.key", random(32)), ("key-id", random(16)), ("etag", random(32)), ("master.key", random(33)),
            ("master.key", [UInt8](repeating: 0, count: 32)), ("license.key", Array("AAAA-BBBB-CCCC-DDDD".utf8)),
            ("file.sha256", Array(hex.utf8)), ("cache.key", random(16)),
        ])
    func lookAlikesAreNotMatched(name: String, bytes: [UInt8]) throws {
        try sandbox.put(name, bytes)
        #expect(try sandbox.audit().ids.filter { $0 != "field.api-key" } == ["plaintext.file"])
    }

    @Test(arguments: [("encryptionKey", true), ("publicKey", false), ("avatar", false)])
    func aBareKeyAmongValuesIsFoundByItsName(name: String, isKey: Bool) throws {
        let key = PropertyListFile.text(name)
        let data = PropertyListFile.sized(0x40, 32) + Self.random(32)
        let list = PropertyListFile([PropertyListFile.dictionary([(1, 2)]), key, data])
        try sandbox.put("Library/Preferences/a.plist", list.bytes)
        #expect(try sandbox.audit().ids.contains("value.raw-key") == isKey)
    }
}
