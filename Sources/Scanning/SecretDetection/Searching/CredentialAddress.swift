/// Passwords in addresses, RFC 3986 section 3.2.1: `scheme://user:password@host`.
enum CredentialAddress {
    /// Finds the password of an address. The keyword is the separator after the scheme.
    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let scheme = text.start(of: .scheme, before: keyword.lowerBound, atMost: 24)
        guard keyword.lowerBound - scheme >= 2 else { return nil }
        let userEnd = text.end(of: .userinfo, from: keyword.upperBound, atMost: 128)
        guard text[userEnd] == UInt8(ascii: ":") else { return nil }
        // A password may contain colons and other characters that should be escaped.
        let end = text.end(of: .addressPassword, from: userEnd + 1, atMost: 256)
        guard text[end] == UInt8(ascii: "@"), end - userEnd > 3 else { return nil }
        let host = text.end(of: .host, from: end + 1, atMost: 255)
        guard host > end + 1 else { return nil }
        return draft(
            password: userEnd + 1..<end, user: text.slice(keyword.upperBound..<userEnd),
            host: text.slice(end + 1..<host), in: text)
    }

    private static func draft(
        password range: Range<Int>, user: SearchText, host: SearchText, in text: SearchText
    ) -> Detector.Draft? {
        let password = text.slice(range)
        let made = TextComposition(password)
        guard !Placeholder.isIn(field: password), !isExample(host), !usual.contains(where: { same(password, $0) })
        else { return nil }
        let repeatsUser = password.count == user.count && password.bytes.elementsEqual(user.bytes)
        guard !repeatsUser, made.digits < password.count || password.count >= 6 else { return nil }
        if made.isOnlyWords { return isLocal(host) ? nil : Detector.Draft(range: range, certainty: .possible) }
        let isRandom = password.count >= 8 && Entropy.bitsPerByte(password) >= 2.5
        return Detector.Draft(range: range, certainty: isRandom ? .certain : .likely)
    }

    private static func same(_ text: SearchText, _ word: StaticString) -> Bool {
        text.count == word.utf8CodeUnitCount && text.holdsFolded(word, at: 0)
    }

    private static func isExample(_ host: SearchText) -> Bool {
        ["example.com", "example.org", "example.net"].contains { (name: StaticString) in
            host.firstFolded(name, in: 0..<host.count) != nil
        }
    }

    private static func isLocal(_ host: SearchText) -> Bool {
        ["localhost", "127.", "[::1]", "0.0.0.0"].contains { (name: StaticString) in host.holdsFolded(name, at: 0) }
    }

    /// The usual passwords in documentation.
    private static let usual: [StaticString] = [
        "password", "pass", "passwd", "pwd", "secret", "token", "pw", "user", "username", "x-oauth-basic", "postgres",
        "guest", "root", "admin",
        "mypassword", "db_password", "dbpass",
    ]
}

/// Addresses of Sentry: `https://key@host/project` with a key of 32 hexadecimal digits.
enum SentryAddress {
    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let end = text.end(of: .lowerHex, from: keyword.upperBound, atMost: 33)
        guard end - keyword.upperBound == 32, text[end] == UInt8(ascii: "@") || text[end] == UInt8(ascii: ":") else {
            return nil
        }
        let hostStart =
            text[end] == UInt8(ascii: "@") ? end + 1 : text.end(of: .lowerHex, from: end + 1, atMost: 32) + 1
        let host = text.end(of: .host, from: hostStart, atMost: 128)
        guard text.firstFolded("sentry", in: hostStart..<host) != nil else { return nil }
        let key = text.slice(keyword.upperBound..<end)
        guard Entropy.bitsPerByte(key) >= 2.8, !Placeholder.isIn(token: key) else { return nil }
        return Detector.Draft(range: keyword.upperBound..<end)
    }
}

extension ByteClass {
    fileprivate static let scheme = ByteClass.alphanumeric + ByteClass("+.-")
    fileprivate static let userinfo = ByteClass.alphanumeric + ByteClass("-._~!$&'()*+,;=%")
    fileprivate static let addressPassword = ByteClass.alphanumeric + ByteClass("-._~!$&'()*+,;=%:^#?|{}[]")
    static let host = ByteClass.alphanumeric + ByteClass(".-_[]:")
}
