/// Secrets without a form of their own, which the vendor's name in the name of their field gives away.
enum ContextRules {
    private struct Entry {
        let rule: SecretRule
        /// One of these has to be in the name, in small letters without signs.
        let vendors: [StaticString]
        let fits: @Sendable (SearchText) -> Bool

        func names(_ name: SearchText) -> Bool {
            let letters = name.bytes.map(\.lowered).filter(ByteClass.lower.contains)
            return letters.withUnsafeBytes { letters in
                let letters = SearchText(letters)
                return vendors.contains { letters.first($0, in: 0..<letters.count) != nil }
            }
        }
    }

    static func rule(for value: SearchText, named name: SearchText) -> SecretRule? {
        guard value.count >= 32, value.count <= 40,
            let entry = entries.first(where: { $0.fits(value) && $0.names(name) })
        else { return nil }
        return Placeholder.isIn(field: value) || Entropy.bitsPerByte(value) < 3 ? nil : entry.rule
    }

    static let all = entries.map(\.rule)

    private static let entries: [Entry] = [
        Entry(rule: CloudRules.awsSecret, vendors: ["aws", "secretaccesskey", "secretkey", "ssecret"]) {
            $0.count == 40 && $0.allSatisfy(.base64) && !$0.allSatisfy(.hex)
        },
        Entry(rule: heroku, vendors: ["heroku"]) { $0.isUUID },
        Entry(rule: datadog, vendors: ["datadog", "ddapikey", "ddapp"]) {
            ($0.count == 32 || $0.count == 40) && $0.allSatisfy(.hex)
        },
        Entry(rule: CloudRules.twilio, vendors: ["twilio"]) { $0.count == 32 && $0.allSatisfy(.hex) },
        Entry(rule: cloudflare, vendors: ["cloudflare", "cfapi"]) {
            $0.count == 40 && $0.allSatisfy(.base64url) || $0.count == 37 && $0.allSatisfy(.hex)
        },
        Entry(rule: facebook, vendors: ["facebook", "fbapp", "fbsecret", "instagram"]) {
            $0.count == 32 && $0.allSatisfy(.hex)
        },
        Entry(rule: algolia, vendors: ["algolia"]) { $0.count == 32 && $0.allSatisfy(.hex) },
    ]

    private static let heroku = SecretRule(
        id: "token.heroku", title: "A Heroku key",
        meaning: "Whoever reads it can change and read applications on Heroku.",
        remedy: "Regenerate it in Heroku's account settings.", weight: .high)
    private static let datadog = SecretRule(
        id: "token.datadog", title: "A Datadog key", meaning: "Whoever reads it can send or read measurements.",
        remedy: "Revoke it under Organization Settings in Datadog.", weight: .medium)
    private static let cloudflare = SecretRule(
        id: "token.cloudflare", title: "A Cloudflare key", meaning: "Whoever reads it can change zones and traffic.",
        remedy: "Roll it in Cloudflare's profile, under API Tokens.", weight: .high)
    private static let facebook = SecretRule(
        id: "token.facebook-secret", title: "A Facebook application secret",
        meaning: "Whoever reads it can act as the application.",
        remedy: "Reset it in the application's settings at Meta.", weight: .high)
    private static let algolia = SecretRule(
        id: "token.algolia", title: "An Algolia key", meaning: "Whoever reads it can search or change indices.",
        remedy: "Regenerate it in Algolia's dashboard.", weight: .medium)
}
