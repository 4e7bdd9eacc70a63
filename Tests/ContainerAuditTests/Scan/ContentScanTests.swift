import ContainerAudit
import Glibc
import TestSupport
import Testing

@Suite struct ContentScanTests {
    let sandbox: ScanSandbox
    init() throws { sandbox = try ScanSandbox() }

    @Test func aSecretInTextIsFoundWithItsLineAndBytes() throws {
        let secret = ScanSandbox.secret(1)
        try sandbox.put("notes.txt", "first line\nkey: \(secret)\n")
        let finding = try #require(try sandbox.secrets().first)
        #expect(finding.path == "notes.txt")
        #expect(finding.location?.line == 2 && finding.location?.column == 6)
        #expect(finding.location?.offset == 16 && finding.location?.length == Int64(secret.utf8.count))
    }

    @Test func aSecretInJSONIsFoundWithItsPlaceAndBytes() throws {
        let secret = ScanSandbox.secret(2)
        let text = #"{"accounts": [{"id": 1}, {"key": "\#(secret)"}]}"#
        try sandbox.put("state.json", text)
        let finding = try #require(try sandbox.secrets().first)
        #expect(finding.location?.place == "accounts[1].key")
        let start = try #require(finding.location?.offset).magnitude
        #expect(Array(text.utf8)[Int(start)...].starts(with: secret.utf8))
    }

    @Test func aSecretInBase64IsFoundAtTheOffsetOfItsLetters() throws {
        let inner = #"{"key":"\#(ScanSandbox.secret(3))"}"#
        let letters = Array(inner.utf8).base64
        try sandbox.put("app.log", "2026-01-01 state=\(letters) end\n")
        let finding = try #require(try sandbox.secrets().first)
        #expect(finding.location?.offset == 17)
        #expect(finding.location?.place?.contains("base64") == true)
    }

    @Test func aValueInSeveralPlacesIsOneFinding() throws {
        let secret = ScanSandbox.secret(4)
        try sandbox.put("notes.txt", "a \(secret)\nb \(secret)\nc \(secret)\n")
        let findings = try sandbox.secrets()
        #expect(findings.count == 1)
        #expect(findings.first?.detail.contains("3 places") == true)
    }

    @Test func secretsInTwoBlocksOfALongLineAreFoundOnce() throws {
        // A block is a mebibyte, and the next one begins some bytes before its end.
        let secret = ScanSandbox.secret(5)
        let filler = String(repeating: ". ", count: (1 << 19) - 100)
        try sandbox.put("long.txt", filler + secret + String(repeating: " .", count: 4096))
        let findings = try sandbox.secrets()
        #expect(findings.count == 1)
        #expect(findings.first?.detail.contains("places") == false)
    }

    @Test func withoutTheSearchNoFileIsRead() throws {
        try sandbox.put("notes.txt", "key: \(ScanSandbox.secret(6))\n")
        let report = try sandbox.audit { $0.searchesSecrets = false }
        #expect(report.findings.map(\.id) == ["plaintext.file"])
    }

    @Test func noReportHoldsAValue() throws {
        let secret = ScanSandbox.secret(7)
        try sandbox.put("state.json", #"{"a": "\#(secret)", "password": "vN7!qz_Lr3#d"}"#)
        try sandbox.put("notes.txt", "password = vN7!qz_Lr3#d \(secret)\n")
        let report = try sandbox.audit()
        #expect(report.findings.count > 2)
        let json = String(decoding: try report.json(), as: UTF8.self)
        #expect(!json.contains(secret) && !json.contains("vN7!qz"))
    }
}

extension [UInt8] {
    /// The Base64 text, in the letters of RFC 4648.
    var base64: String {
        let letters = Array<Character>("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")
        var text = ""
        for start in stride(from: 0, to: count, by: 3) {
            let part = self[start..<Swift.min(count, start + 3)]
            let bits = part.reduce(0) { $0 << 8 | UInt32($1) } << (8 * (3 - UInt32(part.count)))
            for index in 0...part.count { text.append(letters[Int(bits >> (18 - 6 * UInt32(index)) & 63)]) }
            text += String(repeating: "=", count: 3 - part.count)
        }
        return text
    }
}
