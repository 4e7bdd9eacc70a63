internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    static let namesDigest = Personalization("SealedState.vnd2")
    static let registerHash = Personalization("SealedState.plr1")
    static let registerCodeKey = Personalization("SealedState.vrk2")
    static let personKeyCertificate = Personalization("SealedState.tpk1")
}

/// A person key in the register's chain: each signs its successor (`docs/vault.md`, section 5).
struct PersonKeyEntry: Hashable, Sendable {
    static let size = 168
    static let maximumCount = 256

    /// The first period that it signs.
    let period: UInt32
    /// Whether services knew its secret: then it vouches only for the knowledge of the service root.
    let isKnownToServices: Bool
    let key: Ed25519.PublicKey
    /// The signature by the key before; zero for the first.
    let link: [UInt8]
    /// The signature by the team key; zero for none.
    var certificate: [UInt8]

    static let noSignature = [UInt8](repeating: 0, count: Ed25519.signatureSize)

    /// The message that a link signs.
    static func linkMessage(
        vaultID: [UInt8], period: UInt32, from old: Ed25519.PublicKey, to new: Ed25519.PublicKey
    ) -> [UInt8] {
        var writer = ByteWriter()
        writer.append("SealedState vault successor 2\0".utf8)
        writer.append(vaultID)
        writer.append(period)
        writer.append(old.bytes)
        writer.append(new.bytes)
        return writer.bytes
    }

    /// The hash that a team key signs.
    static func certificateDigest(vaultID: [UInt8], period: UInt32, key: Ed25519.PublicKey) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vaultID)
        writer.append(period)
        writer.append(key.bytes)
        return BLAKE2b.hash(writer.bytes, personalization: .personKeyCertificate, count: 64)
    }

    /// Whether a team key has certified it.
    func isCertified(by team: TeamPublicKey, vaultID: [UInt8]) -> Bool {
        team.hasSigned(Self.certificateDigest(vaultID: vaultID, period: period, key: key), certificate)
    }
}

/// A slot as the register lists it.
struct RegisteredSlot: Hashable, Sendable {
    let id: UInt32
    let kind: SlotKind
    let reach: SlotReach
    /// Whether a person added it.
    let isVouchedFor: Bool
    /// Milliseconds since 1970.
    let createdAt: UInt64
    /// The slot that its adder opened the vault with; 0 where that is unknown.
    let addedBy: UInt32
    let publicKey: [UInt8]
    /// Signed, so that nobody but a person can lock a holder out by changing them.
    let parameters: [UInt8]
    let label: String

    /// Whether a slot of a file is the one that is meant.
    func isListing(_ slot: KeySlot) -> Bool {
        id == slot.id && kind == slot.kind && reach == slot.reach && publicKey == slot.publicKey
            && parameters == slot.parameters && createdAt == slot.createdAt
    }
}

/// A key of *when unlocked* as the register lists it.
struct RegisteredKey: Hashable, Sendable {
    let keyID: [UInt8]
    let epoch: UInt32
    let state: KeyState
    let createdAt: UInt64
}

/// Where a rotation of a class stands.
struct RotationFields: Hashable, Sendable {
    enum Stage: UInt32, Sendable {
        case none = 0
        /// Blobs are being resealed; keys of earlier epochs still open them.
        case resealing = 1
        /// Every blob was resealed; blobs of earlier epochs are refused.
        case completed = 2
    }

    var minimumEpoch: UInt32 = 1
    var stage = Stage.none
    /// Milliseconds since 1970; 0 for never.
    var began: UInt64 = 0
    var completed: UInt64 = 0

    static let encodedSize = 24

    init() {}

    func encode(into writer: inout ByteWriter) {
        writer.append(minimumEpoch)
        writer.append(stage.rawValue)
        writer.append(began)
        writer.append(completed)
    }

    init(parsing reader: inout ByteReader, path: String) throws(VaultError) {
        minimumEpoch = try reader.integer()
        guard let stage = Stage(rawValue: try reader.integer()) else {
            throw .corrupt(path, "It has a rotation of an unknown stage.")
        }
        self.stage = stage
        began = try reader.integer()
        completed = try reader.integer()
    }

    /// - Parameters:
    ///   - active: The epoch of the class's active key; nil for none.
    ///   - hasKeys: Whether the class has any key.
    /// - Throws: `VaultError` `.corrupt` for a minimum epoch that no writer sets.
    func check(active: UInt32?, hasKeys: Bool, path: String) throws(VaultError) {
        guard minimumEpoch > 0, minimumEpoch <= active ?? .max, hasKeys || minimumEpoch == 1 else {
            throw .corrupt(path, "Its minimum epoch is 0, beyond its active key's, or that of keys which it has not.")
        }
    }
}

