/// The kind of credential that opens a key slot.
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

    /// The name of the credential to present, for messages.
    var opener: String {
        switch self {
        case .passphrase: "passphrase"
        case .keyFile: "key file"
        case .credential: "system credential"
        case .recipient: "identity"
        }
    }

    /// Returns whether a slot of this kind may have a reach: files of services never reach *when unlocked*.
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

/// The compartment that a slot opens.
public enum SlotReach: UInt8, Sendable, Hashable, CustomStringConvertible {
    /// The keys and items available from the first unlock until the machine restarts.
    case afterFirstUnlock = 1
    /// Also the keys and items available only while a person keeps the vault unlocked.
    case whenUnlocked = 2
    /// The whole backup.
    case backup = 3

    /// Text for users.
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

/// A key slot as any reader of the vault may see it.
public struct SlotSummary: Sendable, Hashable {
    /// Its number, which no other slot of the vault ever gets.
    public let id: UInt32
    /// The kind of credential that opens it.
    public let kind: SlotKind
    /// The class of keys that it gives.
    public let reach: SlotReach
    /// The time of its creation in milliseconds since 1970.
    public let createdAt: UInt64
    /// Its holder's name as its adder wrote it; empty if not given.
    public let label: String
    /// The slot that added it; `nil` if unknown.
    public let addedBy: UInt32?
    /// `true` if a person added it. A rekey carries other slots on only if they are named.
    public let isVouchedFor: Bool
    /// The first 16 hexadecimal digits of a hash of its public key, for comparison with the holder's own.
    public let fingerprint: String
    /// Its holder's recipient, if it is a recipient's slot.
    public let recipient: Recipient?
    /// The costs of one try, if it is a passphrase's slot; `nil` for costs that are refused.
    public let costs: PassphraseCosts?
    /// `true` if a rekey resealed it and its holder has not opened it since.
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
