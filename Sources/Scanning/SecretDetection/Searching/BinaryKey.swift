/// Private keys in raw DER at the start of a file or value, which contains only the key.
///
/// PKCS #8 (RFC 5958) plain and encrypted, PKCS #1 (RFC 8017), SEC 1 (RFC 5915), PKCS #12 (RFC 7292).
enum BinaryKey {
    static func match(in text: SearchText) -> SecretMatch? {
        guard text[0] == DERElement.sequence, text.count >= 46 else { return nil }
        if holdsOpenStore(text) {
            return SecretMatch(rule: KeyRules.pkcs12, range: 0..<text.count, certainty: .certain)
        }
        guard let outer = DERElement(in: text, at: 0, until: text.count), let parts = outer.parts(in: text),
            parts.count >= 2, let rule = rule(for: parts, in: text)
        else { return nil }
        let all = text.slice(0..<outer.contents.upperBound)
        // A private key of zeros is not a key.
        guard !hasRow(all) else { return nil }
        return SecretMatch(rule: rule, range: 0..<all.count, certainty: .certain)
    }

    private static func rule(for parts: [DERElement], in text: SearchText) -> SecretRule? {
        guard parts[0].tag == DERElement.integer else {
            return isEncrypted(parts, in: text) ? KeyRules.encryptedKey : nil
        }
        guard parts[0].contents.count == 1 else { return nil }
        switch text[parts[0].contents.lowerBound] {
        case 0 where isPKCS8(parts, in: text) || isNumbers(parts): return KeyRules.derKey
        case 1 where isPKCS8(parts, in: text) || isSEC1(parts): return KeyRules.derKey
        case 3 where isStore(parts, in: text): return KeyRules.pkcs12
        default: return nil
        }
    }

    /// Returns whether the parts are the algorithm and the key in octets. Attributes and the public key may follow.
    private static func isPKCS8(_ parts: [DERElement], in text: SearchText) -> Bool {
        guard 3...5 ~= parts.count, parts[2].tag == DERElement.octets, parts[2].contents.count >= 20,
            parts[3...].allSatisfy({ $0.tag & 0x80 != 0 })
        else { return false }
        return identifies(parts[1], Self.algorithms, in: text)
    }

    /// Returns whether the parts are the numbers of an RSA key (nine) or a DSA key (six), with at least two as long as
    /// those of a real key.
    private static func isNumbers(_ parts: [DERElement]) -> Bool {
        guard parts.count == 9 || parts.count == 6 else { return false }
        let lengths = parts.map(\.contents.count)
        return parts.allSatisfy { $0.tag == DERElement.integer } && lengths[1] >= 64
            && lengths[2...].allSatisfy { $0 > 0 }
            && lengths[3...].max() ?? 0 >= 64
    }

    /// Returns whether the parts are the number in octets, then the curve and the public key.
    private static func isSEC1(_ parts: [DERElement]) -> Bool {
        guard 2...4 ~= parts.count, parts[1].tag == DERElement.octets, 20...72 ~= parts[1].contents.count else {
            return false
        }
        return parts.count > 2 && parts[2...].allSatisfy { $0.tag == 0xA0 || $0.tag == 0xA1 }
    }

    private static func isEncrypted(_ parts: [DERElement], in text: SearchText) -> Bool {
        parts.count == 2 && parts[1].tag == DERElement.octets && parts[1].contents.count >= 32
            && identifies(parts[0], Self.ciphers, in: text)
    }

    private static func isStore(_ parts: [DERElement], in text: SearchText) -> Bool {
        2...3 ~= parts.count && identifies(parts[1], [Self.content], in: text)
    }

    /// Returns whether a sequence begins with an identifier that has one of these prefixes.
    private static func identifies(_ part: DERElement, _ beginnings: [[UInt8]], in text: SearchText) -> Bool {
        guard part.tag == DERElement.sequence, let inner = part.parts(in: text, atMost: 4)?.first,
            inner.tag == DERElement.identifier
        else { return false }
        let end = inner.contents.upperBound
        return beginnings.contains {
            text.holds($0, at: inner.contents.lowerBound) && inner.contents.lowerBound + $0.count <= end
        }
    }

