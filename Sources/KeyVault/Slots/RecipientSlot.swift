internal import CryptoPrimitives

extension Personalization {
    /// The wrapping key of a recipient slot; `docs/vault.md`, section 3, lists it.
    static let recipientSlot = Personalization("SealedState.vrs1")
}

/// What a recipient slot says in clear: the recipient's public key 32, the ephemeral public key 32.
struct RecipientParameters: Sendable {
    static let size = 2 * X25519.keySize

    let recipient: X25519.PublicKey
    let ephemeral: X25519.PublicKey

    init(recipient: X25519.PublicKey, ephemeral: X25519.PublicKey) {
        self.recipient = recipient
        self.ephemeral = ephemeral
    }

    /// - Throws: `CryptoError` `.parameterOutOfRange`.
    init(parsing bytes: ArraySlice<UInt8>) throws(CryptoError) {
        recipient = try X25519.PublicKey(bytes: Array(bytes.prefix(X25519.keySize)))
        ephemeral = try X25519.PublicKey(bytes: Array(bytes.dropFirst(X25519.keySize)))
    }

    var encoded: [UInt8] { recipient.bytes + ephemeral.bytes }

    /// The key that wraps the secrets: BLAKE2b keyed by the shared secret, over both public keys and the vault's id.
    ///
    /// Both keys go in, as RFC 7748, section 6.1, advises: many public keys lead to one shared secret.
    func key(shared: borrowing SecretBytes, vaultID: [UInt8]) -> SecretBytes {
        let input = ephemeral.bytes + recipient.bytes + vaultID
        return shared.withUnsafeBytes { shared in
            SecretBytes(count: 32) { output in
                input.withRawBytes { BLAKE2b.hash($0, key: shared, personalization: .recipientSlot, into: output) }
            }
        }
    }
}

/// Opens the slots of one key's recipient.
struct RecipientOpener: SlotOpener {
    let key: IdentityKey

    var kind: SlotKind { .recipient }
    var mismatch: VaultError.Code { .wrongIdentity }

    func unwrappingKey(parameters: ArraySlice<UInt8>, vaultID: [UInt8]) throws(CryptoError) -> SecretBytes {
        let parameters = try RecipientParameters(parsing: parameters)
        guard parameters.recipient == key.publicKey else {
            throw CryptoError(.authenticationFailed, "open slot")
        }
        let shared = try key.sharedSecret(with: parameters.ephemeral)
        return parameters.key(shared: shared, vaultID: vaultID)
    }
}

/// Makes slots for a recipient, from public bytes only.
struct RecipientMaker: SlotMaker {
    let recipient: Recipient
    let isUnattended: Bool

    var kind: SlotKind { .recipient }
    var reach: SlotReach { isUnattended ? .afterFirstUnlock : .whenUnlocked }

    func wrappingKey(vaultID: [UInt8]) throws(VaultError) -> WrappingKey {
        try VaultError.making(kind) { () throws(CryptoError) in
            let ephemeral = try X25519.PrivateKey.random()
            let parameters = RecipientParameters(recipient: recipient.key, ephemeral: ephemeral.publicKey)
            let shared = try ephemeral.sharedSecret(with: recipient.key)
            return WrappingKey(
                parameters: parameters.encoded, key: parameters.key(shared: shared, vaultID: vaultID))
        }
    }
}
