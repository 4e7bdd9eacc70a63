/// A kind of secret: its name and its weight. Its detectors are in the same table.
package struct SecretRule: Sendable, Hashable {
    /// The stable identifier, family first: `token.github`, `key.private`, `field.password`.
    package let id: String
    /// The kind of secret in a few words: `A GitHub token`.
    package let title: String
    /// The consequence of disclosure: the actions that the secret permits.
    package let meaning: String
    /// The remedy besides sealing: the place to revoke the secret.
    package let remedy: String
    package let weight: Weight

    package init(id: String, title: String, meaning: String, remedy: String, weight: Weight) {
        self.id = id
        self.title = title
        self.meaning = meaning
        self.remedy = remedy
        self.weight = weight
    }

    /// The severity of a disclosed secret.
    package enum Weight: Int, Sendable, Hashable { case low, medium, high, critical }

    package static func == (a: SecretRule, b: SecretRule) -> Bool { a.id == b.id }
    package func hash(into hasher: inout Hasher) { hasher.combine(id) }
}

/// The complete set of rules.
package enum SecretRules {
    /// The rules in the order of their ids, each once.
    package static let all: [SecretRule] = Set(
        detectors.map(\.rule) + FieldRules.all + ContextRules.all + KeyRules.others
    )
    .sorted { $0.id < $1.id }

    /// The detectors, in the order of evaluation for a shared keyword.
    static let detectors: [Detector] =
        KeyRules.detectors + CloudRules.detectors + CodeHostRules.detectors + MessagingRules.detectors
        + PaymentRules.detectors
        + ModelRules.detectors + PackageRules.detectors + ToolRules.detectors + ServiceRules.detectors
        + WebRules.detectors
        + HashRules.detectors
}
