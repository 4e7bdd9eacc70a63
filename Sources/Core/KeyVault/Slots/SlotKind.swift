internal import CryptoPrimitives
internal import Sealing

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

extension Personalization {
    static let keyFileSlot = Personalization("SealedState.vkf2")
    static let credentialSlot = Personalization("SealedState.vcr2")
}

/// A credential whose secret was read. It opens slots of its kind.
///
/// Every conforming type passes the suite in `Tests/KeyVaultTests/Slots`.
protocol SlotOpener: Sendable {
    var kind: SlotKind { get }

    /// The error code if no slot opens with this credential.
    var mismatch: VaultError.Code { get }

    /// Returns the cost of trying a slot, before any work is done.
    ///
    /// - Throws: `CryptoError` `.parameterOutOfRange` for costs above the limit.
    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork

    /// Returns the holder's secret for a slot with those parameters.
    ///
    /// - Throws: `CryptoError` `.parameterOutOfRange` before any allocation; `.outOfMemory`.
    func holder(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> HolderSecret
}

extension SlotOpener {
    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork { .negligible }
}

/// Creates slots of one kind. A recipient's maker has only public bytes.
protocol SlotMaker: Sendable {
    var kind: SlotKind { get }
    var reach: SlotReach { get }

    /// Does all slow work and file access before the vault's lock is taken.
    ///
    /// - Throws: `VaultError` `.outOfMemory` or `.invalidArgument`, and the refusals of the file that it reads.
    func prepare(vaultID: [UInt8]) throws(VaultError) -> PreparedSlot
}

/// A slot for one vault that lacks only its number, its date and the root.
struct PreparedSlot: Sendable {
    let kind: SlotKind
    var reach: SlotReach
    let vaultID: [UInt8]
    let publicKey: X25519.PublicKey
    let parameters: [UInt8]
    /// `nil` for another holder's recipient.
    let holder: HolderSecret?

    /// - Throws: `VaultError` `.invalidArgument`.
    init(
        _ kind: SlotKind, _ reach: SlotReach, vaultID: [UInt8], parameters: [UInt8], holder: HolderSecret
    ) throws(VaultError) {
        self.kind = kind
        self.reach = reach
        self.vaultID = vaultID
        self.parameters = parameters
        self.holder = holder
        publicKey = try VaultError.making(kind) { () throws(CryptoError) in try holder.pair(vaultID: vaultID).publicKey
        }
    }

    init(recipient: X25519.PublicKey, _ reach: SlotReach, vaultID: [UInt8], holder: HolderSecret? = nil) {
        kind = .recipient
        self.reach = reach
        self.vaultID = vaultID
        publicKey = recipient
        parameters = []
        self.holder = holder
    }

    /// Returns the slot.
    ///
    /// - Parameter trusted: The key by which the holder, if it creates the slot itself, recognises the vault.
    /// - Throws: `VaultError` `.invalidArgument` for a recipient of low order.
    func slot(wrapping root: RootKey, id: UInt32, createdAt: UInt64, trusted: [UInt8]?) throws(VaultError) -> KeySlot {
        try VaultError.making(kind) { () throws(CryptoError) in
            var slot = KeySlot(self, id: id, createdAt: createdAt)
            if let holder {
                try slot.seal(root, for: holder, trusting: trusted, vaultID: vaultID)
            } else {
                try slot.reseal(root, as: .own, vaultID: vaultID)
            }
            return slot
        }
    }
}

extension VaultError {
    /// Runs a primitive for a new slot and converts its error.
    static func making<Result: ~Copyable>(
        _ kind: SlotKind, _ body: () throws(CryptoError) -> Result
    ) throws(VaultError) -> Result {
        do throws(CryptoError) { return try body() } catch {
            throw VaultError(
                error.code == .outOfMemory ? .outOfMemory : .invalidArgument, "create a key slot", kind.description,
                "It could not be created (\(error)).")
        }
    }
}

/// The cost of trying a slot: Argon2id's passes times its memory in KiB.
struct SlotWork: Comparable, Sendable {
    let passKiB: UInt64

    /// The work of one hash or one multiplication.
    static let negligible = SlotWork(passKiB: 0)
    /// The most that one slot may cost, and the most that one search spends on all slots together.
    static let maximum = SlotWork(.maximum)

    init(passKiB: UInt64) { self.passKiB = passKiB }
    init(_ costs: Argon2id.Parameters) { passKiB = UInt64(costs.passes) * UInt64(costs.memoryKiB) }

    static func < (a: SlotWork, b: SlotWork) -> Bool { a.passKiB < b.passKiB }
    static func + (a: SlotWork, b: SlotWork) -> SlotWork { SlotWork(passKiB: a.passKiB + b.passKiB) }
}

// MARK: Passphrases

/// The parameters of a passphrase slot: salt 16, Argon2id passes 4, memory in KiB 4.
struct PassphraseParameters: Sendable {
    static let size = Argon2id.saltSize + 8

    let salt: [UInt8]
    let costs: Argon2id.Parameters

    init(fresh costs: Argon2id.Parameters) {
        salt = SecureRandom.bytes(count: Argon2id.saltSize)
        self.costs = costs
    }

