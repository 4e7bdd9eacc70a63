internal import CryptoPrimitives
internal import Sealing

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
                error.code == .outOfMemory ? .outOfMemory : .invalidArgument, "make a key slot", kind.description,
                "It could not be made (\(error)).")
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
        let keys = try VaultError.onFiles("make the key file", role: .output) { () throws(FileError) in
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
