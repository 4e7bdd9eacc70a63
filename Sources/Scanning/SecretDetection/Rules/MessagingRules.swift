internal import PropertyLists

/// Messages: chat, mail, telephone.
enum MessagingRules {
    private static let slack = SecretRule(
        id: "token.slack", title: "A Slack token",
        meaning: "An attacker who reads it can read and write in a workspace.",
        remedy: "Revoke it with Slack's `auth.revoke`, or in the application's settings.", weight: .high)
    private static let slackHook = SecretRule(
        id: "token.slack-webhook", title: "A Slack webhook",
        meaning: "An attacker who reads it can write in a channel.",
        remedy: "Remove it in the application's settings.", weight: .medium)
    private static let teamsHook = SecretRule(
        id: "token.teams-webhook", title: "A Teams webhook",
        meaning: "An attacker who reads it can write in a channel.",
        remedy: "Remove the connector from the channel.", weight: .medium)
    private static let discord = SecretRule(
        id: "token.discord", title: "A Discord bot's token", meaning: "An attacker who reads it can act as the bot.",
        remedy: "Reset it in Discord's developer portal.", weight: .high)
    private static let discordHook = SecretRule(
        id: "token.discord-webhook", title: "A Discord webhook",
        meaning: "An attacker who reads it can write in a channel.",
        remedy: "Delete it in the channel's settings.", weight: .medium)
    private static let telegram = SecretRule(
        id: "token.telegram", title: "A Telegram bot's token", meaning: "An attacker who reads it can act as the bot.",
        remedy: "Revoke it with BotFather.", weight: .high)
    private static let sendGrid = SecretRule(
        id: "token.sendgrid", title: "A SendGrid key", meaning: "An attacker who reads it can send mail as its owner.",
        remedy: "Delete it in SendGrid's settings.", weight: .high)
    private static let mailgun = SecretRule(
        id: "token.mailgun", title: "A Mailgun key", meaning: "An attacker who reads it can send mail as its owner.",
        remedy: "Delete it in Mailgun's settings.", weight: .high)
    private static let mailchimp = SecretRule(
        id: "token.mailchimp", title: "A Mailchimp key",
        meaning: "An attacker who reads it can read and mail lists of people.",
        remedy: "Revoke it in Mailchimp's account.", weight: .high)
    private static let mandrill = SecretRule(
        id: "token.mandrill", title: "A Mandrill key", meaning: "An attacker who reads it can send mail as its owner.",
        remedy: "Revoke it in Mandrill's settings.", weight: .high)
    private static let brevo = SecretRule(
        id: "token.brevo", title: "A Brevo key", meaning: "An attacker who reads it can send mail as its owner.",
        remedy: "Delete it in Brevo's settings.", weight: .high)
    private static let resend = SecretRule(
        id: "token.resend", title: "A Resend key", meaning: "An attacker who reads it can send mail as its owner.",
        remedy: "Delete it in Resend's dashboard.", weight: .high)

