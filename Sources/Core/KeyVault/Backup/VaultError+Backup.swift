extension VaultError.Code {
    /// A backup has another key for an epoch than the vault.
    public static let epochClash = VaultError.Code(rawValue: "epochClash")
    /// What would have to be moved lies on another file system than its new place.
    public static let otherFileSystem = VaultError.Code(rawValue: "otherFileSystem")
}

extension VaultError {
    /// The same failure, told of a backup file: what was wrong is the backup's, not the vault's.
    func ofBackup(_ path: String) -> VaultError {
        guard underlying == nil else { return self }
        return VaultError(code, "open the backup", path, reason, advice: Self.backupAdvice[code] ?? advice)
    }

    private static let backupAdvice: [Code: String] = [
        .corrupt: "Use another copy of the backup; nothing was brought in.",
        .locked: "Give the passphrase or identity that the backup was made for.",
        .wrongPassphrase: "Try again; nothing was brought in.",
        .wrongIdentity: "Use the identity of a recipient that the backup was made for.",
        .wrongGroup: "Bring it in for the access group that it was made from.",
        .unsupported: "Update this program.",
    ]

    static func epochClash(_ path: String, epoch: UInt32) -> VaultError {
        VaultError(
            .epochClash, "bring a backup into", path, "Both have a key of epoch \(epoch), and not the same one.",
            advice: "The backup is of another vault: take its items alone, or set the vault that is there aside.")
    }
}