    /// Returns whether the text is a store with outer lengths of indefinite form, which some programs write.
    private static func holdsOpenStore(_ text: SearchText) -> Bool {
        guard text[1] == 0x80, text.holds([2, 1, 3, DERElement.sequence], at: 2) else { return false }
        let inner = text[6] == 0x80 ? 7 : DERElement(in: text, at: 5, until: text.count)?.contents.lowerBound
        guard let inner, text.count >= 600 else { return false }
        return text[inner] == DERElement.identifier && text.holds(Self.content, at: inner + 2)
    }

    private static func hasRow(_ text: SearchText) -> Bool { Placeholder.hasRow(of: 20, in: text) }

    /// RSA, RSA-PSS, DSA, DH, elliptic curves, X25519, X448, Ed25519, Ed448.
    private static let algorithms: [[UInt8]] = [
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01], [0x2A, 0x86, 0x48, 0xCE, 0x38, 0x04, 0x01],
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x03, 0x01], [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01],
        [0x2B, 0x65, 0x6E], [0x2B, 0x65, 0x6F], [0x2B, 0x65, 0x70], [0x2B, 0x65, 0x71],
    ]
    /// PKCS #5 and the ciphers of PKCS #12.
    private static let ciphers: [[UInt8]] = [
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x05], [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x0C, 0x01],
    ]
    /// Content of PKCS #7.
    private static let content: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x07]
}

/// An element of DER (X.690): its tag and the range of its contents.
struct DERElement {
    let tag: UInt8
    let contents: Range<Int>

    /// Parses the element at a position, or returns `nil` if no element ends within the bound. Accepts only short tags
    /// and lengths in their shortest form.
    init?(in text: SearchText, at position: Int, until bound: Int) {
        guard position + 2 <= bound, text[position] & 0x1F != 0x1F else { return nil }
        tag = text[position]
        var start = position + 2
        var length = Int(text[position + 1])
        if length >= 0x80 {
            let size = length & 0x7F
            guard 1...3 ~= size, start + size <= bound, text[start] != 0 else { return nil }
            length = (0..<size).reduce(0) { $0 << 8 | Int(text[start + $1]) }
            guard length >= 0x80 else { return nil }
            start += size
        }
        guard start + length <= bound else { return nil }
        contents = start..<start + length
    }

    /// Returns the elements within this one, or `nil` if they exceed the limit or do not fill it.
    func parts(in text: SearchText, atMost limit: Int = 16) -> [DERElement]? {
        var parts: [DERElement] = []
        var position = contents.lowerBound
        while position < contents.upperBound {
            guard parts.count < limit, let part = DERElement(in: text, at: position, until: contents.upperBound) else {
                return nil
            }
            parts.append(part)
            position = part.contents.upperBound
        }
        return parts
    }

    static let integer: UInt8 = 0x02
    static let octets: UInt8 = 0x04
    static let identifier: UInt8 = 0x06
    static let sequence: UInt8 = 0x30
}

/// Private keys in base64 without BEGIN and END: the letters of their object identifiers and lengths.
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

    /// The letters of PKCS #8 with RSA, elliptic curves, Ed25519 and X25519; PKCS #1; SEC 1.
    private static let marks = [
        "ADANBgkqhkiG9w0BAQEFAASC", "AgEAMBMGByqGSM49AgEG", "AgEAMBAGByqGSM49AgEG", "MC4CAQAwBQYDK2VwBCIEI",
        "MC4CAQAwBQYDK2VuBCIEI",
        "IBAAKCAQEA", "IBAAKCAgEA", "IBAAKBgQ", "MHcCAQEEI", "MIGkAgEBBD",
    ]

    private static func find(
        in text: SearchText, _ keyword: Range<Int>, startsAt fixed: Int? = nil, atLeast length: Int = 56
    ) -> Detector.Draft? {
        var start = text.start(of: .base64, before: keyword.lowerBound, atMost: 64)
        // The letter of an escaped line end does not belong to the key.
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
