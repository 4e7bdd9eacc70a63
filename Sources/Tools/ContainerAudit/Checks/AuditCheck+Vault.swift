// Checks of the group's vault, its key file, and the readers' accepted states.
extension AuditCheck {
    static let vaultAbsent = AuditCheck(
        id: "vault.absent", severity: .high, title: "The vault is missing",
        meaning: "The container holds sealed blobs of the group, but no vault that could open them exists.",
        remedy: "Restore the vault from a backup; do not start with a new one before that.",
        references: [Reference.keys, Reference.testKeys])

    static let vaultCorrupt = AuditCheck(
        id: "vault.corrupt", severity: .critical, title: "The vault is damaged",
        meaning: "Its file was cut, changed or tampered with. It was left as it is.",
        remedy: "Restore the vault from a backup; keep the damaged file: ls -l {file}",
        references: [Reference.keys, Reference.tampering])

    static let vaultWrongGroup = AuditCheck(
        id: "vault.wrong-group", severity: .high, title: "The vault belongs to another group",
        meaning: "A vault of another access group was copied to this one's place.",
        remedy: "Restore the vault of {group} from a backup.",
        references: [Reference.keys, Reference.testKeys])

    static let vaultWrongKeyFile = AuditCheck(
        id: "vault.wrong-key-file", severity: .high, title: "The key file does not open the vault",
        meaning: "Both are intact but do not belong together. One was replaced or restored without the other.",
        remedy: "Restore the key file that belongs to this vault: ls -l {file}",
        references: [Reference.keys, Reference.testKeys])

    static let vaultRefused = AuditCheck(
        id: "vault.refused", severity: .high, title: "The group's programs refuse the vault",
        meaning:
            "The vault, its key file or a directory above is not of the required kind, may be changed by others, or "
            + "cannot be read. No program opens the vault.",
        remedy: "See what it is: ls -ld {file}",
        references: [Reference.keys, Reference.testKeys])

    static let vaultMode = AuditCheck(
        id: "vault.mode", severity: .high, title: "Other users can access the vault",
        meaning: "A user who may read it can try passphrases offline. A user who may write it can replace it.",
        remedy: "chmod go-rwx {file}",
        references: [Reference.keys, Reference.testKeys])

    static let keyFileMode = AuditCheck(
        id: "keyfile.mode", severity: .critical, title: "Other users can access the key file",
        meaning: "A user who may read it can open the vault without a passphrase.",
        remedy: "chmod go-rwx {file}",
        references: [Reference.keys, Reference.testKeys])

    static let keyFileAbsent = AuditCheck(
        id: "keyfile.absent", severity: .medium, title: "The key file is missing",
        meaning:
            "A vault opens with a key file, but that file does not exist. Programs that run unattended cannot open "
            + "the vault, and the blobs were not judged.",
        remedy: "Restore {file} from a backup; do not start with a new vault before that.",
        references: [Reference.keys, Reference.testKeys])

    static let keyFileDamaged = AuditCheck(
        id: "keyfile.damaged", severity: .high, title: "The key file is damaged",
        meaning: "It was cut or changed, or is not a key file, so no program opens the vault with it.",
        remedy: "Restore the key file from a backup: ls -l {file}",
        references: [Reference.keys, Reference.testKeys])

    static let keyFileUnprotected = AuditCheck(
        id: "keyfile.unprotected", severity: .high, title: "A secret key's file has no passphrase",
        meaning:
            "A program that can read the file of an identity, a writer key or a team key has the key. An identity "
            + "that does not reach the class available when unlocked, and a writer key, are low: unattended programs "
            + "have them.",
        remedy:
            "Make a protected one (sealctl vault identity --protected NEW), add a slot for its recipient, and remove "
            + "this one's slot: sealctl vault slot list --group {group}",
        references: [Reference.keys, Reference.testKeys])