    /// - Throws: `CryptoError` `.parameterOutOfRange`, also for costs beyond the bounds.
    init(parsing bytes: ArraySlice<UInt8>) throws(CryptoError) {
        guard bytes.count == Self.size else { throw CryptoError(.parameterOutOfRange, "Argon2id") }
        func number(at offset: Int) -> UInt32 {
            bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
        }
        salt = Array(bytes.prefix(Argon2id.saltSize))
        costs = Argon2id.Parameters(
            passes: number(at: Argon2id.saltSize), memoryKiB: number(at: Argon2id.saltSize + 4))
        try costs.validate()
    }

    var encoded: [UInt8] {
        var writer = ByteWriter()
        writer.append(salt)
        writer.append(costs.passes)
        writer.append(costs.memoryKiB)
        return writer.bytes
    }

    func holder(_ passphrase: Passphrase) throws(CryptoError) -> HolderSecret {
        HolderSecret(
            try salt.withRawBytes { salt throws(CryptoError) in
                try Argon2id.deriveKey(passphrase: passphrase.bytes, salt: salt, parameters: costs, count: 32)
            })
    }
}

/// Opens passphrase slots, each at the costs in its parameters.
struct PassphraseOpener: SlotOpener {
    let passphrase: Passphrase

    var kind: SlotKind { .passphrase }
    var mismatch: VaultError.Code { .wrongPassphrase }

    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork {
        SlotWork(try PassphraseParameters(parsing: parameters).costs)
    }

    func holder(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> HolderSecret {
        try PassphraseParameters(parsing: parameters).holder(passphrase)
    }
}

/// Creates passphrase slots.
struct PassphraseMaker: SlotMaker {
    let passphrase: Passphrase
    let costs: PassphraseCosts

    var kind: SlotKind { .passphrase }
    var reach: SlotReach { .whenUnlocked }

    func prepare(vaultID: [UInt8]) throws(VaultError) -> PreparedSlot {
        let parameters = PassphraseParameters(fresh: costs.parameters)
        let holder = try VaultError.making(kind) { () throws(CryptoError) in try parameters.holder(passphrase) }
        return try PreparedSlot(kind, reach, vaultID: vaultID, parameters: parameters.encoded, holder: holder)
    }
}

// MARK: Key files and system credentials

/// Opens and creates slots of 32 random bytes in a file: key files and system credentials. Parameters: salt 16.
///
/// The file's bytes have full entropy, so no slow hash is needed. The salt separates two slots of one file, and the
/// personalisation separates the kinds of a file that serves as both.
final class KeyTextSlot: SlotOpener, SlotMaker {
    static let saltSize = 16

    let kind: SlotKind
    let reach = SlotReach.afterFirstUnlock
    private let key: SecretBytes

    /// - Parameter kind: `.keyFile` or `.credential`.
    init(_ kind: SlotKind, key: consuming SecretBytes) {
        self.kind = kind
        self.key = key
    }

    var mismatch: VaultError.Code { kind == .credential ? .wrongCredential : .wrongKeyFile }

    func holder(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) -> HolderSecret {
        let input = Array(parameters) + vaultID
        let use: Personalization = kind == .credential ? .credentialSlot : .keyFileSlot
        return HolderSecret(
            key.withUnsafeBytes { key in
                SecretBytes(count: 32) { output in
                    input.withRawBytes { BLAKE2b.hash($0, key: key, personalization: use, into: output) }
                }
            })
    }

    func prepare(vaultID: [UInt8]) throws(VaultError) -> PreparedSlot {
        let salt = SecureRandom.bytes(count: Self.saltSize)
        return try PreparedSlot(
            kind, reach, vaultID: vaultID, parameters: salt, holder: holder(parameters: salt[...], vaultID: vaultID))
    }
}

/// Creates a slot for the access group's key file in its usual place, and the file with the first slot that needs it.
struct DefaultKeyFileMaker: SlotMaker {
    let place: VaultPlace

    var kind: SlotKind { .keyFile }
    var reach: SlotReach { .afterFirstUnlock }

    func prepare(vaultID: [UInt8]) throws(VaultError) -> PreparedSlot {
        let keys = try VaultError.onFiles("create the key file", role: .output) { () throws(FileError) in
            try place.makeKeysDirectory()
        }
        let key = try KeyFile.readOrCreate(in: keys, leaf: place.keyFileLeaf)
        return try KeyTextSlot(.keyFile, key: key).prepare(vaultID: vaultID)
    }
}

// MARK: Recipients

/// Opens the slots of one key's recipient.
struct RecipientOpener: SlotOpener {
    let key: IdentityKey

    var kind: SlotKind { .recipient }
    var mismatch: VaultError.Code { .wrongIdentity }

    func holder(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) -> HolderSecret { key.holder }
}

/// Creates slots for a recipient, from public bytes only, or with the identity of the holder that creates it.
struct RecipientMaker: SlotMaker {
    let recipient: Recipient
    let isUnattended: Bool
    /// `nil` for another holder's recipient.
    var holder: HolderSecret?

    var kind: SlotKind { .recipient }
    var reach: SlotReach { isUnattended ? .afterFirstUnlock : .whenUnlocked }

    func prepare(vaultID: [UInt8]) -> PreparedSlot {
        PreparedSlot(recipient: recipient.key, reach, vaultID: vaultID, holder: holder)
    }
}
