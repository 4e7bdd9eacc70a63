internal import CryptoPrimitives
internal import Sealing

extension Personalization {
    static let namesDigest = Personalization("SealedState.vnd2")
    static let registerHash = Personalization("SealedState.plr1")
    static let registerCodeKey = Personalization("SealedState.vrk2")
    static let personKeyCertificate = Personalization("SealedState.tpk1")
}

/// A person key in the register's chain: each signs its successor (`docs/spec/vault.md`, section 5).
struct PersonKeyEntry: Hashable, Sendable {
    static let size = 168
    static let maximumCount = 256

    /// The first period whose registers it signs.
    let period: UInt32
    /// `true` if services knew its secret. Its signature then proves only knowledge of the service root.
    let isKnownToServices: Bool
    let key: Ed25519.PublicKey
    /// The signature by the previous key; zero for the first.
    let link: [UInt8]
    /// The signature by the team key; zero if there is no certificate.
    var certificate: [UInt8]

    static let noSignature = [UInt8](repeating: 0, count: Ed25519.signatureSize)

    /// Returns the message that a link signs.
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

    /// Returns the hash that a team key signs.
    static func certificateDigest(vaultID: [UInt8], period: UInt32, key: Ed25519.PublicKey) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(vaultID)
        writer.append(period)
        writer.append(key.bytes)
        return BLAKE2b.hash(writer.bytes, personalization: .personKeyCertificate, count: 64)
    }

    /// Returns whether a team key has certified the key.
    func isCertified(by team: TeamPublicKey, vaultID: [UInt8]) -> Bool {
        team.hasSigned(Self.certificateDigest(vaultID: vaultID, period: period, key: key), certificate)
    }
}

/// A slot as the register lists it.
struct RegisteredSlot: Hashable, Sendable {
    let id: UInt32
    let kind: SlotKind
    let reach: SlotReach
    /// `true` if a person added the slot.
    let isVouchedFor: Bool
    /// Milliseconds since 1970.
    let createdAt: UInt64
    /// The slot that its adder opened the vault with; 0 if unknown.
    let addedBy: UInt32
    let publicKey: [UInt8]
    /// Signed, so that only a person can change them: a change would lock the holder out.
    let parameters: [UInt8]
    let label: String

    /// Returns whether a slot of a file is the listed one.
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

/// The state of a class's rotation.
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
            throw .corrupt(path, "Its rotation has an unknown stage.")
        }
        self.stage = stage
        began = try reader.integer()
        completed = try reader.integer()
    }

    /// - Parameters:
    ///   - active: The epoch of the class's active key; `nil` if it has no active key.
    ///   - hasKeys: Whether the class has any key.
    /// - Throws: `VaultError` `.corrupt` for a minimum epoch that no writer sets.
    func check(active: UInt32?, hasKeys: Bool, path: String) throws(VaultError) {
        guard minimumEpoch > 0, minimumEpoch <= active ?? .max, hasKeys || minimumEpoch == 1 else {
            throw .corrupt(path, "Its minimum epoch is 0, above its active key's epoch, or of a class without keys.")
        }
    }
}

/// The register of a vault: its slots and the state of *when unlocked*, signed by the person key.
struct Register: Hashable, Sendable {
    var vaultID: [UInt8]
    var period: UInt32
    var generation: UInt64
    var chain: [PersonKeyEntry]
    /// `nil` in a vault without persons: services could name any key.
    var teamKey: [UInt8]?
    var root: Bytes32
    /// During a rekey, the service root that the second write puts in force.
    var nextRoot: Bytes32?
    var watermarkCommitment: Bytes32
    /// The commitment of the person root; zero without a person compartment.
    var personRoot = Bytes32.zero
    var slots: [RegisteredSlot]
    /// `nil` without a person compartment.
    var person: Person?
    var nextSlotID: UInt32
    /// Fields that this version does not know and that are not critical, byte for byte.
    var otherFields: [UInt16: [UInt8]] = [:]
    /// The fields and the signature as they were read; empty for a register under construction.
    var signedBytes: [UInt8] = []

    /// The state of *when unlocked*.
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

    /// The state to compare with a roster's lowest state. Without persons no person key counts, and neither does its
    /// period.
    var state: VaultFloor {
        VaultFloor(period: period, keyPeriod: person == nil ? .max : chain.last?.period ?? 0)
    }

    /// Returns the commitment of the service root of `vault` in a period; `nil` for a period that it must not have.
    ///
    /// During a rekey the former root belongs to the former period only, because a removed service knows it.
    func serviceRoot(in period: UInt32) -> Bytes32? {
        if period == self.period { return nextRoot ?? root }
        return nextRoot != nil && period &+ 1 == self.period ? root : nil
    }

    /// Returns whether `vault` was written under a root that belongs to its period.
    func isServiceRoot(_ root: RootKey, of head: CompartmentHead) -> Bool {
        root.commitment == serviceRoot(in: head.period) && head.isAuthentic(root)
    }

    func slot(_ id: UInt32) -> RegisteredSlot? { slots.first { $0.id == id } }

    /// A hash that identifies the register's bytes.
    var hash: Bytes32 {
        Bytes32(filling: { output in
            signedBytes.withRawBytes { BLAKE2b.hash($0, personalization: .registerHash, into: output) }
        })
    }

    /// Returns a code that proves that a program with the service root has verified the register.
    func verifiedCode(_ root: RootKey) -> Bytes32 {
        root.withKey(.registerCodeKey) { key in
            Bytes32(filling: { output in
                signedBytes.withRawBytes { BLAKE2b.hash($0, key: key, personalization: .registerHash, into: output) }
            })
        }
    }

    /// The keys by which a holder may recognise the vault: the team key, and person keys that services have never
    /// known. The holder may have computed the code before the vault had a team key.
    var trustworthyKeys: [[UInt8]] {
        (teamKey.map { [$0] } ?? []) + chain.filter { !$0.isKnownToServices }.map(\.key.bytes)
    }

    /// The team key; `nil` if the vault has no team key or its bytes are no valid key.
    var team: TeamPublicKey? { teamKey.flatMap(TeamPublicKey.init(bytes:)) }

    /// The key for new memory codes; `nil` while services know the person key.
    var trustedKey: [UInt8]? { teamKey ?? chain.last.flatMap { $0.isKnownToServices ? nil : $0.key.bytes } }

    /// The short text by which users recognise the vault.
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

    /// - Throws: `VaultError` `.corrupt` if a link or the signature does not verify.
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

/// A state of a vault by its two periods, with which a roster names the oldest one that readers accept
/// (`docs/spec/vault.md`, rule V12).
///
/// The vault's period alone is not enough: a former person can begin any number of periods with the person key that
/// they knew.
package struct VaultFloor: Sendable, Hashable {
    /// The vault's period; 0 for any.
    package var period: UInt32 = 0
    /// The first period of the person key in force; at most `period`.
    package var keyPeriod: UInt32 = 0

    package init(period: UInt32 = 0, keyPeriod: UInt32 = 0) {
        self.period = period
        self.keyPeriod = keyPeriod
    }

    /// Returns the higher of each of the two periods.
    package func raised(to other: VaultFloor) -> VaultFloor {
        VaultFloor(period: max(period, other.period), keyPeriod: max(keyPeriod, other.keyPeriod))
    }

    /// Returns whether a later state has a higher number than this one.
    package func isBelow(_ state: VaultFloor) -> Bool { raised(to: state) != self }

    /// Returns whether a vault's state is older than this one.
    package func isAbove(_ state: VaultFloor) -> Bool { state.period < period || state.keyPeriod < keyPeriod }
}
