internal import CryptoPrimitives
public import FoundationEssentials
internal import KeyVault
internal import Sealing

/// Creating and checking digests of tokens. The token is read in place, and nothing of it is kept; wiping it is the
/// caller's task.
extension SealedStore {
    /// Creates a digest of a token, for a record's field. Each call returns a different one, also for the same token.
    ///
    /// In a vault that was created before digests existed the first call changes the vault: call it outside the closure
    /// of an `update`, which holds a lock.
    /// - Throws: `StoreError` `.unencodable` for an empty token, the vault's errors.
    public func digest(of token: some ContiguousBytes) throws(StoreError) -> TokenDigest {
        try token.withUnsafeBytes { token in self.made(of: token) }.get()
    }

    /// Creates a digest of a token's UTF-8.
    ///
    /// - Throws: As for bytes.
    public func digest(of token: String) throws(StoreError) -> TokenDigest {
        try token.withTokenBytes { token in self.made(of: token) }.get()
    }

    private func made(of token: UnsafeRawBufferPointer) -> Result<TokenDigest, StoreError> {
        // If two absent tokens matched, a login without a token would succeed.
        guard !token.isEmpty else {
            return .failure(
                StoreError(
                    .unencodable, "create a token's digest for", group.identifier, "The token is empty.",
                    advice: "Store no digest without a token."))
        }
        let salt = Bytes16(filling: { SecureRandom.fill($0) })
        do throws(VaultError) {
            return .success(
                try vault.withTokenKey { id, key in
                    TokenDigest(keyID: id, salt: salt, hash: TokenDigest.hash(token, salt: salt, key: key))
                })
        } catch {
            return .failure(StoreError(error, "create a token's digest with"))
        }
    }

    fileprivate func isDigest(
        _ digest: TokenDigest, of token: UnsafeRawBufferPointer
    ) -> Result<Bool, StoreError> {
        do throws(VaultError) {
            let answer = try vault.withTokenKey(digest.keyID) { key in digest.isDigest(of: token, key: key) }
            if let answer { return .success(answer) }
        } catch {
            return .failure(StoreError(error, "check a token with"))
        }
        return .failure(
            StoreError(
                .unknownKey, "check a token in", group.identifier,
                "Its digest was made under token key \(digest.keyID.hexadecimal), which the vault does not hold.",
                advice: "Import a backup of the vault with which it was created, or create it again from the token."))
    }
}

extension TokenDigest {
    /// Returns `true` if it is the digest of a token.
    ///
    /// - Parameter store: A store of the group whose vault created it.
    /// - Throws: `StoreError` `.unknownKey` if the vault does not hold the key that it names, which says nothing about
    ///   the token; the vault's errors.
    public func matches(_ token: some ContiguousBytes, in store: SealedStore) throws(StoreError) -> Bool {
        try token.withUnsafeBytes { token in store.isDigest(self, of: token) }.get()
    }

    /// Returns `true` if it is the digest of a token's UTF-8.
    ///
    /// - Throws: As for bytes.
    public func matches(_ token: String, in store: SealedStore) throws(StoreError) -> Bool {
        try token.withTokenBytes { token in store.isDigest(self, of: token) }.get()
    }
}

extension String {
    /// Lends the UTF-8 in place; for a string without contiguous storage, a copy that is wiped.
    fileprivate func withTokenBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let result = utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
        if let result { return result }
        return ScratchMemory.withSecret(count: utf8.count) { copy in
            copy.copyBytes(from: utf8)
            return body(UnsafeRawBufferPointer(copy))
        }
    }
}
