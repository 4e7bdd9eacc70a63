internal import Glibc
internal import PropertyLists

/// JSON Web Tokens, RFC 7519: two parts that decode to JSON, and a signature.
enum WebToken {
    private static let longest = 16_384

    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let start = keyword.lowerBound
        guard text.beginsWord(at: start, unlike: .base64url) else { return nil }
        let headEnd = text.end(of: .base64url, from: start, atMost: longest)
        guard headEnd - start >= 16, text[headEnd] == UInt8(ascii: ".") else { return nil }
        let bodyEnd = text.end(of: .base64url, from: headEnd + 1, atMost: longest)
        guard let head = Base64.decoded(text.slice(start..<headEnd)), isHeader(head) else { return nil }
        guard bodyEnd - headEnd > 8 || text[bodyEnd] == UInt8(ascii: "."), text[bodyEnd] == UInt8(ascii: ".") else {
            return nil
        }
        var end = text.end(of: .base64url, from: bodyEnd + 1, atMost: longest)
        // Encrypted tokens have five parts.
        while text[end] == UInt8(ascii: "."), ByteClass.base64url.contains(text[end + 1]), end - start < longest {
            end = text.end(of: .base64url, from: end + 1, atMost: longest)
        }
        let body = Base64.decoded(text.slice(headEnd + 1..<bodyEnd)) ?? []
        return body.withUnsafeBytes { draft(start..<end, claims: SearchText($0), in: text, bodyEnd) }
    }

    /// Returns whether a text begins with a token, including published ones.
    static func isToken(_ text: SearchText) -> Bool {
        guard text.holds("eyJ", at: 0) else { return false }
        let end = text.end(of: .base64url, from: 0, atMost: longest)
        guard text[end] == UInt8(ascii: "."), let head = Base64.decoded(text.slice(0..<end)) else { return false }
        return isHeader(head)
    }

    private static func draft(
        _ range: Range<Int>, claims: SearchText, in text: SearchText, _ bodyEnd: Int
    ) -> Detector.Draft? {
        guard !isPublished(claims), !Placeholder.hasRow(of: 12, in: text.slice(bodyEnd..<range.upperBound)) else {
            return nil
        }
        let expires = expiry(claims)
        let isSigned = range.upperBound - bodyEnd >= 20
        let isPast = expires.map { $0 < Int64(time(nil)) } ?? false
        return Detector.Draft(
            range: range, certainty: isSigned ? .certain : .possible, expires: expires,
            rule: isPast ? KeyRules.expiredJWT : nil)
    }

    private static func isHeader(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { bytes in
            let text = SearchText(bytes)
            return text[text.end(of: .space, from: 0)] == UInt8(ascii: "{")
                && (text.first("\"alg\"", in: 0..<text.count) != nil || text.first("\"enc\"", in: 0..<text.count) != nil
                    || text.first("\"typ\"", in: 0..<text.count) != nil)
        }
    }

    /// Returns the claim `exp`, in seconds since 1970.
    private static func expiry(_ claims: SearchText) -> Int64? {
        guard let place = claims.first("\"exp\"", in: 0..<claims.count) else { return nil }
        var position = claims.end(of: .space, from: place + 5)
        guard claims[position] == UInt8(ascii: ":") else { return nil }
        position = claims.end(of: .space, from: position + 1)
        let end = claims.end(of: .digit, from: position, atMost: 15)
        guard end > position else { return nil }
        return claims.bytes[position..<end].reduce(0) { $0 * 10 + Int64($1 - 48) }
    }

    /// Returns whether the claims are those of the tokens of jwt.io and RFC 7515.
    private static func isPublished(_ claims: SearchText) -> Bool {
        let whole = 0..<claims.count
        if claims.first("example.com/is_root", in: whole) != nil { return true }
        return claims.first("1234567890", in: whole) != nil && claims.first("John Doe", in: whole) != nil
    }
}

/// JSON Web Keys with a private part, RFC 7517 and 7518.
enum WebKey {
    /// Finds the private part. The keyword is the member `kty`, which every key has. Its object ends at the next brace,
    /// because keys contain no objects.
    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let start = text.start(of: .insideObject, before: keyword.lowerBound, atMost: 8192)
        let end = text.end(of: .insideObject, from: keyword.upperBound, atMost: 8192)
        let object = start..<end
        let isSymmetric = text.first("oct\"", in: keyword.upperBound..<min(end, keyword.upperBound + 12)) != nil
        return value(of: isSymmetric ? "\"k" : "\"d", in: text, object).map { Detector.Draft(range: $0) }
    }

    /// Returns the value of a member, whose quotes may be escaped.
    private static func value(of member: StaticString, in text: SearchText, _ object: Range<Int>) -> Range<Int>? {
        var from = object.lowerBound
        while let place = text.first(member, in: from..<object.upperBound) {
            from = place + 1
            let start = text.end(of: .memberJoint, from: place + 2, atMost: 24)
            let end = text.end(of: .base64url, from: start)
            let value = text.slice(start..<end)
            guard start - place >= 4, ByteClass.memberEnd.contains(text[end]) else { continue }
            if isPrivatePart(value) { return start..<end }
        }
        return nil
    }

    /// Returns whether a value looks like a key's number in base64url.
    static func isPrivatePart(_ value: SearchText) -> Bool {
        (22...1024).contains(value.count) && value.allSatisfy(.base64url) && !Placeholder.isIn(token: value)
            && Entropy.bitsPerByte(value) >= 3.5
    }
}

extension ByteClass {
    fileprivate static let insideObject = ByteClass("{}").inverted
    fileprivate static let memberJoint = ByteClass("\\\": \t\r\n")
    fileprivate static let memberEnd = ByteClass("\\\"")
}

/// The private part of a JSON Web Key as a separate value, which readers of structures name `jwk.d`, or `jwk.k` for a
/// symmetric key.
enum WebKeyMember {
    static func match(_ text: SearchText, _ value: Range<Int>, named name: SearchText) -> SecretMatch? {
        guard name.count == 5, name.holds("jwk.d", at: 0) || name.holds("jwk.k", at: 0) else { return nil }
        let slice = text.slice(value)
        guard WebKey.isPrivatePart(slice) else { return nil }
        return SecretMatch(rule: KeyRules.jwk, range: value, certainty: .certain)
    }
}
