public import AppGroups
package import CryptoPrimitives
package import Sealing
internal import SharedFiles

/// An open vault: the file-backed keychain of one access group.
///
/// Whoever holds a `Vault` has presented a credential that opened it. The file stays closed to everybody else.
public final class Vault: Sendable {
    /// The access group that it belongs to.
    public let accessGroup: AccessGroup
    /// Where its file lies, for messages.
    public let path: String
    /// 32 hexadecimal digits, made with the vault: another vault of the same group has others.
    package let vaultID: String
    /// The sealing keys that this credential reaches.
    package let keyring: Keyring
    /// Which slots the file has, without anything secret.
    package let slots: [SlotSummary]
    /// How often the file had been written when it was opened.
    package let generation: UInt64
    private let secrets: VaultSecrets

    init(place: VaultPlace, header: VaultHeader, secrets: consuming VaultSecrets, keyring: Keyring) {
        accessGroup = place.accessGroup
        path = place.path
        vaultID = header.vaultID.withUnsafeBytes { $0.hexadecimal }
        self.keyring = keyring
        slots = header.slots.map(SlotSummary.init)
        generation = header.generation
        self.secrets = secrets
    }

    /// The key that seals what this user's readers remember; it hangs on the root and outlives every rotation.
    package func watermarkKey() -> SecretBytes { secrets.derived(.watermarkKey) }

    /// The key that new blobs are sealed under.
    ///
    /// - Throws: `VaultError` `.noActiveKey`.
    package func activeKey() throws(VaultError) -> SealingKey {
        guard let key = keyring.active else {
            throw VaultError(.noActiveKey, "seal with", path, "Its keyring has no active key.")
        }
        return key
    }
}

/// A key slot as it may be shown to anybody.
package struct SlotSummary: Sendable, Hashable {
    package let id: UInt32
    package let kind: SlotKind
    package let reach: SlotReach
    /// Milliseconds since 1970.
    package let createdAt: UInt64

    init(_ slot: KeySlot) {
        id = slot.id
        kind = slot.kind
        reach = slot.reach
        createdAt = slot.createdAt
    }
}
