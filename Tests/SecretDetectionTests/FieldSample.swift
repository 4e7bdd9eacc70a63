import Testing

/// A name and its value, and the rule that finds them; the value is a form as in `SecretSample`.
struct FieldSample: Sendable, CustomTestStringConvertible {
    let rule: String
    let name: String
    let value: String

    init(_ rule: String, _ name: String, _ value: String) {
        self.rule = rule
        self.name = name
        self.value = value
    }

    var testDescription: String { "\(name): \(rule)" }

    func drawn(seed: UInt64) -> String { SecretSample(rule, value).drawn(seed: seed) }
}

enum FieldSamples {
    static let all = [
        FieldSample("field.password", "password", "{an6}!{an6}"),
        FieldSample("field.password", "userPassword", "Copper{low4}4{dig2}1!"),
        FieldSample("field.password", "DB_PASSWORD", "{an16}"), FieldSample("field.password", "db.pass", "{an12}7"),
        FieldSample("field.password", "wifi-passwort", "{an12}7"),
        FieldSample("field.passphrase", "passphrase", "copper-lantern-velvet-orbit-maple"),
        FieldSample("field.secret", "clientSecret", "{url32}"), FieldSample("field.secret", "webhook_secret", "{an24}"),
        FieldSample("field.token", "refresh_token", "{url64}"), FieldSample("field.token", "accesstoken", "{hex40}"),
        FieldSample("field.token", "accessToken", "{hex8}-{hex4}-{hex4}-{hex4}-{hex12}"),
        FieldSample("field.token", "X-Auth-Token", "{an32}"),
        FieldSample("field.api-key", "api_key", "{an32}"), FieldSample("field.api-key", "x-api-key", "{hex32}"),
        FieldSample("field.api-key", "encryptionKey", "{std43}="),
        FieldSample("field.private-key", "privateKey", "{std43}="),
        FieldSample("field.session", "sessionId", "{an32}"), FieldSample("field.session", "PHPSESSID", "{lan26}"),
        FieldSample("field.credential", "auth", "{an15}7{an24}9"), FieldSample("field.pin", "pin", "4{dig2}1"),
        FieldSample("field.pin", "pinCode", "7{dig4}2"),
        FieldSample("field.one-time-code", "otp", "92{dig3}1"),
        FieldSample("field.one-time-code", "recovery_code", "{hex5}8-{hex5}1"),
        FieldSample("field.card-number", "cardNumber", "4539 5787 6362 1486"),
        FieldSample("field.card-code", "cvv", "7{dig1}3"),
        FieldSample("field.social-security", "ssn", "2{dig1}9-4{dig1}-7{dig2}1"),
        FieldSample(
            "field.seed-phrase", "mnemonic",
            "river stone copper lantern velvet orbit maple thunder pickle canyon ladder mirror"),
        FieldSample("token.aws-secret", "aws_secret_access_key", "{std40}"),
        FieldSample("token.aws-secret", "secretAccessKey", "{std40}"),
        FieldSample("token.heroku", "herokuApiKey", "{hex8}-{hex4}-{hex4}-{hex4}-{hex12}"),
        FieldSample("token.datadog", "DD_API_KEY", "{hex32}"),
        FieldSample("token.cloudflare", "CLOUDFLARE_API_TOKEN", "{url40}"),
        FieldSample("token.facebook-secret", "facebookAppSecret", "{hex32}"),
        FieldSample("token.algolia", "algoliaAdminKey", "{hex32}"),
        FieldSample("token.twilio", "twilioAuthToken", "{hex32}"),
    ]

    /// Common names and values of containers.
    static let harmless: [(name: String, value: String)] = [
        ("password", "Passwort"), ("password", "Contraseña"), ("password", "Mot de passe"), ("password", "パスワード"),
        ("password", "Enter your password"), ("password", "Passwort (mind. 8 Zeichen)"),
        ("password_label", "Kennwort eingeben"),
        ("forgotPassword", "Passwort vergessen?"), ("password", "changeme"), ("password", "********"),
        ("password", "<password>"),
        ("password", "${DB_PASSWORD}"), ("password", "{{ vault.password }}"), ("password", "%(password)s"),
        ("password", "$DB_PASSWORD"),
        ("password", "required|string|min:8"), ("password", "true"),
        ("passwordResetUrl", "https://host.test/reset?x=12345"),
        ("passwordChangedAt", "2026-01-02T03:04:05Z"), ("password", "user@host.com"), ("token", "<your-token>"),
        ("token", "xxxxxxxxxxxxxxxxxxxxxxxx"),
        ("token", "123e4567-e89b-12d3-a456-426614174000"), ("token", "keyword.operator.assignment"),
        ("tokenType", "Bearer"),
        ("tokenExpiry", "1763740800"), ("nextPageToken", "{an24}"), ("requestId", "{hex32}"), ("etag", "{hex40}"),
        ("sha256", "{hex64}"),
        ("commit", "{hex40}"), ("integrity", "sha512-{std86}=="), ("checksum", "{hex64}"),
        ("key", "settings.notifications.enabled"),
        ("cacheKey", "{hex32}"), ("primaryKey", "{hex8}-{hex4}-{hex4}-{hex4}-{hex12}"), ("publicKey", "{std120}"),
        ("token", "data:image/png;base64,iVBORw0KGgo{std200}"), ("secret", "U0VBTA{std200}"), ("sessionTimeout", "30m"),
        ("session", "Session 5"),
        ("ssn", "123-45-6789"), ("ssn", "000-12-3456"), ("cardNumber", "4242 4242 4242 4242"),
        ("cardNumber", "4539578763621487"), ("pinned", "1"),
        ("secret", "vault:secret/data/app"), ("apiKey", "process.env.API_KEY"), ("apiKey", "INSERT_API_KEY_HERE"),
        ("author", "J0hnSm1th99xyz"),
        ("credential_id", "12345678"), ("privateKey", "/etc/ssl/private/server.key"), ("tokenSymbol", "USDC"),
        ("compass", "N42E13"),
        ("AWS::IAM::AccessKey", "{hex16}"), ("secret_key", "sk_test_{an24}"), ("seed", "1234567890"),
        ("wifiPassword", "WLAN-Passwort"),
    ]
}
