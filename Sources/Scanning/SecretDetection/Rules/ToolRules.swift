/// Rules for tools of developers and operators.
enum ToolRules {
    private static func rule(
        _ id: String, _ name: String, _ meaning: String, _ place: String, _ weight: SecretRule.Weight = .high
    ) -> SecretRule {
        SecretRule(
            id: id, title: name, meaning: "An attacker who reads it can \(meaning).", remedy: "Revoke it in \(place).",
            weight: weight)
    }

    private static let newRelic = rule(
        "token.newrelic", "A New Relic key", "read or send measurements", "New Relic's API keys", .medium)
    private static let sentryDSN = rule(
        "token.sentry-dsn", "A Sentry address with its key", "send events in the application's name",
        "the project's client keys in Sentry", .low)
    private static let sentry = rule(
        "token.sentry", "A Sentry token", "read an organisation's events", "Sentry's auth tokens")
    private static let grafana = rule(
        "token.grafana", "A Grafana token", "read or change dashboards and data", "Grafana's service accounts")
    private static let postman = rule(
        "token.postman", "A Postman key", "read collections and what they hold", "Postman's API keys")
    private static let dynatrace = rule(
        "token.dynatrace", "A Dynatrace token", "read or send measurements", "Dynatrace's access tokens")
    private static let notion = rule(
        "token.notion", "A Notion token", "read and change what the integration sees", "Notion's integrations")
    private static let airtable = rule(
        "token.airtable", "An Airtable token", "read and change bases", "Airtable's developer hub")
    private static let figma = rule("token.figma", "A Figma token", "read designs", "Figma's account settings", .medium)
    private static let okta = rule(
        "token.okta", "An Okta token", "change who may sign in", "Okta's API tokens", .critical)
    private static let prefect = rule("token.prefect", "A Prefect key", "run and change flows", "Prefect's API keys")
    private static let buildkite = rule(
        "token.buildkite", "A Buildkite token", "read or run builds", "Buildkite's API access tokens")
    private static let sonar = rule(
        "token.sonar", "A SonarQube token", "read findings in code", "SonarQube's security page", .medium)
    private static let launchDarkly = rule(
        "token.launchdarkly", "A LaunchDarkly key", "read or change flags", "LaunchDarkly's settings", .medium)
    private static let tailscale = rule(
        "token.tailscale", "A Tailscale key", "join or change a network", "Tailscale's admin console", .critical)
    private static let openShift = rule(
        "token.openshift", "An OpenShift token", "use a cluster", "the cluster, with `oc delete oauthaccesstoken`")
    private static let harness = rule("token.harness", "A Harness token", "deploy", "Harness' profile")
    private static let snyk = rule(
        "token.snyk", "A Snyk token", "read findings in code", "Snyk's account settings", .medium)

    static let detectors: [Detector] =
        Detector.tokens(
            newRelic, TokenShape("NRAK-", .run(.upperAlphanumeric, 27)), TokenShape("NRII-", .run(.base64url, 32)),
            TokenShape("NRJS-", .run(.lowerHex, 19)), TokenShape("NRAA-", .run(.hex, 27)),
            TokenShape("FFFFNRAL", .run(.hex, 0)).with { $0.before = (.lowerHex, 32...32) })
        + [Detector(sentryDSN, "://") { SentryAddress.find(in: $0, $1) }]
        + Detector.tokens(
            sentry, TokenShape("sntryu_", .run(.lowerHex, 64)), TokenShape("sntrys_", .run(.dottedBase64, 80...400)))
        + Detector.tokens(
            grafana, TokenShape("glsa_", .run(.alphanumeric, 32), .text("_"), .run(.hex, 8)),
            TokenShape("glc_", .run(.base64, 32...400), .run(.equals, 0...3)))
        + Detector.tokens(postman, TokenShape("PMAK-", .run(.lowerHex, 24), .text("-"), .run(.lowerHex, 34)))
        + Detector.tokens(
            dynatrace, TokenShape("dt0c01.", .run(.upperAlphanumeric, 24), .text("."), .run(.upperAlphanumeric, 64)))
        + Detector.tokens(
            notion, TokenShape("ntn_", .run(.digit, 11), .run(.alphanumeric, 35)),
            TokenShape("secret_", .run(.alphanumeric, 43)).with { $0.entropy = 4 })
        + Detector.tokens(
            airtable,
            TokenShape("pat", .run(.alphanumeric, 14), .text("."), .run(.lowerHex, 64)).with { $0.left = .anyBase64 })
        + Detector.tokens(figma, TokenShape("figd_", .run(.base64url, 36...44)))
        + Detector.tokens(okta, TokenShape("SSWS 00", .run(.base64url, 40)).with { $0.entropy = 3.8 })
        + Detector.tokens(prefect, TokenShape("pnu_", .run(.alphanumeric, 36)))
        + Detector.tokens(buildkite, TokenShape("bkua_", .run(.lowerHex, 40)))
        + Detector.tokens(
            sonar, TokenShape("squ_", .run(.lowerHex, 40)), TokenShape("sqp_", .run(.lowerHex, 40)),
            TokenShape("sqa_", .run(.lowerHex, 40)))
        + Detector.tokens(
            launchDarkly, TokenShape("api-", .run(.uuid, 36)).with { $0.certainty = .likely },
            TokenShape("sdk-", .run(.uuid, 36)).with { $0.certainty = .likely })
        + Detector.tokens(
            tailscale,
            TokenShape(
                "tskey-", .run(.lower, 3...10), .text("-"), .run(.alphanumeric, 8...24), .text("-"),
                .run(.alphanumeric, 16...48)))
        + Detector.tokens(openShift, TokenShape("sha256~", .run(.base64url, 43)))
        + Detector.tokens(
            harness,
            TokenShape(
                "pat.", .run(.base64url, 22), .text("."), .run(.alphanumeric, 24), .text("."), .run(.alphanumeric, 20)),
            TokenShape(
                "sat.", .run(.base64url, 22), .text("."), .run(.alphanumeric, 24), .text("."), .run(.alphanumeric, 20)))
        + Detector.tokens(
            snyk, TokenShape("snyk_uat.", .run(.lowerHex, 8), .text("."), .run(.dotted, 40...400)),
            TokenShape("snyk_sat.", .run(.lowerHex, 8), .text("."), .run(.dotted, 40...400)))
}

extension ByteClass {
    fileprivate static let dottedBase64 = ByteClass.base64 + ByteClass("_=-")
}
