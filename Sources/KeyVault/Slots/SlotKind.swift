/// How a key slot is opened.
public enum SlotKind: UInt8, Sendable, Hashable, CaseIterable, CustomStringConvertible {
    /// A person's passphrase.
    case passphrase = 1
    /// A key file, for unattended programs.
    case keyFile = 2
    /// A credential that the service manager hands to one unit (systemd.exec(5), `LoadCredential=`).
    case credential = 3
    /// An X25519 recipient; the holder of its identity opens it.
    case recipient = 4

    /// The stable name.
    public var description: String {
        switch self {
        case .passphrase: "passphrase"
        case .keyFile: "key file"
        case .credential: "credential"
        case .recipient: "recipient"
        }
    }

    /// What has to be presented, as a word for a person.
    var opener: String {
        switch self {
        case .passphrase: "passphrase"
        case .keyFile: "key file"
        case .credential: "system credential"
        case .recipient: "identity"
        }
    }

    /// Whether a slot of this kind may give that much: what lies about unattended never reaches what needs a person, and
    /// a passphrase is a person.
    func permits(_ reach: SlotReach) -> Bool {
        switch self {
        case .passphrase: reach == .whenUnlocked
        case .keyFile, .credential: reach == .afterFirstUnlock
        case .recipient: true
        }
    }

    /// The size in bytes of what stands in the payload before the wrapped secrets.
    var parameterSize: Int {
        switch self {
        case .passphrase: PassphraseParameters.size
        case .keyFile, .credential: KeyTextSlot.saltSize
        case .recipient: RecipientParameters.size
        }
    }

    /// The exact size of a payload in bytes.
    func payloadSize(reach: SlotReach) -> Int {
        parameterSize + SecretWrap.overhead + VaultSecrets.size(reach: reach)
    }
}

/// Which class keys a slot gives.
public enum SlotReach: UInt8, Sendable, Hashable, CustomStringConvertible {
    /// What is available from the first unlock until the machine restarts.
    case afterFirstUnlock = 1
    /// That, and what is available only while a person keeps the vault unlocked.
    case whenUnlocked = 2

    /// Words for a person.
    public var description: String {
        switch self {
        case .afterFirstUnlock: "after first unlock"
        case .whenUnlocked: "when unlocked"
        }
    }
}