    static let detectors: [Detector] =
        ["xoxb-", "xoxp-", "xoxa-", "xoxr-", "xoxs-", "xoxo-", "xoxe-", "xoxc-", "xoxd-"].flatMap { prefix in
            Detector.tokens(slack, TokenShape(prefix, .run(.slack, 16...300)).with { $0.entropy = 2.6 })
        }
        + Detector.tokens(
            slack, TokenShape("xapp-", .run(.digit, 1...2), .text("-"), .run(.slack, 30...160)),
            TokenShape("xoxe.xox", .run(.lower, 1), .text("-"), .run(.slack, 60...300)))
        + Detector.tokens(
            slackHook,
            TokenShape(
                "hooks.slack.com", .slash, .either([[.text("services")], [.text("workflows")], [.text("triggers")]]),
                .slash,
                .run(.alphanumeric, 6...16), .slash, .run(.alphanumeric, 6...24), .slash, .run(.base64url, 16...64),
                .optional([.slash, .run(.base64url, 16...64)])
            ).with {
                $0.left = .alphanumeric; $0.entropy = 3.2
            })
        + Detector.tokens(
            teamsHook,
            TokenShape(".webhook.office.com", .slash, .text("webhookb2"), .slash, .run(.teams, 70...400)).with {
                $0.before = (.base64url, 1...64)
            })
        + DiscordToken.detectors(discord)
        + ["discord.com", "discordapp.com"].flatMap { host in
            Detector.tokens(
                discordHook,
                TokenShape(
                    host, .slash, .text("api"), .slash, .text("webhooks"), .slash, .run(.digit, 17...20), .slash,
                    .run(.base64url, 60...80)
                ).with { $0.left = .alphanumeric })
        }
        + Detector.tokens(
            telegram,
            TokenShape(":AA", .run(.base64url, 33)).with {
                $0.before = (.digit, 8...10)
                $0.left = .anyBase64
                $0.entropy = 3.5
            },
            TokenShape("bot", .run(.digit, 8...10), .text(":AA"), .run(.base64url, 33)).with { $0.left = .alphanumeric }
        )
        + Detector.tokens(sendGrid, TokenShape("SG.", .run(.base64url, 16...24), .text("."), .run(.base64url, 40...48)))
        + Detector.tokens(
            mailgun,
            TokenShape("key-", .run(.lowerHex, 32)).with {
                $0.certainty = .likely; $0.entropy = 3
            })
        + Detector.tokens(
            mailchimp,
            TokenShape("-us", .run(.digit, 1...2)).with {
                $0.before = (.lowerHex, 32...32); $0.left = .anyBase64; $0.entropy = 3
            })
        + Detector.tokens(
            mandrill,
            TokenShape("md-", .run(.base64url, 22)).with {
                $0.entropy = 3.6; $0.certainty = .likely
            }
        ) {
            text, draft in ByteClass.mixes(text.slice(draft.range)) ? draft : nil
        }
        + Detector.tokens(
            brevo, TokenShape("xkeysib-", .run(.lowerHex, 64), .text("-"), .run(.alphanumeric, 16)),
            TokenShape("xsmtpsib-", .run(.lowerHex, 64), .text("-"), .run(.alphanumeric, 16)))
        + Detector.tokens(
            resend,
            TokenShape("re_", .run(.alphanumeric, 8), .text("_"), .run(.alphanumeric, 24)).with { $0.entropy = 3.6 })
}

extension ByteClass {
    fileprivate static let slack = ByteClass.alphanumeric + ByteClass("-")
    fileprivate static let teams = ByteClass.alphanumeric + ByteClass("-@/\\")

    /// Returns whether a text contains lowercase letters, capitals and digits.
    static func mixes(_ text: SearchText) -> Bool {
        text.bytes.contains(where: ByteClass.lower.contains) && text.bytes.contains(where: ByteClass.upper.contains)
            && text.bytes.contains(where: ByteClass.digit.contains)
    }
}

/// Tokens of Discord bots: the bot's number in base64, a time and a signature, joined by dots.
enum DiscordToken {
    /// The beginnings of decimal digits in base64.
    private static let heads = ["MT", "MD", "Mj", "Mz", "ND", "NT", "Nj", "Nz", "OD", "OT"]

    static func detectors(_ rule: SecretRule) -> [Detector] {
        heads.map { head in Detector(rule, head) { find(in: $0, $1) } }
    }

    private static func find(in text: SearchText, _ keyword: Range<Int>) -> Detector.Draft? {
        let start = keyword.lowerBound
        let number = text.end(of: .base64url, from: keyword.upperBound, atMost: 30)
        guard (22...28).contains(number - start), text[number] == UInt8(ascii: ".") else { return nil }
        guard text.beginsWord(at: start, unlike: .anyBase64) else { return nil }
        let time = text.end(of: .base64url, from: number + 1, atMost: 8)
        guard (5...7).contains(time - number - 1), text[time] == UInt8(ascii: ".") else { return nil }
        let end = text.end(of: .base64url, from: time + 1, atMost: 64)
        guard (27...45).contains(end - time - 1) else { return nil }
        guard let digits = Base64.decoded(text.slice(start..<number)), digits.allSatisfy(ByteClass.digit.contains)
        else { return nil }
        return Placeholder.hasRow(of: 6, in: text.slice(time..<end)) ? nil : Detector.Draft(range: start..<end)
    }
}
