import PropertyLists
import Testing

@testable import SecretDetection

/// Tests of JSON Web Tokens, basic credentials and similar secrets that have to be decoded.
@Suite struct WebTokenTests {
    /// The rules whose samples are here.
    static let rules = ["token.jwt", "token.jwt.expired", "header.basic"]

    static func token(_ claims: String, header: String = #"{"alg":"ES256","typ":"JWT"}"#) -> String {
        let signature = SecretSample("", "{url86}").drawn(seed: 5)
        return [header, claims].map { letters($0).replacing("+", with: "-").replacing("/", with: "_") }.joined(
            separator: ".") + "." + signature
    }

    /// Returns the text as Base64 without padding.
    static func letters(_ text: String) -> String {
        let bytes = Array(text.utf8)
        let whole = Base64.letters(of: bytes, shiftedBy: 0)
        let rest = Base64.letters(of: bytes + [0, 0], shiftedBy: 0)
        return String(decoding: rest.prefix(bytes.count * 8 % 6 == 0 ? whole.count : whole.count + 1), as: UTF8.self)
    }

    @Test func aTokenShowsItsExpiry() throws {
        let text = "Authorization: Bearer " + Self.token(#"{"sub":"4711","exp":4102444800}"#) + "\r\n"
        let match = try #require(Found.all(in: text).first)
        #expect(match.rule.id == "token.jwt")
        #expect(match.expires == 4_102_444_800)
        #expect(match.certainty == .certain)
    }

    @Test func anExpiredTokenHasARuleOfItsOwn() {
        let found = Found.judged(Self.token(#"{"sub":"4711","exp":1000000000}"#), named: "idToken")
        #expect(found.map(\.rule.id) == ["token.jwt.expired"])
    }

    @Test func theTokensOfDocumentsAreNotFound() {
        let text = Self.token(#"{"sub":"1234567890","name":"John Doe","iat":1516239022}"#)
        #expect(Found.all(in: text).isEmpty)
        #expect(Found.judged(text, named: "jwt").isEmpty)
    }

    @Test func threePartsThatAreNotATokenAreNotFound() {
        #expect(Found.all(in: Self.token("{}", header: #"{"version":"1","list":"2"}"#)).isEmpty)
    }

    @Test func aBasicCredentialIsDecoded() {
        let secret = Self.letters("service:" + SecretSample("", "{an13}").drawn(seed: 3))
        #expect(Found.all(in: "authorization: basic \(secret)").map(\.rule.id) == ["header.basic"])
        #expect(Found.all(in: "Authorization: Basic \(Self.letters("Aladdin:open sesame!"))").isEmpty)
        #expect(Found.all(in: "Basic authentication is required").isEmpty)
    }

    @Test func aSecretBesideItsKeyIsFoundWithoutAName() {
        let key = SecretSample("", "AKIA{b3216}").drawn(seed: 1)
        let secret = SecretSample("", "{std40}").drawn(seed: 2)
        #expect(Found.all(in: "\(key),\(secret)\n").map(\.rule.id) == ["token.aws", "token.aws-secret"])
    }

    @Test func aChecksumThatFitsMakesATokenCertain() {
        let random = SecretSample("", "{an30}").drawn(seed: 4)
        let crc = Array(random.utf8).withUnsafeBytes { ChecksummedToken.crc32(SearchText($0)) }
        var number = crc
        var digits: [Character] = []
        let alphabet = Array("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz")
        for _ in 0..<6 {
            digits.insert(alphabet[Int(number % 62)], at: 0)
            number /= 62
        }
        #expect(Found.all(in: "ghp_" + random + String(digits)).map(\.certainty) == [.certain])
        #expect(Found.all(in: "ghp_" + random + "AAAzzz").map(\.certainty) == [.likely])
    }

    @Test(arguments: ["none", "aes256-ctr"]) func anOpenSSHKeyShowsWhetherItHasAPassphrase(_ cipher: String) {
        let head = "openssh-key-v1\0\0\0\0\u{4}\(cipher)"
        let body = Self.letters(head + SecretSample("", "{an200}").drawn(seed: 9))
        let text = "-----BEGIN OPENSSH PRIVATE KEY-----\n\(body)\n-----END OPENSSH PRIVATE KEY-----\n"
        #expect(Found.all(in: text).map(\.rule.id) == [cipher == "none" ? "key.private" : "key.private.encrypted"])
        #expect(Found.all(in: text).first.map { Found.text($0, of: text).hasSuffix("KEY-----") } == true)
    }
}
