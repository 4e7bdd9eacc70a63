/// What a program presents to open a vault.
public enum VaultCredential: Sendable {
    /// Whatever is at hand without asking anybody: the access group's key file, else the unit's system credential, each
    /// where the vault has such a slot; else the keys that a person unlocked. A vault that is made with it gets the
    /// unit's credential where there is one, else the key file.
    case automatic
    /// The access group's key file in its usual place: for unattended programs, and made with the vault.
    case defaultKeyFile
    /// A key file in another place; never made unasked.
    case keyFile(path: String)
    /// A person's passphrase.
    case passphrase(Passphrase)
    /// A credential from `$CREDENTIALS_DIRECTORY` (systemd.exec(5), `LoadCredential=`), holding a key-file text. Without
    /// a name, `sealedstate.` and the access group.
    case systemdCredential(name: String?)
    /// A person's or program's own X25519 keys, where the vault has a slot for one of their recipients.
    case identity(Identity)
    /// The keys that a person unlocked, while they are.
    case unlocked
}
