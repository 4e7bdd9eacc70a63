import Testing

@testable import SecretDetection

/// Tests of values that other members of their object name.
@Suite struct SiblingTests {
    @Test(arguments: ["jwk.d", "jwk.k"]) func thePrivatePartOfAWebKeyIsFoundByItsName(_ name: String) {
        let value = SecretSample("", "{url43}").drawn(seed: 2)
        #expect(Found.judged(value, named: name).map(\.rule.id) == ["key.jwk"])
        #expect(Found.judged(value, named: name).first?.range == 0..<43)
        #expect(Found.judged("AQAB", named: name).isEmpty)
        #expect(Found.judged(SecretSample("", "{std39}+/ =").drawn(seed: 2), named: name).isEmpty)
        #expect(Found.judged(value, named: "jwk.x").isEmpty)
    }

    @Test(arguments: [
        #"[{"name":"refresh_token","value":"abc"}]"#, #"{"v": "abc", "k" : "apiKey"}"#,
        #"{\"Name\":\"session-id\",\"Value\":\"abc\"}"#, #"{"acct":"db.password","v_Data":"abc"}"#,
        #"{"setting": "client_secret", "data": "abc"}"#,
    ]) func aNameThatIsAValueIsSuspicious(_ text: String) { #expect(Found.isSuspicious(text)) }

    @Test(arguments: [
        #"{"name":"js-tokens","version":"4.0.0"}"#, #"{"title":"refresh_token","value":"abc"}"#,
        #"{"name":"colour","value":"abc"}"#, #"["refresh_token","value"]"#, #"{"name":"refresh_token"}"#,
    ]) func aNameWithoutAValueIsNot(_ text: String) { #expect(!Found.isSuspicious(text)) }
}
