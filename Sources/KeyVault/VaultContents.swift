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
        try requireAuthentic(file.head, root)
        let (body, header) = try open(file, root)
        let keyring = try KeyringReader(place: place, vaultID: file.head.header.vaultID).keyring(of: body, keys: keys)
        return (VaultContents(head: file.head, body: body, keyring: keyring), header)
    }

    func requireAuthentic(_ head: VaultHead, _ root: borrowing SecretBytes) throws(VaultError) {
        guard VaultHeader.isAuthentic(head, root: root) else {
            throw VaultError.corrupt(place.path, "Its header was changed by somebody without a key.")
        }
    }

    private func open(
        _ file: borrowing VaultFile, _ root: borrowing SecretBytes
    ) throws(VaultError) -> (VaultBody, VerifiedHeader) {
        let sealed = try file.body()
        let opened: BlobOpener.Opened
        do throws(SealingError) {
            let key = try VaultSealing.bodyKey(root)
            opened = try sealed.withRawBytes { body throws(SealingError) in
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
        guard header.sequence == file.head.header.generation else {
            throw .corrupt(place.path, "Its header and its contents are of different writes.")
        }
        let body = try VaultBody(parsing: opened.plaintext.withUnsafeBytes { Array($0) }, path: place.path)
        return (body, opened.header)
    }
}
