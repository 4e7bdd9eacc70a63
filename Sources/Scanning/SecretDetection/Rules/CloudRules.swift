/// Rules for clouds and hosting.
enum CloudRules {
    static let awsKey = SecretRule(
        id: "token.aws", title: "An AWS access key", meaning: "Together with its secret it can use an AWS account.",
        remedy: "Deactivate it in IAM, and look through CloudTrail.", weight: .high)
    static let awsSecret = SecretRule(
        id: "token.aws-secret", title: "An AWS secret access key",
        meaning: "An attacker who reads it can use the AWS account as its owner.",
        remedy: "Deactivate it in IAM, and look through CloudTrail.", weight: .critical)
    static let twilio = SecretRule(
        id: "token.twilio", title: "A Twilio credential",
        meaning: "An attacker who reads it can send messages and calls at the owner's cost.",
        remedy: "Delete it in Twilio's console, under API keys.", weight: .high)
    private static let bedrock = SecretRule(
        id: "token.aws-bedrock", title: "An Amazon Bedrock key",
        meaning: "An attacker who reads it can use models at the owner's cost.",
        remedy: "Delete it in IAM, under the user's service credentials.", weight: .high)
    private static let googleKey = SecretRule(
        id: "token.google-api-key", title: "A Google API key",
        meaning: "An attacker who reads it can use the services that it is not restricted from.",
        remedy: "Restrict it to the application, or replace it, in Google Cloud's credentials page.", weight: .medium)
    private static let googleSecret = SecretRule(
        id: "token.google-oauth-secret", title: "A Google OAuth client secret",
        meaning: "An attacker who reads it can ask for tokens as the client.",
        remedy: "Reset it in Google Cloud's credentials page.", weight: .high)
    private static let googleToken = SecretRule(
        id: "token.google-oauth", title: "A Google access token",
        meaning: "An attacker who reads it can act as its owner for about an hour.",
        remedy: "Revoke it, and keep the refresh token sealed.", weight: .high)
    private static let googleRefresh = SecretRule(
        id: "token.google-refresh", title: "A Google refresh token",
        meaning: "An attacker who reads it can continue to act as its owner.",
        remedy: "Revoke it in the owner's Google account.", weight: .high)
    private static let azureStorage = SecretRule(
        id: "token.azure-storage", title: "An Azure account key",
        meaning: "An attacker who reads it can read and change all that the account stores.",
        remedy: "Rotate it in the account's access keys.", weight: .critical)
    private static let azureShared = SecretRule(
        id: "token.azure-sas", title: "An Azure shared access signature",
        meaning: "An attacker who reads it can do what it was signed for, until it expires.",
        remedy: "Rotate the key that signed it.", weight: .high)
    private static let azureClient = SecretRule(
        id: "token.azure-client-secret", title: "An Entra client secret",
        meaning: "An attacker who reads it can sign in as the application.",
        remedy: "Delete it among the application's certificates and secrets.", weight: .high)
    private static let azureDevOps = SecretRule(
        id: "token.azure-devops", title: "An Azure DevOps token",
        meaning: "An attacker who reads it can use repositories and pipelines.",
        remedy: "Revoke it among the user's personal access tokens.", weight: .high)
    private static let digitalOcean = SecretRule(
        id: "token.digitalocean", title: "A DigitalOcean token",
        meaning: "An attacker who reads it can use the account's servers.",
        remedy: "Delete it under API in DigitalOcean's panel.", weight: .critical)
    private static let heroku = SecretRule(
        id: "token.heroku-platform", title: "A Heroku token",
        meaning: "An attacker who reads it can change and read applications on Heroku.",
        remedy: "Revoke it in Heroku's account settings.", weight: .high)
    private static let alibaba = SecretRule(
        id: "token.alibaba", title: "An Alibaba Cloud access key",
        meaning: "Together with its secret it can use an account.",
        remedy: "Disable it in RAM.", weight: .high)
    private static let fly = SecretRule(
        id: "token.fly", title: "A Fly.io token",
        meaning: "An attacker who reads it can deploy and change applications.",
        remedy: "Revoke it with `fly tokens revoke`.", weight: .high)
    private static let cloudflareCA = SecretRule(
        id: "token.cloudflare-ca", title: "A Cloudflare Origin CA key",
        meaning: "An attacker who reads it can obtain certificates.",
        remedy: "Change it in Cloudflare's profile, under API Tokens.", weight: .high)
    private static let supabase = SecretRule(
        id: "token.supabase", title: "A Supabase key",
        meaning: "An attacker who reads it can use a project past its row rules.",
        remedy: "Revoke it in the project's or the account's settings.", weight: .high)
    private static let databricks = SecretRule(
        id: "token.databricks", title: "A Databricks token", meaning: "An attacker who reads it can use a workspace.",
        remedy: "Revoke it in the user's settings.", weight: .high)
    private static let planetScale = SecretRule(
        id: "token.planetscale", title: "A PlanetScale credential",
        meaning: "An attacker who reads it can use a database.",
        remedy: "Delete it in PlanetScale's settings.", weight: .high)

