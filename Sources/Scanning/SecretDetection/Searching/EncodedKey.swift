/// Private keys in base64 without BEGIN and END: letters that stand for their object identifiers and lengths.
enum EncodedKey {
    static let detectors: [Detector] =
        marks.map { mark in Detector(KeyRules.derKey, mark) { find(in: $0, $1) } }
        + [
            Detector(KeyRules.pkcs12, "IBAzCC") { text, keyword in
                // SEQUENCE of two length bytes, version 3, SEQUENCE.
                guard text.holds("MI", at: keyword.lowerBound - 6) else { return nil }
                return find(in: text, keyword, startsAt: keyword.lowerBound - 6, atLeast: 600)
            }
        ]

    /// PKCS #8 of RSA, of elliptic curves, of Ed25519 and X25519; PKCS #1; SEC 1.
    private static let marks = [
        "ADANBgkqhkiG9w0BAQEFAASC", "AgEAMBMGByqGSM49AgEG", "AgEAMBAGByqGSM49AgEG", "MC4CAQAwBQYDK2VwBCIEI",
        "MC4CAQAwBQYDK2VuBCIEI",
        "IBAAKCAQEA", "IBAAKCAgEA", "IBAAKBgQ", "MHcCAQEEI", "MIGkAgEBBD",
    ]

    private static func find(
        in text: SearchText, _ keyword: Range<Int>, startsAt fixed: Int? = nil, atLeast length: Int = 56
    ) -> Detector.Draft? {
        var start = text.start(of: .base64, before: keyword.lowerBound, atMost: 64)
        // The letter of an escaped line end is none of the key's.
        if text[start - 1] == UInt8(ascii: "\\") { start += 1 }
        guard keyword.lowerBound - start <= 12, start <= keyword.lowerBound, fixed == nil || fixed == start,
            text.holds("M", at: start)
        else { return nil }
        var end = text.end(of: .base64, from: keyword.upperBound, atMost: 16_384)
        while end - start < 16_384, text[end] == 10 || text[end] == 13 {
            let next = text.end(of: .space, from: end, atMost: 64)
            let nextEnd = text.end(of: .base64, from: next, atMost: 128)
            guard nextEnd - next >= 4 else { break }
            end = nextEnd
        }
        let run = text.slice(start..<end)
        guard run.count >= length, Entropy.bitsPerByte(run) >= 4, !Placeholder.hasRow(of: 20, in: run) else {
            return nil
        }
        return Detector.Draft(range: start..<text.end(of: .equals, from: end, atMost: 2), certainty: .certain)
    }
}
