/// Rules for secrets without a form of their own, identified by a vendor's name in the field's name.
enum ContextRules {
    private struct Entry: Sendable {
        let rule: SecretRule
        /// The vendors in lowercase without punctuation. The field's name must contain one of them.
        let vendors: [StaticString]
        let forms: Forms
    }

    /// The forms of the values of these fields.
    private struct Forms: OptionSet {
        let rawValue: Int
        static let hex32 = Forms(rawValue: 1)
        static let hex37 = Forms(rawValue: 2)
        static let hex40 = Forms(rawValue: 4)
        /// 40 letters of base64, not all hexadecimal digits.
        static let base64 = Forms(rawValue: 8)
        /// 40 letters of base64url.
        static let base64url = Forms(rawValue: 16)
        static let uuid = Forms(rawValue: 32)
    }

    /// Returns all forms that a value has.
    private static func forms(of value: SearchText) -> Forms {
        switch value.count {
        case 32: return value.allSatisfy(.hex) ? .hex32 : []
        case 36: return value.isUUID ? .uuid : []
        case 37: return value.allSatisfy(.hex) ? .hex37 : []
        case 40:
            if value.allSatisfy(.hex) { return [.hex40, .base64url] }
            var forms: Forms = value.allSatisfy(.base64) ? .base64 : []
            if value.allSatisfy(.base64url) { forms.insert(.base64url) }
            return forms
        default: return []
        }
    }

    static func rule(for value: SearchText, named name: SearchText) -> SecretRule? {
        let forms = forms(of: value)
        guard !forms.isEmpty, let rule = rule(for: forms, named: name) else { return nil }
        return Placeholder.isIn(field: value) || Entropy.bitsPerByte(value) < 3 ? nil : rule
    }

    private static func rule(for forms: Forms, named name: SearchText) -> SecretRule? {
        let letters = name.bytes.map(\.lowered).filter(ByteClass.lower.contains)
        return letters.withUnsafeBytes { letters in
            let letters = SearchText(letters)
            return entries.first { entry in
                !entry.forms.isDisjoint(with: forms)
                    && entry.vendors.contains { letters.first($0, in: 0..<letters.count) != nil }
            }?.rule
        }
    }

    static let all = entries.map(\.rule)

    private static let entries: [Entry] = [
        Entry(
            rule: CloudRules.awsSecret, vendors: ["aws", "secretaccesskey", "secretkey", "ssecret"], forms: .base64),
        Entry(
            rule: SecretRule(
                id: "token.heroku", title: "A Heroku key",
                meaning: "An attacker who reads it can change and read applications on Heroku.",
                remedy: "Regenerate it in Heroku's account settings.", weight: .high), vendors: ["heroku"], forms: .uuid
        ),
        Entry(
            rule: SecretRule(
                id: "token.datadog", title: "A Datadog key",
                meaning: "An attacker who reads it can send or read measurements.",
                remedy: "Revoke it under Organization Settings in Datadog.", weight: .medium),
            vendors: ["datadog", "ddapikey", "ddapp"], forms: [.hex32, .hex40]),
        Entry(rule: CloudRules.twilio, vendors: ["twilio"], forms: .hex32),
        Entry(
            rule: SecretRule(
                id: "token.cloudflare", title: "A Cloudflare key",
                meaning: "An attacker who reads it can change zones and traffic.",
                remedy: "Roll it in Cloudflare's profile, under API Tokens.", weight: .high),
            vendors: ["cloudflare", "cfapi"], forms: [.base64url, .hex37]),
        Entry(
            rule: SecretRule(
                id: "token.facebook-secret", title: "A Facebook application secret",
                meaning: "An attacker who reads it can act as the application.",
                remedy: "Reset it in the application's settings at Meta.", weight: .high),
            vendors: ["facebook", "fbapp", "fbsecret", "instagram"], forms: .hex32),
        Entry(
            rule: SecretRule(
                id: "token.algolia", title: "An Algolia key",
                meaning: "An attacker who reads it can search or change indices.",
                remedy: "Regenerate it in Algolia's dashboard.", weight: .medium), vendors: ["algolia"], forms: .hex32),
    ]
}
