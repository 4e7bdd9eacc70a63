internal import KeyVault

/// What one try of a passphrase has to cost at least.
///
/// Source: OWASP Cheat Sheet Series, "Password Storage Cheat Sheet", section Argon2id: any of these with one lane. They
/// cost whoever guesses about the same.
enum PassphraseFloor {
    private static let choices: [(memoryKiB: Int, passes: Int)] = [
        (47104, 1), (19456, 2), (12288, 3), (9216, 4), (7168, 5),
    ]

    /// For people.
    static let description = "2 passes over 19 MiB, or as much"

    /// Whether costs reach one of the choices.
    static func isReached(by costs: PassphraseCosts) -> Bool {
        choices.contains { costs.memoryKiB >= $0.memoryKiB && costs.passes >= $0.passes }
    }
}
