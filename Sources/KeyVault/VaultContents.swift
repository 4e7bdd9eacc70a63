internal import CryptoPrimitives
internal import Sealing

/// What one write of a vault's file holds, opened; a snapshot that never changes.
final class VaultContents: Sendable {
    let head: VaultHead
    let body: VaultBody
    let keyring: Keyring

    init(head: VaultHead, body: VaultBody, keyring: Keyring) {
        self.head = head
        self.body = body
        self.keyring = keyring
    }
}

/// Turns an open vault file into contents: every check between bytes on disk and something to believe.
struct VaultReader {
    let place: VaultPlace

    /// - Parameters:
    ///   - root: The vault's root; the file's own code has to fit it.
    ///   - keys: What unwraps the sealing keys.
    /// - Returns: The contents, and the body's header for the watermark.
    /// - Throws: `VaultError` `.corrupt`, `.unsupported` or `.wrongGroup`.
    func contents(
        of file: borrowing VaultFile, root: borrowing SecretBytes, keys: ClassKeys
    ) throws(VaultError) -> (VaultContents, VerifiedHeader) {
        // Before the body is read: one that nobody vouches for may be large.
        try requireAuthentic(file.head, root)
        return try contents(of: try file.image(), root: root, keys: keys)
    }

    /// The same of a file in memory.
    func contents(
        of image: VaultImage, root: borrowing SecretBytes, keys: ClassKeys
    ) throws(VaultError) -> (VaultContents, VerifiedHeader) {
        try requireAuthentic(image.head, root)
        let (body, header) = try open(image, root)
        let highest = image.head.header.slots.map(\.id).max() ?? 0
        guard highest < body.state.nextSlotID, body.state.nextSlotID < UInt32.max else {
            throw .corrupt(place.path, "Its slots are numbered beyond what it says.")
        }
        let keyring = try KeyringReader(place: place, vaultID: image.head.header.vaultID).keyring(of: body, keys: keys)
        return (VaultContents(head: image.head, body: body, keyring: keyring), header)
    }

    func requireAuthentic(_ head: VaultHead, _ root: borrowing SecretBytes) throws(VaultError) {
        guard VaultHeader.isAuthentic(head, root: root) else {
            throw VaultError.corrupt(place.path, "Its header was changed by somebody without a key.")
        }
    }

    private func open(
        _ image: VaultImage, _ root: borrowing SecretBytes
    ) throws(VaultError) -> (VaultBody, VerifiedHeader) {
        let opened: BlobOpener.Opened
        do throws(SealingError) {
            let key = try VaultSealing.bodyKey(root)
            opened = try image.sealedBody.withRawBytes { body throws(SealingError) in
                try BlobOpener.open(body, context: nil, keys: key, limit: VaultFile.maximumSize)
            }
        } catch {
            throw .corrupt(place.path, error.detail)
        }
        let header = opened.header.header
        // Asked only now: before it was verified, another group's tag could as well be a flipped bit.
        let context = VaultSealing.context(place.accessGroup)
        guard header.groupTag == context.groupTag, header.nameTag == context.nameTag else {
            throw VaultError(.wrongGroup, "open the vault", place.path, "It was made for another access group.")
        }
        guard header.sequence == image.head.header.generation else {
            throw .corrupt(place.path, "Its header and its contents are of different writes.")
        }
        let body = try VaultBody(parsing: opened.plaintext.withUnsafeBytes { Array($0) }, path: place.path)
        return (body, opened.header)
    }
}
