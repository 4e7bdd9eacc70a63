internal import AppGroups
internal import CryptoPrimitives
internal import Sealing

/// How a vault's body becomes a sealed blob.
enum VaultSealing {
    static func context(_ accessGroup: AccessGroup) -> BlobContext {
        BlobContext(group: accessGroup.identifier, kind: .vault, name: "")
    }

    static func bodyKey(_ root: borrowing SecretBytes) throws(SealingError) -> SealingKey {
        try SealingKey(secret: root.derived(.vaultBodyKey), epoch: 1)
    }

    /// Whether a file's body says that it is sealed under that root's key. Nobody vouches for it, but without the root
    /// nobody can make another one's root look like this: where the header's code does not fit as well, that was changed.
    static func isBody(of head: VaultHead, under root: borrowing SecretBytes) -> Bool {
        guard let key = try? bodyKey(root) else { return false }
        return key.id.bytes.withUnsafeBytes { head.bodyHeader[48..<64].elementsEqual($0) }
    }

    /// The whole file: header, checksum, code and sealed body.
    ///
    /// - Throws: `VaultError` `.tooLarge`.
    static func file(
        _ header: VaultHeader, _ body: VaultBody, _ place: VaultPlace, root: borrowing SecretBytes, at now: UInt64
    ) throws(VaultError) -> [UInt8] {
        guard !body.holdsWhenUnlocked || header.slots.contains(where: { $0.reach == .whenUnlocked }) else {
            throw VaultError(
                .lastSlot, "write the vault", place.path,
                "It would hold what is protected when unlocked, and no slot reaches that.",
                advice: "Add a passphrase or recipient slot first.")
        }
        let encoded = body.encoded
        guard encoded.count <= VaultBody.maximumSize, body.keyring.count <= VaultBody.maximumKeys,
            header.generation <= VaultHeader.maximumGeneration, header.slots.count <= VaultHeader.maximumSlots,
            header.slots.reduce(0, { $0 + $1.encodedSize }) <= VaultHeader.maximumSlotAreaSize
        else { throw VaultError(.tooLarge, "write the vault", place.path, "It would outgrow its largest size.") }
        let key: SealingKey
        do throws(SealingError) { key = try bodyKey(root) } catch {
            throw VaultError(.corrupt, "write the vault", place.path, error.detail)
        }
        let description = BlobDescription(
            vault: context(place.accessGroup), sequence: header.generation, sealedAt: now)
        return header.file(with: encoded.withRawBytes { BlobSealer.seal($0, as: description, key: key) }, root: root)
    }
}
