import ContainerAudit
import TestSupport
import Testing

@Suite struct FingerprintTests {
    let yard: ScanYard
    init() throws { yard = try ScanYard() }

    private func fingerprint(
        of text: String, in path: String = "notes.txt", key: FingerprintKey? = ScanYard.key
    ) throws -> String? {
        try yard.put(path, text)
        return try yard.secrets { $0.fingerprintKey = key }.first { $0.path == path }?.fingerprint
    }

    @Test func aFindingThatMovesInATextKeepsItsFingerprint() throws {
        let line = "key: \(ScanYard.secret(1))\n"
        let before = try fingerprint(of: line)
        let after = try fingerprint(of: "new\n\nlines\n" + line + "more\n")
        #expect(before != nil && before == after)
    }

    @Test func anotherValuePlaceOrFileHasAnother() throws {
        let all = [
            try fingerprint(of: "key: \(ScanYard.secret(1))\n"), try fingerprint(of: "key: \(ScanYard.secret(2))\n"),
            try fingerprint(of: "key: \(ScanYard.secret(1))\n", in: "other.txt"),
            try fingerprint(of: #"{"a": "\#(ScanYard.secret(1))"}"#, in: "a.json"),
            try fingerprint(of: #"{"b": {"a": "\#(ScanYard.secret(1))"}}"#, in: "a.json"),
        ]
        #expect(!all.contains(nil) && Set(all).count == 5)
    }

    @Test func anotherKeyGivesAnother() throws {
        let text = "key: \(ScanYard.secret(1))\n"
        #expect(try fingerprint(of: text) != fingerprint(of: text, key: ScanYard.otherKey))
    }

    @Test func withoutAKeyThereIsNone() throws {
        try yard.put("notes.txt", "key: \(ScanYard.secret(1))\n")
        #expect(try yard.audit { $0.fingerprintKey = nil }.findings.allSatisfy { $0.fingerprint == nil })
        #expect(try yard.audit().findings.allSatisfy { $0.fingerprint?.hasPrefix("v1:\($0.id):") == true })
    }

    @Test func aKeyHasThirtyTwoBytesAndAnIdOfItsOwn() throws {
        #expect(FingerprintKey(bytes: [1, 2, 3]) == nil)
        #expect(FingerprintKey().bytes.count == FingerprintKey.size)
        #expect(ScanYard.key?.id.count == 16 && ScanYard.key?.id != ScanYard.otherKey?.id)
    }
}
