internal import SecretDetection

// Checks of plaintext in the container.
extension AuditCheck {
    static let plaintextFile = AuditCheck(
        id: "plaintext.file", severity: .medium, title: "A file is not sealed",
        meaning:
            "A program that can read the disk, a backup or the container can read it. High among the records, low in "
            + "the caches; one level lower for a file of unknown form, info for an image.",
        remedy: "Seal it and remove the original: sealctl encrypt --group {group} -o {file}.sealed {file} && rm {file}",
        references: [Reference.storage, Reference.testStorage, Reference.testBackups])

    static let keyFileInside = AuditCheck(
        id: "keyfile.inside-container", severity: .critical, title: "A key file is in the container",
        meaning: "It opens a vault without a passphrase, and every backup of the container includes it.",
        remedy:
            "Move it out of the container to the place for key files, and make a new one if others could read it: "
            + "ls -l {file}",
        references: [Reference.keys, Reference.testKeys, Reference.testKeysInFiles])

    static let vaultInside = AuditCheck(
        id: "vault.inside-container", severity: .high, title: "A vault is in the container",
        meaning: "The keys are stored together with the data that they open, and every member can replace the vault.",
        remedy: "Move it away, or remove it if it is a copy: ls -l {file}",
        references: [Reference.keys, Reference.testKeys])

    static let notSealed = AuditCheck(
        id: "blob.not-sealed", severity: .high, title: "A file claims to be sealed and is not",
        meaning:
            "It has the name of a sealed file, but it is plaintext. The program that wrote it, and programs that "
            + "rely on it, treat it as sealed.",
        remedy:
            "Let the producing program write it again. For a record, this leaves a copy in Quarantine, which is "
            + "plaintext as well: remove that copy then.",
        references: [Reference.storage, Reference.testStorage])

    static let rawKey = AuditCheck(
        id: "keyfile.raw", severity: .high, title: "A bare key is in the container",
        meaning:
            "By its name, its size and its randomness it is a symmetric or private key, in raw bytes or written in "
            + "hexadecimal or base64. It opens the data that it was made for, and every backup of the container "
            + "includes it.",
        remedy: "Keep it in the group's vault instead, make a new one if others could read it, and remove the file: "
            + "sealctl vault add --group {group} -s SERVICE -a ACCOUNT --value-file {file} && rm {file}",
        references: [Reference.keys, Reference.storage, Reference.testKeys, Reference.testKeysInFiles])

    static let plaintextShare = AuditCheck(
        id: "container.plaintext-share", severity: .info, title: "Part of the container is not sealed",
        meaning: "The container holds sealed blobs, but at least a tenth of its bytes is plaintext.",
        remedy: "Import the files that belong to the group's programs: "
            + "sealctl import container --group {group} --dry-run",
        references: [Reference.storage, Reference.testStorage])

    static let plaintext = [plaintextFile, notSealed, keyFileInside, rawKey, vaultInside, plaintextShare]
}

// Checks of secrets: one for each rule of the search, with the rule's own id.
extension AuditCheck {
    static let secrets = SecretRules.all.map(AuditCheck.init)

    /// Creates the check of a rule.
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
    /// Creates the severity of a certain secret of that weight that a program still uses.
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
