import ContainerAudit
import TestSupport
import Testing

@Suite struct FingerprintTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    private func fingerprint(
        of text: String, in path: String = "notes.txt", key: FingerprintKey? = ScanSandbox.key
    ) throws -> String? {
        try sandbox.put(path, text)
        return try sandbox.secrets { $0.fingerprintKey = key }.first { $0.path == path }?.fingerprint
    }

    @Test func aFindingThatMovesInATextKeepsItsFingerprint() throws {
        let line = "key: \(ScanSandbox.secret(1))\n"
        let before = try fingerprint(of: line)
        let after = try fingerprint(of: "new\n\nlines\n" + line + "more\n")
        #expect(before != nil && before == after)
    }

    @Test func anotherValuePlaceOrFileHasAnother() throws {
        let all = [
            try fingerprint(of: "key: \(ScanSandbox.secret(1))\n"),
            try fingerprint(of: "key: \(ScanSandbox.secret(2))\n"),
            try fingerprint(of: "key: \(ScanSandbox.secret(1))\n", in: "other.txt"),
            try fingerprint(of: #"{"a": "\#(ScanSandbox.secret(1))"}"#, in: "a.json"),
            try fingerprint(of: #"{"b": {"a": "\#(ScanSandbox.secret(1))"}}"#, in: "a.json"),
        ]
        #expect(!all.contains(nil) && Set(all).count == 5)
    }

    @Test func anotherKeyGivesAnother() throws {
        let text = "key: \(ScanSandbox.secret(1))\n"
        #expect(try fingerprint(of: text) != fingerprint(of: text, key: ScanSandbox.otherKey))
    }

    @Test func withoutAKeyThereIsNoFingerprint() throws {
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(1))\n")
        #expect(try sandbox.audit { $0.fingerprintKey = nil }.findings.allSatisfy { $0.fingerprint == nil })
        #expect(try sandbox.audit().findings.allSatisfy { $0.fingerprint?.hasPrefix("v1:\($0.id):") == true })
    }

    @Test func aKeyHasThirtyTwoBytesAndAnIdOfItsOwn() throws {
        #expect(FingerprintKey(bytes: [1, 2, 3]) == nil)
        #expect(FingerprintKey().bytes.count == FingerprintKey.size)
        #expect(ScanSandbox.key?.id.count == 16 && ScanSandbox.key?.id != ScanSandbox.otherKey?.id)
    }
}
