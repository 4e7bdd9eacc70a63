internal import PropertyLists

/// Private keys between BEGIN and END lines; in text, and in strings that write their line ends as `\n`.
enum PrivateKeyBlock {
    private static let longest = 32_768
    /// The number of letters of the shortest key in use: Ed25519, PKCS #8.
    private static let leastLetters = 56

    /// Finds a key block. The keyword is the end of the first line.
    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let label = text.start(of: .label, before: keyword.lowerBound, atMost: 32)
        guard text.holds("BEGIN ", at: label), text.holds("-----", at: label - 5) else { return nil }
        let start = label - 5
        let body = keyword.upperBound..<bodyEnd(in: text, from: keyword.upperBound)
        guard let letters = Base64.letters(in: text.slice(body)), letters >= leastLetters else { return nil }
        let end =
            text.holds("-----END", at: body.upperBound) ? lineEnd(in: text, from: body.upperBound + 8) : body.upperBound
        let isEncrypted = isEncrypted(text, start..<body.upperBound)
        return Detector.Draft(range: start..<end, rule: isEncrypted ? KeyRules.encryptedKey : nil)
    }

    static func findPGP(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let bound = min(text.count, keyword.upperBound + longest)
        let end = text.first("-----END PGP", in: keyword.upperBound..<bound) ?? bound
        let body = text.slice(keyword.upperBound..<end)
        guard body.bytes.count(where: ByteClass.base64.contains) >= 128, !Placeholder.hasRow(of: 20, in: body) else {
            return nil
        }
        return Detector.Draft(range: keyword.lowerBound..<(end < bound ? lineEnd(in: text, from: end + 12) : bound))
    }

    static func findPuTTY(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let bound = min(text.count, keyword.upperBound + longest)
        guard let secret = text.first("Private-Lines:", in: keyword.upperBound..<bound) else { return nil }
        let end = text.first("Private-MAC:", in: secret..<bound) ?? min(bound, secret + 1024)
        let isOpen = text.first("Encryption: none", in: keyword.upperBound..<secret) != nil
        return Detector.Draft(range: keyword.lowerBound..<end, rule: isOpen ? nil : KeyRules.encryptedKey)
    }

    /// Returns the end of a block's letters, line ends and headers.
    private static func bodyEnd(in text: SearchText, from start: Int) -> Int {
        let bound = min(text.count, start + longest)
        let end = text.end(of: .armour, from: start, atMost: longest)
        return text.first("-----", in: start..<min(bound, end + 5)) ?? min(bound, end)
    }

    private static func lineEnd(in text: SearchText, from position: Int) -> Int {
        let label = text.end(of: .label, from: position, atMost: 40)
        return text.holds("-----", at: label) ? label + 5 : label
    }

    private static func isEncrypted(_ text: SearchText, _ range: Range<Int>) -> Bool {
        if text.first("ENCRYPTED", in: range.lowerBound..<min(range.upperBound, range.lowerBound + 160)) != nil {
            return true
        }
        guard text.first("OPENSSH", in: range.lowerBound..<min(range.upperBound, range.lowerBound + 32)) != nil else {
            return false
        }
        // The data is openssh-key-v1, then the length and the name of the cipher, which is "none" without a passphrase.
        guard let letters = text.first("b3BlbnNzaC1rZXktdjEA", in: range) else { return false }
        guard let head = Base64.decoded(text.slice(letters..<min(range.upperBound, letters + 44))), head.count >= 23
        else { return false }
        return Array(head[19..<23]) != Array("none".utf8)
    }
}

extension ByteClass {
    fileprivate static let label = ByteClass.upperAlphanumeric + ByteClass(" ")
    fileprivate static let armour = ByteClass.base64 + ByteClass("=\\ \t\r\n\"',:-")
}

extension Base64 {
    /// Returns the number of letters without line ends, escapes, quotes and headers, or `nil` if they are not random.
    static func letters(in text: SearchText) -> Int? {
        guard !Placeholder.hasRow(of: 24, in: text), Entropy.bitsPerByte(text) >= 3.5 else { return nil }
        return text.bytes.count(where: ByteClass.base64.contains)
    }
}
