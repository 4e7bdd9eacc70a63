/// One kind of secret: what it is called and how much it matters; how it is found lies beside it in the table.
package struct SecretRule: Sendable, Hashable {
    /// Stable, family first: `token.github`, `key.private`, `field.password`.
    package let id: String
    /// What was found, in a few words: `A GitHub token`.
    package let title: String
    /// What whoever reads it can do with it.
    package let meaning: String
    /// What to do besides sealing it: where it is revoked.
    package let remedy: String
    package let weight: Weight

    package init(id: String, title: String, meaning: String, remedy: String, weight: Weight) {
        self.id = id
        self.title = title
        self.meaning = meaning
        self.remedy = remedy
        self.weight = weight
    }

    /// How much it matters that it lies open.
    package enum Weight: Int, Sendable, Hashable { case low, medium, high, critical }

    package static func == (a: SecretRule, b: SecretRule) -> Bool { a.id == b.id }
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// Every rule.
package enum SecretRules {
    /// In the order of their ids, each once.
    package static let all: [SecretRule] = Set(
        detectors.map(\.rule) + FieldRules.all + ContextRules.all + KeyRules.others
    )
    .sorted { $0.id < $1.id }

    /// In the order in which they are asked where they share a keyword.
    static let detectors: [Detector] =
        KeyRules.detectors + CloudRules.detectors + CodeHostRules.detectors + MessagingRules.detectors
        + PaymentRules.detectors
        + ModelRules.detectors + PackageRules.detectors + ToolRules.detectors + ServiceRules.detectors
        + WebRules.detectors
        + HashRules.detectors
}
