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
