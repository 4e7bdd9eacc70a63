internal import CryptoPrimitives
package import Sealing

/// The keys that token digests are made and checked with.
extension Vault {
    /// Lends the key that new digests are made with, and its id. A vault that was made before there were such keys gets its
    /// first one here.
    ///
    /// - Throws: `VaultError`, where one has to be made as any change.
    package func withTokenKey<Result>(
        _ body: (Bytes16, UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        if let entry = try heldContents.service.tokenKeys.active { return try lend(entry, body) }
        if let entry = try current().service.tokenKeys.active { return try lend(entry, body) }
        let made = try change(.keyAdded) { draft throws(VaultError) in
            if let entry = draft.service.tokenKeys.active { return entry }
            let entry = TokenKeyEntry.random(
                vaultID: draft.vaultID, createdAt: draft.now, root: draft.service.root)
            draft.service.tokenKeys.append(entry)
            return entry
        }
        return try lend(made, body)
    }

    /// Lends the key with that id, which a digest names.
    ///
    /// - Returns: nil where the vault holds no such key, after a look at its file.
    /// - Throws: `VaultError`, as `current()`.
    package func withTokenKey<Result>(
        _ id: Bytes16, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result? {
        if let entry = try heldContents.service.tokenKeys.first(where: { $0.keyID == id }) {
            return try lend(entry) { _, key in body(key) }
        }
        guard let entry = try current().service.tokenKeys.first(where: { $0.keyID == id }) else { return nil }
        return try lend(entry) { _, key in body(key) }
    }

    private func lend<Result>(
        _ entry: TokenKeyEntry, _ body: (Bytes16, UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        let secret = try entry.unwrap(vaultID: heldContents.vaultID, root: keys.service, path: path)
        return secret.withUnsafeBytes { body(entry.keyID, $0) }
    }
}

extension [TokenKeyEntry] {
    var active: TokenKeyEntry? { first { $0.state == .active } }
}
