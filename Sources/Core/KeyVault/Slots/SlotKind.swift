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

    /// The word for a person for what has to be presented.
    var opener: String {
        switch self {
        case .passphrase: "passphrase"
        case .keyFile: "key file"
        case .credential: "system credential"
        case .recipient: "identity"
        }
    }

    /// Whether a slot of this kind may have a reach: files of services never reach what needs a person.
    func permits(_ reach: SlotReach) -> Bool {
        switch self {
        case .passphrase: reach != .afterFirstUnlock
        case .keyFile, .credential: reach == .afterFirstUnlock
        case .recipient: true
        }
    }

    /// The size in bytes of a slot's parameters.
    var parameterSize: Int {
        switch self {
        case .passphrase: PassphraseParameters.size
        case .keyFile, .credential: KeyTextSlot.saltSize
        case .recipient: 0
        }
    }
}

/// Which compartment a slot opens.
public enum SlotReach: UInt8, Sendable, Hashable, CustomStringConvertible {
    /// What is available from the first unlock until the machine restarts.
    case afterFirstUnlock = 1
    /// That, and what is available only while a person keeps the vault unlocked.
    case whenUnlocked = 2
    /// The whole of a backup.
    case backup = 3

    /// Words for a person.
    public var description: String {
        switch self {
        case .afterFirstUnlock: "after first unlock"
        case .whenUnlocked: "when unlocked"
        case .backup: "everything in the backup"
        }
    }

    /// The compartment that slots of this reach are in.
    var role: CompartmentRole {
        switch self {
        case .afterFirstUnlock: .service
        case .whenUnlocked: .person
        case .backup: .backup
        }
    }
}

/// A key slot as it may be shown to anybody who may read the vault.
public struct SlotSummary: Sendable, Hashable {
    /// Its number, never given to another slot of the vault.
    public let id: UInt32
    /// What opens it.
    public let kind: SlotKind
    /// The class of keys that it gives.
    public let reach: SlotReach
    /// When it was made, in milliseconds since 1970.
    public let createdAt: UInt64
    /// Its holder's name, as the one who added it wrote it; empty for none.
    public let label: String
    /// The slot that added it; nil where that is unknown.
    public let addedBy: UInt32?
    /// Whether a person added it. A rekey does not carry other slots on unless they are named.
    public let isVouchedFor: Bool
    /// The first 16 hexadecimal digits of a hash of its public key: to compare with what its holder sees.
    public let fingerprint: String
    /// Its holder's recipient, where it is a recipient's.
    public let recipient: Recipient?
    /// The costs of one try, where it is a passphrase's; nil for costs that are refused.
    public let costs: PassphraseCosts?
    /// Whether a rekey resealed it and its holder has not opened it since.
    public let isResealed: Bool

    init(_ slot: KeySlot, in register: Register?) {
        let registered = register?.slot(slot.id)
        id = slot.id
        kind = slot.kind
        reach = slot.reach
        createdAt = slot.createdAt
        label = registered?.label ?? ""
        addedBy = registered.flatMap { $0.addedBy == 0 ? nil : $0.addedBy }
        isVouchedFor = registered?.isVouchedFor ?? false
        fingerprint = Fingerprint.text(of: slot.publicKey)
        recipient = slot.kind == .recipient ? slot.x25519.flatMap { try? Recipient($0) } : nil
        costs =
            slot.kind == .passphrase
            ? (try? PassphraseParameters(parsing: slot.parameters[...])).map { PassphraseCosts($0.costs) } : nil
        isResealed = slot.form == .resealed
    }
}
