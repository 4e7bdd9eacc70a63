internal import CryptoPrimitives

/// A credential with its secret read: what slots are wrapped and unwrapped with.
///
/// One conforming type per slot kind; the vault itself knows none of them.
protocol SlotCredential: Sendable {
    static var kind: SlotKind { get }
    /// What a new slot of this kind needs to know to derive its key again: salts and costs.
    func freshParameters() -> [UInt8]
    /// The size of those parameters in bytes.
    static var parameterSize: Int { get }
    /// The key that wraps the vault's secrets in a slot with those parameters.
    ///
    /// - Throws: `CryptoError`, `.parameterOutOfRange` before anything is allocated for hostile parameters.
    func wrappingKey(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> SecretBytes
}

extension SlotCredential {
    /// Makes a slot; nil when the vault was opened through a slot with a shorter reach than this kind has.
    func makeSlot(
        for secrets: borrowing VaultSecrets, vaultID: [UInt8], id: UInt32, createdAt: UInt64
    ) throws(CryptoError) -> KeySlot? {
        let reach = Self.kind.reach
        let parameters = freshParameters()
        var slot = KeySlot(kind: Self.kind, reach: reach, id: id, createdAt: createdAt, payload: [])
        guard let joined = secrets.joined(reach: reach) else { return nil }
        let key = try wrappingKey(parameters: parameters[...], vaultID: vaultID)
        slot.payload =
            parameters + SecretWrap.wrap(joined, under: key, bound: vaultID + slot.preamble + parameters)
        return slot
    }

    /// Opens a slot of this kind.
    ///
    /// - Throws: `CryptoError` `.authenticationFailed` when the credential is not this slot's.
    func open(_ slot: KeySlot, vaultID: [UInt8]) throws(CryptoError) -> VaultSecrets {
        let parameters = slot.payload.prefix(Self.parameterSize)
        guard parameters.count == Self.parameterSize else { throw CryptoError(.authenticationFailed, "open slot") }
        let key = try wrappingKey(parameters: parameters, vaultID: vaultID)
        let joined = try SecretWrap.unwrap(
            slot.payload.dropFirst(Self.parameterSize), under: key,
            bound: vaultID + slot.preamble + Array(parameters))
        guard let secrets = joined.withUnsafeBytes({ VaultSecrets(joined: $0, reach: slot.reach) }) else {
            throw CryptoError(.authenticationFailed, "open slot")
        }
        return secrets
    }
}
