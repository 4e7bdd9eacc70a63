/// Services of language models and the like.
enum ModelRules {
    private static func rule(_ id: String, _ name: String, _ place: String) -> SecretRule {
        SecretRule(
            id: id, title: name,
            meaning: "Whoever reads it can use models at its owner's cost, and may read what was kept.",
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