/// The register of a vault: who may open it and what is *when unlocked*, signed by the person key.
struct Register: Hashable, Sendable {
    var vaultID: [UInt8]
    var period: UInt32
    var generation: UInt64
    var chain: [PersonKeyEntry]
    /// Nil in a vault without persons: services could name any.
    var teamKey: [UInt8]?
    var root: Bytes32
    /// During a rekey the service root that the second write puts in force.
    var nextRoot: Bytes32?
    var watermarkCommitment: Bytes32
    /// The commitment of the person root; zero while there is no person compartment.
    var personRoot = Bytes32.zero
    var slots: [RegisteredSlot]
    /// Nil while there is no person compartment.
    var person: Person?
    var nextSlotID: UInt32
    /// Fields that this version does not know and that are not critical, byte for byte.
    var otherFields: [UInt16: [UInt8]] = [:]
    /// The fields and the signature as they were read; empty for one that is being made.
    var signedBytes: [UInt8] = []

    /// What is *when unlocked*.
    struct Person: Hashable, Sendable {
        var keys: [RegisteredKey] = []
        var rotation = RotationFields()
        var nameCount: UInt32 = 0
        var namesDigest = Register.digest(ofNames: [])
    }

    init(
        vaultID: [UInt8], period: UInt32, chain: [PersonKeyEntry], root: Bytes32, watermarkCommitment: Bytes32
    ) {
        self.vaultID = vaultID
        self.period = period
        generation = 1
        self.chain = chain
        self.root = root
        self.watermarkCommitment = watermarkCommitment
        slots = []
        nextSlotID = 1
    }

    static func digest(ofNames names: [UInt8]) -> Bytes32 {
        Bytes32(filling: { output in
            names.withRawBytes { BLAKE2b.hash($0, personalization: .namesDigest, into: output) }
        })
    }

    /// The person key in force.
    var personKey: Ed25519.PublicKey? { chain.last?.key }

    /// What a roster's lowest state is compared with. Without persons no person key counts, so its period does not either.
    var state: VaultFloor {
        VaultFloor(period: period, keyPeriod: person == nil ? .max : chain.last?.period ?? 0)
    }

    /// The commitment of the service root that `vault` has in a period; nil where it may not be of that period.
    ///
    /// During a rekey the former root belongs to the former period only: a removed service knows it.
    func serviceRoot(in period: UInt32) -> Bytes32? {
        if period == self.period { return nextRoot ?? root }
        return nextRoot != nil && period &+ 1 == self.period ? root : nil
    }

    /// Whether `vault` was written under a root, and the root belongs to the period of `vault`.
    func isServiceRoot(_ root: RootKey, of head: CompartmentHead) -> Bool {
        root.commitment == serviceRoot(in: head.period) && head.isAuthentic(root)
    }

    func slot(_ id: UInt32) -> RegisteredSlot? { slots.first { $0.id == id } }

    /// A name of the register's bytes.
    var hash: Bytes32 {
        Bytes32(filling: { output in
            signedBytes.withRawBytes { BLAKE2b.hash($0, personalization: .registerHash, into: output) }
        })
    }

    /// A code by which a register is known to have been verified by a program that has the service root.
    func verifiedCode(_ root: RootKey) -> Bytes32 {
        root.withKey(.registerCodeKey) { key in
            Bytes32(filling: { output in
                signedBytes.withRawBytes { BLAKE2b.hash($0, key: key, personalization: .registerHash, into: output) }
            })
        }
    }

    /// The keys that a holder may recognise the vault by: the team key, and person keys that no service has known. A holder
    /// may have made the code before the vault had a team key.
    var trustworthyKeys: [[UInt8]] {
        (teamKey.map { [$0] } ?? []) + chain.filter { !$0.isKnownToServices }.map(\.key.bytes)
    }

    /// The team key; nil where there is none, or bytes that are no key.
    var team: TeamPublicKey? { teamKey.flatMap(TeamPublicKey.init(bytes:)) }

    /// The key that memory codes are made over now; nil while services know the person key.
    var trustedKey: [UInt8]? { teamKey ?? chain.last.flatMap { $0.isKnownToServices ? nil : $0.key.bytes } }

    /// The short text by which people recognise the vault.
    var fingerprint: String {
        BLAKE2b.hash(vaultID + (teamKey ?? personKey?.bytes ?? []), personalization: .fingerprint, count: 16)
            .withUnsafeBytes { $0.hexadecimal }
    }
}

// MARK: Signatures

extension Register {
    private static let context = Array("SealedState vault register 2\0".utf8)

    /// Signs the register as it is now.
    mutating func sign(with key: borrowing Ed25519.SigningKey) {
        let fields = encodedFields
        signedBytes = fields + key.sign(Self.context + fields)
    }

    /// - Throws: `VaultError` `.corrupt` where a link or the signature does not verify.
    func verify(path: String) throws(VaultError) {
        do throws(CryptoError) {
            for (old, new) in zip(chain, chain.dropFirst()) {
                try old.key.verify(
                    new.link,
                    of: PersonKeyEntry.linkMessage(vaultID: vaultID, period: new.period, from: old.key, to: new.key))
            }
            let fields = Array(signedBytes.dropLast(Ed25519.signatureSize))
            try chain.last?.key.verify(
                Array(signedBytes.suffix(Ed25519.signatureSize)), of: Self.context + fields)
        } catch {
            throw .corrupt(path, "Its register of slots is not signed by the persons of the vault.")
        }
    }
}
