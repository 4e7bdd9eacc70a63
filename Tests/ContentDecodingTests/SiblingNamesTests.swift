import ContentDecoding
import TestSupport
import Testing

/// Tests of members of an object that other members name.
@Suite struct SiblingNamesTests {
    private func json(_ text: String) -> CarrierReading { CarrierReading(Array(text.utf8), named: "a.json") }

    @Test(arguments: [
        ("name", "value"), ("key", "val"), ("k", "v"), ("acct", "v_Data"), ("account", "data"), ("attribute", "value"),
        ("setting", "value"), ("Name", "Value"),
    ]) func aMemberNamesAnotherInEitherOrder(_ key: String, _ value: String) throws {
        for text in [
            #"[{"\#(key)":"refresh_token","\#(value)":"abc"}]"#,
            #"[{"\#(value)":"abc","x":{"y":[1]},"\#(key)":"refresh_token"}]"#,
        ] {
            let reading = json(text)
            let leaf = try reading.only("[0].\(value), refresh_token")
            #expect(leaf.name == "refresh_token")
            #expect(leaf.text == "abc")
            #expect(reading.fileBytes(of: leaf) == Array("abc".utf8))
            #expect(try reading.only("[0].\(key)").name == key)
        }
    }

    @Test func aValueWithoutANameKeepsItsKey() throws {
        let reading = json(#"{"value":"abc","data":{"v":true,"k":7},"list":["name","value"],"other":"x"}"#)
        #expect(try reading.only("value").name == "value")
        #expect(try reading.only("data.v").name == "v")
        #expect(reading.leaves.count == 6)
    }

    @Test func eachObjectHasItsOwnNames() throws {
        let reading = json(
            #"{"value":"one","in":[{"name":"a_token","value":"two"},{"value":"three"}],"name":"b_token"}"#)
        #expect(try reading.only("in[0].value, a_token").text == "two")
        #expect(try reading.only("in[1].value").name == "value")
        #expect(try reading.only("value, b_token").text == "one")
    }

    @Test func flagsAreNamedToo() throws {
        #expect(try json(#"{"value":false,"name":"sslPinning"}"#).only("value, sslPinning").kind == .flag)
    }

    @Test func aServiceSortsBeforeItsAccount() throws {
        let leaf = try json(#"{"acct":"ada","svce":"com.example.token","v_Data":"abc"}"#)
            .only("v_Data, com.example.token ada")
        #expect(leaf.name == "com.example.token ada")
    }

    @Test func theNameForProgramsIsTheBetter() throws {
        #expect(try json(#"{"name":"The token","key":"api_token","value":"x"}"#).only("value, api_token").text == "x")
        #expect(try json(#"{"key":"api_token","name":"The token","value":"x"}"#).only("value, api_token").text == "x")
    }

    /// A name may be a secret or a person's address, and reports show paths.
    @Test(arguments: ["gh_aB3dE5fG7hI9kL", "ada@example.com", "aBcDeFgHiJkLmNoPq", "4711", "R3f/9+x=="])
    func possibleSecretsAreNotInThePath(_ name: String) throws {
        let leaf = try json(#"{"key":"\#(name)","value":"abc"}"#).only("value")
        #expect(leaf.name == name)
    }

    @Test func overlongValuesAreVisitedImmediately() throws {
        let long = String(repeating: "x ", count: 2049)
        let reading = json(#"{"value":"\#(long)","name":"a_token"}"#)
        #expect(try reading.only("value").text == long)
        let many = json("{" + String(repeating: #""value":"abc","#, count: 10_000) + #""name":"a_token"}"#)
        #expect(many.leaves.count == 10_001)
        #expect(many.leaves.count { $0.name == "a_token" } == 4)
    }

    @Test(arguments: [
        #"{"a":{"value":"abc""#, #"{"a":{"value":"abc","x":"#, #"{"a":{"value":"abc",, }"#, #"{"a":{"value":"abc"]"#,
    ])
    func whatWaitsIsVisitedWhereTheObjectBreaks(_ text: String) throws {
        let reading = json(text)
        #expect(try reading.only("a.value").text == "abc")
    }

    @Test(arguments: [
        #"{"kty":"EC","crv":"P-256","d":"{}"}"#, #"{"d":"{}","e":"AQAB","kty":"RSA"}"#, #"{"k":"{}","kty":"oct"}"#,
        #"{"keys":[{"kty":"oct","k":"{}"}]}"#,
    ]) func thePrivatePartOfAWebKeyIsCalledSo(_ form: String) throws {
        let secret = "x7Kq9_ZpLm2-Tv4BcRnYs8WdEf6GhJ1u"
        let leaf = try #require(json(form.replacing("{}", with: secret)).leaves.first { $0.text == secret })
        #expect(leaf.name == (form.contains("oct") ? "jwk.k" : "jwk.d"))
        #expect(!leaf.place.contains("jwk"))
    }

    @Test func aMemberDIsNotAKeyByItself() throws {
        let reading = json(#"{"d":"x7Kq9_ZpLm2-Tv4BcRnYs8WdEf6GhJ1u","k":"x7Kq9_ZpLm2-Tv4BcRnYs8WdEf6GhJ1u"}"#)
        #expect(reading.leaves.map(\.name) == ["d", "k"])
    }

    // MARK: Property lists

    private static let members = [
        "{'value': 'abc', 'key': 'refresh_token'}", "{'key': 'refresh_token', 'value': 'abc'}",
    ]

    @Test(arguments: ["FMT_BINARY", "FMT_XML"], members)
    func membersOfPropertyListsAreNamed(_ format: String, _ members: String) throws {
        let reading = CarrierReading(
            try Python.bytes("write(plistlib.dumps({'list': [\(members)]}, fmt=\(format), sort_keys=False))"))
        let leaf = try reading.only("list[0].value, refresh_token")
        #expect(leaf.name == "refresh_token")
        #expect(leaf.text == "abc")
    }

    @Test(arguments: ["FMT_BINARY", "FMT_XML"])
    func keychainItemsAndWebKeysOfPropertyListsAreNamed(_ format: String) throws {
        let reading = CarrierReading(
            try Python.bytes(
                """
                write(plistlib.dumps({'items': [{'acct': 'refresh_token', 'svce': 'host', 'v_Data': b'abcdefgh'}],
                    'jwk': {'d': 'x7Kq9_ZpLm2-Tv4BcRnYs8WdEf6GhJ1u', 'kty': 'RSA'}}, fmt=\(format)))
                """))
        #expect(try reading.only("items[0].v_Data, host refresh_token").kind == .data)
        #expect(try reading.only("jwk.d").name == "jwk.d")
    }

    @Test func membersOfOpenStepAreNamed() throws {
        let reading = CarrierReading(
            Array("{ list = ( { value = abc; key = refresh_token; } ); }".utf8), named: "a.plist")
        #expect(try reading.only("list[0].value, refresh_token").text == "abc")
    }

    @Test func membersOfArchivesAreNamed() throws {
        let reading = CarrierReading(
            try Python.bytes(
                KeyedArchiveTests.archiver
                    + "write(binary(a.value(root=a.box([{'value': 'abc', 'name': 'refresh_token'}]))))"))
        let leaf = try reading.only("root[0].value, refresh_token")
        #expect(leaf.name == "refresh_token")
    }
}
