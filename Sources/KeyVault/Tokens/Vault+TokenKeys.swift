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
        if let entry = heldContents.body.tokenKeys.active { return try lend(entry, body) }
        if let entry = try current().body.tokenKeys.active { return try lend(entry, body) }
        let made = try change(.keyAdded) { draft throws(VaultError) in
            if let entry = draft.body.tokenKeys.active {
                draft.isSettled = true
                return entry
            }
            return try draft.body.addTokenKey(vaultID: draft.vaultID, createdAt: draft.now, keys: draft.keys)
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
        if let entry = heldContents.body.tokenKeys.first(where: { $0.keyID == id }) {
            return try lend(entry) { _, key in body(key) }
        }
        guard let entry = try current().body.tokenKeys.first(where: { $0.keyID == id }) else { return nil }
        return try lend(entry) { _, key in body(key) }
    }

    private func lend<Result>(
        _ entry: TokenKeyEntry, _ body: (Bytes16, UnsafeRawBufferPointer) -> Result
    ) throws(VaultError) -> Result {
        let secret = try entry.unwrap(vaultID: heldContents.head.header.vaultID, keys: keys, path: path)
        return secret.withUnsafeBytes { body(entry.keyID, $0) }
    }
}

extension [TokenKeyEntry] {
    var active: TokenKeyEntry? { first { $0.state == .active } }
}

extension VaultBody {
    /// Gives a vault that has none a key that digests are made with.
    @discardableResult
    mutating func addTokenKey(vaultID: [UInt8], createdAt: UInt64, keys: ClassKeys) throws(VaultError) -> TokenKeyEntry
    {
        if let active = tokenKeys.active { return active }
        let entry = try TokenKeyEntry.random(vaultID: vaultID, createdAt: createdAt, keys: keys)
        tokenKeys.append(entry)
        return entry
    }

    /// Takes token keys from a backup: those that are not here, to check with only. Digests name their key, so that the ones
    /// in records that came from there are still recognised.
    ///
    /// - Throws: `VaultError` `.tooLarge`, `.corrupt`.
    mutating func addTokenKeys(
        _ entries: [TokenKeyEntry], from source: WrappingSide, to target: WrappingSide
    ) throws(VaultError) {
        for entry in entries where !tokenKeys.contains(where: { $0.keyID == entry.keyID }) {
            var carried = try entry.carried(from: source, to: target)
            carried.state = .checksOnly
            tokenKeys.append(carried)
        }
        guard tokenKeys.count <= TokenKeyEntry.maximumCount else {
            throw VaultError(
                .tooLarge, "bring a backup into", target.place.path, "It would have more token keys than a vault holds."
            )
        }
    }
}