    static let detectors: [Detector] =
        ["AKIA", "ASIA", "ABIA", "ACCA"].flatMap { prefix in
            Detector.tokens(
                awsKey,
                TokenShape(prefix, .run(.base32, 16)).with {
                    $0.entropy = 2.6; $0.left = .word
                })
        }
        + ["AKIA", "ASIA"].map { prefix in Detector(awsSecret, prefix) { NeighbouringSecret.find(in: $0, $1) } }
        + Detector.tokens(bedrock, TokenShape("ABSK", .run(.base64, 109...269), .run(.equals, 0...2)))
        + Detector.tokens(googleKey, TokenShape("AIza", .run(.base64url, 35)).with { $0.entropy = 3.2 })
        + Detector.tokens(googleSecret, TokenShape("GOCSPX-", .run(.base64url, 28)))
        + Detector.tokens(googleToken, TokenShape("ya29.", .run(.base64url, 40...2048)))
        + Detector.tokens(
            googleRefresh,
            TokenShape("1//0", .run(.base64url, 38...128)).with {
                $0.entropy = 3.8; $0.left = .anyBase64
            })
        + Detector.tokens(
            azureStorage, TokenShape("AccountKey=", .run(.base64, 86), .text("==")).with { $0.isPrefixSecret = false },
            TokenShape("SharedAccessKey=", .run(.base64, 43), .text("=")).with { $0.isPrefixSecret = false })
        + [Detector(azureShared, "sig=") { SharedAccessSignature.find(in: $0, $1) }]
        + Detector.tokens(
            azureClient,
            TokenShape("Q~", .run(.entra, 31...34)).with {
                $0.before = (.entra, 4...4); $0.left = .entra; $0.entropy = 3.5
            }
        ) { text, draft in ByteClass.digit.contains(text[draft.range.lowerBound + 3]) ? draft : nil }
        + Detector.tokens(
            azureDevOps, TokenShape("AZDO", .run(.alphanumeric, 4)).with { $0.before = (.alphanumeric, 76...76) })
        + Detector.tokens(
            digitalOcean, TokenShape("dop_v1_", .run(.lowerHex, 64)), TokenShape("doo_v1_", .run(.lowerHex, 64)),
            TokenShape("dor_v1_", .run(.lowerHex, 64)))
        + Detector.tokens(heroku, TokenShape("HRKU-", .run(.base64url, 36...64)))
        + Detector.tokens(
            alibaba,
            TokenShape("LTAI", .run(.alphanumeric, 12...20)).with {
                $0.entropy = 3; $0.certainty = .likely
            })
        + Detector.tokens(
            fly, TokenShape("fo1_", .run(.base64url, 43)),
            TokenShape("fm1r_", .run(.base64, 100...1024), .run(.equals, 0...3)),
            TokenShape("fm2_", .run(.base64, 100...1024), .run(.equals, 0...3)))
        + Detector.tokens(cloudflareCA, TokenShape("v1.0-", .run(.lowerHex, 24), .text("-"), .run(.lowerHex, 146)))
        + Detector.tokens(
            supabase, TokenShape("sbp_", .run(.lowerHex, 40)), TokenShape("sb_secret_", .run(.base64url, 20...64)))
        + Detector.tokens(
            databricks, TokenShape("dapi", .run(.lowerHex, 32), .optional([.text("-"), .run(.digit, 1)])))
        + Detector.tokens(
            planetScale, TokenShape("pscale_tkn_", .run(.dotted, 32...64)),
            TokenShape("pscale_pw_", .run(.dotted, 32...64)),
            TokenShape("pscale_oauth_", .run(.dotted, 32...64)))
}

extension ByteClass {
    fileprivate static let entra = ByteClass.alphanumeric + ByteClass("_~.-")
    static let dotted = ByteClass.base64url + ByteClass(".=")
}

/// Signatures in addresses of Azure storage: `sv=…&sig=…`.
enum SharedAccessSignature {
    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        guard text.beginsWord(at: keyword.lowerBound, unlike: .word) else { return nil }
        let end = text.end(of: .signature, from: keyword.upperBound, atMost: 80)
        let signature = keyword.upperBound..<end
        guard (43...64).contains(signature.count), Entropy.bitsPerByte(text.slice(signature)) >= 3.8 else { return nil }
        let around = keyword.lowerBound - 400..<end + 400
        let query = text.slice(around)
        let signed: [StaticString] = ["sv=", "se=", "st=", "sp=", "sr="]
        guard signed.count(where: { query.first($0, in: 0..<query.count) != nil }) >= 2 else { return nil }
        return Detector.Draft(range: signature)
    }
}

extension ByteClass {
    fileprivate static let signature = ByteClass.base64 + ByteClass("%=")
}

/// The secret of an AWS access key that follows the key without a name: in a table, a URL, two lines.
enum NeighbouringSecret {
    private static let reach = 160

    static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let keyEnd = text.end(of: .base32, from: keyword.upperBound, atMost: 17)
        guard keyEnd - keyword.upperBound == 16, text.beginsWord(at: keyword.lowerBound, unlike: .word) else {
            return nil
        }
        var position = keyEnd
        let bound = min(text.count, keyEnd + reach)
        while position < bound {
            let end = text.end(of: .base64, from: position, atMost: 64)
            if end - position == 40, isSecret(text.slice(position..<end)) {
                return Detector.Draft(range: position..<end, certainty: .likely)
            }
            position = end + 1
        }
        return nil
    }

    private static func isSecret(_ text: SearchText) -> Bool {
        !text.allSatisfy(.hex) && Entropy.bitsPerByte(text) >= 4 && !Placeholder.isIn(token: text)
            && !TextComposition(text).isIdentifier
    }
}
