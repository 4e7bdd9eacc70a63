internal import CryptoPrimitives

/// A credential with its secret read: opens slots of its kind.
///
/// One conforming type per kind; the vault itself knows none of them, and every one passes the suite in
/// `Tests/KeyVaultTests/Slots`.
protocol SlotOpener: Sendable {
    var kind: SlotKind { get }

    /// What it means that no slot opens with this credential.
    var mismatch: VaultError.Code { get }

    /// What trying a slot costs, known before anything is spent.
    ///
    /// - Throws: `CryptoError` `.parameterOutOfRange` for costs that no slot may ask for.
    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork

    /// The key that wraps the secrets in a slot with those parameters.
    ///
    /// - Throws: `CryptoError`: `.authenticationFailed` when the parameters alone tell that the slot is another's;
    ///   `.parameterOutOfRange` before anything is allocated; `.outOfMemory`; `.lowOrderPoint`.
    func unwrappingKey(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> SecretBytes
}

extension SlotOpener {
    func work(for parameters: ArraySlice<UInt8>) throws(CryptoError) -> SlotWork { .negligible }

    /// Opens a slot of this kind.
    ///
    /// - Throws: `CryptoError`, `.authenticationFailed` when the credential is not this slot's.
    func open(_ slot: KeySlot, vaultID: [UInt8]) throws(CryptoError) -> VaultSecrets {
        guard slot.kind == kind, kind.permits(slot.reach), slot.payload.count == kind.payloadSize(reach: slot.reach)
        else { throw CryptoError(.parameterOutOfRange, "open slot") }
        let parameters = slot.payload.prefix(kind.parameterSize)
        let key = try unwrappingKey(parameters: parameters, vaultID: vaultID)
        let joined = try SecretWrap.unwrap(
            slot.payload.dropFirst(kind.parameterSize), under: key,
            bound: slot.bound(to: vaultID, parameters: parameters))
        guard let secrets = joined.withUnsafeBytes({ VaultSecrets(joined: $0, reach: slot.reach) }) else {
            throw CryptoError(.authenticationFailed, "open slot")
        }
        return secrets
    }
}

extension KeySlot {
    /// What the wrapped secrets are bound to: the vault, the slot's kind, reach, id and date, and its parameters.
    func bound(to vaultID: [UInt8], parameters: some Sequence<UInt8>) -> [UInt8] {
        vaultID + preamble + Array(parameters)
    }
}

/// What trying a slot costs: Argon2id's passes times its memory in KiB.
struct SlotWork: Comparable, Sendable {
    let passKiB: UInt64

    /// Nothing to speak of: one hash or one multiplication.
    static let negligible = SlotWork(passKiB: 0)
    /// The most that one slot may ask for, and the most that one search spends on all slots together.
    static let maximum = SlotWork(.maximum)

    init(passKiB: UInt64) { self.passKiB = passKiB }

    init(_ costs: Argon2id.Parameters) { passKiB = UInt64(costs.passes) * UInt64(costs.memoryKiB) }

    static func < (a: SlotWork, b: SlotWork) -> Bool { a.passKiB < b.passKiB }
    static func + (a: SlotWork, b: SlotWork) -> SlotWork { SlotWork(passKiB: a.passKiB + b.passKiB) }
}
