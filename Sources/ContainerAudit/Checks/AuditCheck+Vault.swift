// The vault of the group, its key file, and what readers remember.
extension AuditCheck {
    static let vaultAbsent = AuditCheck(
        id: "vault.absent", severity: .high, title: "The vault is missing",
        meaning: "The container holds sealed blobs of the group, and there is no vault that could open them.",
        remedy: "Restore the vault from a backup; do not start with a new one before that.")

    static let vaultCorrupt = AuditCheck(
        id: "vault.corrupt", severity: .critical, title: "The vault is damaged",
        meaning: "Its file was cut, changed or tampered with. It was left as it is.",
        remedy: "Restore the vault from a backup; keep the damaged file: ls -l {file}")

    static let vaultWrongGroup = AuditCheck(
        id: "vault.wrong-group", severity: .high, title: "The vault belongs to another group",
        meaning: "A vault of another access group was copied to this one's place.",
        remedy: "Restore the vault of {group} from a backup.")

    static let vaultWrongKeyFile = AuditCheck(
        id: "vault.wrong-key-file", severity: .high, title: "The key file does not open the vault",
        meaning: "Both are intact and do not belong together: one was replaced or restored without the other.",
        remedy: "Restore the key file that belongs to this vault: ls -l {file}")

    static let vaultRefused = AuditCheck(
        id: "vault.refused", severity: .high, title: "The group's programs refuse the vault",
        meaning: "The vault, its key file or a directory above is not what it has to be, may be changed by others, or "
            + "cannot be read: no program opens it.",
        remedy: "See what it is: ls -ld {file}")

    static let vaultMode = AuditCheck(
        id: "vault.mode", severity: .high, title: "Others may reach the vault",
        meaning: "Who may read it can guess passphrases at leisure; who may write it can replace it.",
        remedy: "chmod go-rwx {file}")

    static let keyFileMode = AuditCheck(
        id: "keyfile.mode", severity: .critical, title: "Others may reach the key file",
        meaning: "Who may read it opens the vault without a passphrase.",
        remedy: "chmod go-rwx {file}")

    static let keyFileAbsent = AuditCheck(
        id: "keyfile.absent", severity: .medium, title: "The key file is missing",
        meaning: "There is a vault that opens with a key file, and no such file: programs that run unattended cannot "
            + "open the vault, and the blobs were not judged.",
        remedy: "Restore {file} from a backup; do not start with a new vault before that.")

    static let keyFileDamaged = AuditCheck(
        id: "keyfile.damaged", severity: .high, title: "The key file is damaged",
        meaning: "It is cut, changed or no key file at all, so that no program opens the vault with it.",
        remedy: "Restore the key file from a backup: ls -l {file}")

    static let watermarksMode = AuditCheck(
        id: "watermarks.mode", severity: .high, title: "Others may change what readers remember",
        meaning: "Who may write there can take the accepted states away, so that an older blob that is put back goes "
            + "unseen.",
        remedy: "chmod go-w {file}")

    static let watermarksDamaged = AuditCheck(
        id: "watermarks.damaged", severity: .high, title: "What readers remember is damaged",
        meaning:
            "Part of the file that holds the accepted states is not authentic or cannot be read; an older blob that "
            + "is put back may go unseen.",
        remedy: "Check the records that you can judge, then accept it: sealctl vault accept --group {group}")

    static let watermarksLost = AuditCheck(
        id: "watermarks.lost", severity: .high, title: "What readers remember was lost",
        meaning:
            "This user's programs had noted here what they accepted, and the notes were gone or empty when they looked "
            + "again; an older blob that was put back meanwhile went unseen.",
        remedy: "Check the records that you can judge, then accept it: sealctl vault accept --group {group}")

    static let vault = [
        vaultAbsent, vaultCorrupt, vaultWrongGroup, vaultWrongKeyFile, vaultRefused, vaultMode, keyFileMode,
        keyFileAbsent, keyFileDamaged, watermarksMode, watermarksDamaged,
        watermarksLost,
    ]
}
