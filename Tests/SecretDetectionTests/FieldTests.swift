import Testing

@testable import SecretDetection

/// Tests of values that are secrets because of their names.
@Suite struct FieldTests {
    @Test(arguments: FieldSamples.all) func aSecretNamedValueIsFound(_ sample: FieldSample) {
        for seed in UInt64(1)...8 {
            let value = sample.drawn(seed: seed)
            let found = Found.judged(value, named: sample.name)
            #expect(found.map(\.rule.id) == [sample.rule], "seed \(seed)")
            #expect(found.first?.range == 0..<value.utf8.count)
        }
    }

    @Test(arguments: FieldSamples.all) func aSecretNamedValueIsFoundInText(_ sample: FieldSample) {
        for seed in UInt64(1)...4 {
            let value = sample.drawn(seed: seed)
            for text in Self.texts(sample.name, value) {
                let found = Found.all(in: text)
                #expect(found.contains { Found.text($0, of: text) == value }, "seed \(seed), \(text.prefix(8))")
                #expect(Found.isSuspicious(text))
            }
        }
    }

    @Test(arguments: FieldSamples.harmless) func aHarmlessValueIsNotFound(_ name: String, _ form: String) {
        for seed in UInt64(1)...8 {
            let value = SecretSample("", form).drawn(seed: seed)
            #expect(Found.judged(value, named: name).isEmpty, "seed \(seed)")
            for text in Self.texts(name, value) {
                #expect(Found.all(in: text).isEmpty, "seed \(seed), \(text.prefix(8))")
            }
        }
    }

    @Test(arguments: [
        "let password = getPassword()", "password: String", "self.token = token", "var secret: Data?",
        "password = password.trimmed2()",
        "if (a.token===b.token2){return e[0]}", "func setToken(_ token: String) -> Token3",
        "const {token:t1,secret:s2}=n(417);",
        "token: this.props.token1,", "password=$(cat /run/secrets/db1)", "export TOKEN=\"$GITHUB_TOKEN1\"",
        "key: values[i1],",
        "\"js-tokens\": \"^4.0.0\",", "resolved \"https://registry.host/js-tokens-4.0.0.tgz#{hex40}\"",
        "case token1 = 5",
        "assert(token == nil2)", "password: Option<String>,", "pin = 13", "password: required, min 8 characters",
        "\"integrity\": \"sha512-{std86}==\",", "2026-11-21 10:00:00 request_id={hex32} trace={hex16} ok",
    ]) func codeIsNotFound(_ form: String) {
        let text = SecretSample("", form).drawn(seed: 7)
        #expect(Found.all(in: text).isEmpty)
    }

    private static func texts(_ name: String, _ value: String) -> [String] {
        [
            "{\"a\": 1, \"\(name)\": \"\(value)\", \"b\": true}", "    \"\(name)\" : \"\(value)\",\n",
            "<key>\(name)</key>\n\t<string>\(value)</string>",
            "  let x = [\"\(name)\": \"\(value)\"]", "\(name) = '\(value)'\n",
            "log: {\\\"\(name)\\\":\\\"\(value)\\\"}",
        ]
    }
}
