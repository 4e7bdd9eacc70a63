/// What a program presents to open a vault.
public enum VaultCredential: Sendable {
    /// The access group's key file in its usual place: for unattended programs, and made on first use.
    case defaultKeyFile
    /// A key file in another place; never made unasked.
    case keyFile(path: String)
    /// A person's passphrase.
    case passphrase(Passphrase)
}
