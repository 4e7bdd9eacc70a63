/// Rules for social networks, maps, media and other services of applications.
enum ServiceRules {
    private static func rule(
        _ id: String, _ name: String, _ meaning: String, _ remedy: String, _ weight: SecretRule.Weight = .high
    ) -> SecretRule {
        SecretRule(
            id: id, title: name, meaning: "An attacker who reads it can \(meaning).", remedy: remedy, weight: weight)
    }

    private static let facebook = rule(
        "token.facebook", "A Facebook access token", "act as its owner or page",
        "Revoke it in the owner's settings at Meta.")
    private static let firebase = rule(
        "token.firebase-messaging", "A Firebase server key", "send notifications to every user",
        "Move to the HTTP v1 interface, and delete the key in Firebase's console.")
    private static let mapbox = rule(
        "token.mapbox", "A Mapbox secret token", "use and change maps at its owner's cost",
        "Delete it in the Mapbox account.")
    private static let dropbox = rule(
        "token.dropbox", "A Dropbox token", "read and change its owner's files", "Revoke it in Dropbox's app console.")
    private static let twitter = rule(
        "token.twitter", "A bearer token of X", "read as the application", "Regenerate it in X's developer portal.",
        .medium)
    private static let cloudinary = rule(
        "token.cloudinary", "A Cloudinary address with its secret", "change what it stores",
        "Replace the key in Cloudinary's console.")
    private static let contentful = rule(
        "token.contentful", "A Contentful token", "change content", "Revoke it in Contentful's settings.")
    private static let shippo = rule("token.shippo", "A Shippo token", "buy postage", "Delete it in Shippo's settings.")
    private static let adobe = rule(
        "token.adobe", "An Adobe client secret", "act as the application", "Replace it in Adobe's developer console.")
    private static let typeform = rule(
        "token.typeform", "A Typeform token", "read answers to forms", "Delete it in Typeform's settings.", .medium)
    private static let duffel = rule(
        "token.duffel", "A Duffel token", "book at its owner's cost", "Revoke it in Duffel's dashboard.")

    static let detectors: [Detector] =
        Detector.tokens(
            CloudRules.twilio,
            TokenShape("SK", .run(.lowerHex, 32)).with {
                $0.left = .anyBase64; $0.entropy = 3
            },
            TokenShape("AC", .run(.lowerHex, 32)).with {
                $0.left = .anyBase64; $0.entropy = 3; $0.certainty = .likely
            })
        + Detector.tokens(
            facebook, TokenShape("EAACEdEose0cBA", .run(.alphanumeric, 20...300)),
            TokenShape("EAA", .run(.alphanumeric, 90...300)).with {
                $0.left = .anyBase64; $0.entropy = 4.2
            })
        + Detector.tokens(
            firebase,
            TokenShape(":APA91b", .run(.base64url, 100...180)).with { $0.before = (.base64url, 8...24) },
            TokenShape("AAAA", .run(.base64url, 7), .text(":"), .run(.base64url, 140)).with { $0.entropy = 4 })
        + Detector.tokens(
            mapbox, TokenShape("sk.eyJ", .run(.base64url, 60...200), .text("."), .run(.base64url, 20...24)))
        + Detector.tokens(
            dropbox, TokenShape("sl.", .run(.base64url, 130...1200)).with { $0.entropy = 4 })
        + Detector.tokens(
            twitter,
            TokenShape("AAAAAAAAAAAAAAAAAAAAA", .run(.bearer, 60...110)).with {
                $0.entropy = 4; $0.left = .anyBase64
            })
        + [Detector(cloudinary, "cloudinary://") { CredentialAddress.find(in: $0, $1.upperBound - 3..<$1.upperBound) }]
        + Detector.tokens(contentful, TokenShape("CFPAT-", .run(.base64url, 43)))
        + Detector.tokens(shippo, TokenShape("shippo_live_", .run(.hex, 40)))
        + Detector.tokens(adobe, TokenShape("p8e-", .run(.base64url, 32)))
        + Detector.tokens(typeform, TokenShape("tfp_", .run(.dotted, 40...64)))
        + Detector.tokens(duffel, TokenShape("duffel_live_", .run(.base64url, 43)))
}

extension ByteClass {
    fileprivate static let bearer = ByteClass.alphanumeric + ByteClass("%")
}

/// Rules for language model services and similar.
enum ModelRules {
    private static func rule(_ id: String, _ name: String, _ place: String) -> SecretRule {
        SecretRule(
            id: id, title: name,
            meaning: "An attacker who reads it can use models at its owner's cost, and may read stored data.",
            remedy: "Delete it in \(place).", weight: .high)
    }

    private static let openAI = rule("token.openai", "An OpenAI key", "OpenAI's dashboard, under API keys")
    private static let anthropic = rule("token.anthropic", "An Anthropic key", "Anthropic's console, under API keys")
    private static let huggingFace = rule(
        "token.huggingface", "A Hugging Face token", "Hugging Face's settings, under Access Tokens")
    private static let groq = rule("token.groq", "A Groq key", "Groq's console, under API keys")
    private static let perplexity = rule("token.perplexity", "A Perplexity key", "Perplexity's API settings")
    private static let xAI = rule("token.xai", "An xAI key", "xAI's console, under API keys")
    private static let replicate = rule("token.replicate", "A Replicate token", "Replicate's account, under API tokens")
    private static let openRouter = rule("token.openrouter", "An OpenRouter key", "OpenRouter's settings, under Keys")

    static let detectors: [Detector] =
        Detector.tokens(
            openAI,
            TokenShape("T3BlbkFJ", .run(.base64url, 20...90)).with {
                $0.before = (.base64url, 23...120)
                $0.entropy = 3.5
            }
        ) { text, draft in text.holds("sk-", at: draft.range.lowerBound) ? draft : nil }
        + Detector.tokens(
            openAI, TokenShape("sk-proj-", .run(.base64url, 40...200)).with { $0.entropy = 4 },
            TokenShape("sk-svcacct-", .run(.base64url, 40...200)).with { $0.entropy = 4 },
            TokenShape("sk-admin-", .run(.base64url, 40...200)).with { $0.entropy = 4 },
            TokenShape("sk-", .run(.alphanumeric, 48)).with {
                $0.entropy = 4.2; $0.certainty = .likely
            })
        + Detector.tokens(
            anthropic, TokenShape("sk-ant-", .run(.lowerAlphanumeric, 3...8), .text("-"), .run(.base64url, 40...128)))
        + Detector.tokens(
            huggingFace, TokenShape("hf_", .run(.alphanumeric, 30...40)).with { $0.entropy = 3.6 },
            TokenShape("api_org_", .run(.letter, 34)))
        + Detector.tokens(groq, TokenShape("gsk_", .run(.alphanumeric, 52)))
        + Detector.tokens(perplexity, TokenShape("pplx-", .run(.alphanumeric, 40...64)))
        + Detector.tokens(xAI, TokenShape("xai-", .run(.alphanumeric, 80)))
        + Detector.tokens(replicate, TokenShape("r8_", .run(.alphanumeric, 37...40)))
        + Detector.tokens(openRouter, TokenShape("sk-or-v1-", .run(.lowerHex, 64)))
}