    static let watermarksMode = AuditCheck(
        id: "watermarks.mode", severity: .high, title: "Other users may change the readers' watermarks",
        meaning:
            "A user who may write there can remove the accepted states. Readers then do not detect an older blob "
            + "that is put back.",
        remedy: "chmod go-w {file}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let watermarksDamaged = AuditCheck(
        id: "watermarks.damaged", severity: .high, title: "The readers' watermarks are damaged",
        meaning:
            "Part of the file that holds the accepted states is not authentic or cannot be read. Readers may not "
            + "detect an older blob that is put back.",
        remedy: "Check the records that you can judge, then accept it: sealctl vault accept --group {group}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let watermarksLost = AuditCheck(
        id: "watermarks.lost", severity: .high, title: "The readers' watermarks were lost",
        meaning:
            "This user's programs had stored here what they accepted, but the file was missing or empty at a later "
            + "read. An older blob that was put back in the meantime was not detected.",
        remedy: "Check the records that you can judge, then accept it: sealctl vault accept --group {group}",
        references: [Reference.tampering, Reference.testIntegrity])

    static let weakPassphraseCosts = AuditCheck(
        id: "vault.weak-passphrase-costs", severity: .medium, title: "A passphrase is cheap to guess",
        meaning:
            "An attacker with a copy of the vault can try passphrases at the costs of its slot (Argon2id). These are "
            + "below the minimum of the OWASP Password Storage Cheat Sheet: 2 passes over 19 MiB, or 1 over 46, 3 over "
            + "12, 4 over 9, 5 over 7.",
        remedy: "Set the passphrase again at higher costs: sealctl vault slot change --unlock-time 1s --group {group}",
        references: [Reference.cryptography, Reference.keys, Reference.testAlgorithms, Reference.testKeys])

    static let keyOld = AuditCheck(
        id: "vault.key-old", severity: .low, title: "The group's key is old",
        meaning:
            "All blobs were sealed under one key for longer than the audit allows, 365 days unless stated. An "
            + "attacker who obtained that key once can open all of them.",
        remedy: "Make a new one and reseal: sealctl vault rotate --group {group}",
        references: [Reference.keys, Reference.testKeys])

    static let keyUnused = AuditCheck(
        id: "vault.key-unused", severity: .info, title: "The vault keeps a key that no blob here needs",
        meaning:
            "A rotation was completed, and no blob in the container is sealed under the old key any more. Backups "
            + "and the trash may still need it.",
        remedy: "See what still needs it (sealctl vault rotate --status --group {group}), then destroy it: "
            + "sealctl vault destroy-key --group {group} ID",
        references: [Reference.keys, Reference.testKeys])

    static let itemReachable = AuditCheck(
        id: "vault.item-reachable", severity: .info, title: "Items of credentials are open after the first unlock",
        meaning:
            "By their names they hold tokens or sessions. Their values are available until the machine restarts, "
            + "although this vault has a class that is locked when its user is away.",
        remedy: "Where no unattended program reads them: "
            + "sealctl vault update --group {group} -s SERVICE -a ACCOUNT --accessible when-unlocked",
        references: [Reference.storage, Reference.keys, Reference.testKeys])

    static let rotationUnfinished = AuditCheck(
        id: "vault.rotation-unfinished", severity: .low, title: "A rotation was not finished",
        meaning: "It began more than a day ago, and blobs under the old key are still accepted.",
        remedy: "Continue it: sealctl vault rotate --group {group}",
        references: [Reference.keys, Reference.testKeys])

    static let vault = [
        vaultAbsent, vaultCorrupt, vaultWrongGroup, vaultWrongKeyFile, vaultRefused, vaultMode, weakPassphraseCosts,
        keyOld, keyUnused, itemReachable, rotationUnfinished, keyFileMode, keyFileAbsent, keyFileDamaged,
        keyFileUnprotected,
        watermarksMode,
        watermarksDamaged, watermarksLost,
    ]
}
