internal import SecretDetection

// Secrets: one check for each rule of the search, under the rule's own id.
extension AuditCheck {
    static let secrets = SecretRules.all.map(AuditCheck.init)

    /// The check of a rule.
    init(_ rule: SecretRule) {
        self.init(
            id: rule.id, severity: Severity(rule.weight), title: rule.title, meaning: rule.meaning,
            remedy: rule.remedy, references: Self.references(of: rule))
    }

    private static func references(of rule: SecretRule) -> [String] {
        let isKey = rule.id.hasPrefix("key.")
        return isKey
            ? [Reference.keys, Reference.storage, Reference.testKeys, Reference.testKeysInFiles]
            : [Reference.storage, Reference.testStorage, Reference.testBackups]
    }
}

extension Severity {
    /// How much a secret of that weight matters where a program still uses it and it is surely one.
    init(_ weight: SecretRule.Weight) {
        self =
            switch weight {
            case .low: .low
            case .medium: .medium
            case .high: .high
            case .critical: .critical
            }
    }
}
