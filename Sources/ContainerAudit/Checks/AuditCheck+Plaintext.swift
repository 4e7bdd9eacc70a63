// What lies open in the container.
extension AuditCheck {
    static let plaintextFile = AuditCheck(
        id: "plaintext.file", severity: .medium, title: "A file is not sealed",
        meaning:
            "Whoever reads the disk, a backup or the container reads it. High among the records, low in the caches; "
            + "one step more where it mentions secrets, one less where it is of no known form.",
        remedy: "Seal it and remove the original: sealctl encrypt --group {group} -o {file}.sealed {file} && rm {file}")

    static let keyFileInside = AuditCheck(
        id: "keyfile.inside-container", severity: .critical, title: "A key file lies in the container",
        meaning: "It opens a vault without a passphrase, and every backup of the container carries it along.",
        remedy: "Move it to where key files belong, out of the container, and make a new one if others could read it: "
            + "ls -l {file}")

    static let vaultInside = AuditCheck(
        id: "vault.inside-container", severity: .high, title: "A vault lies in the container",
        meaning: "Keys travel together with what they open; every member may replace it.",
        remedy: "Move it away, or remove it if it is a copy: ls -l {file}")

    static let plaintext = [plaintextFile, keyFileInside, vaultInside]
}
