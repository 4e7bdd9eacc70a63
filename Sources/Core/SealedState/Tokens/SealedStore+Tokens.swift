internal import CryptoPrimitives
public import FoundationEssentials
internal import KeyVault
internal import Sealing

/// Making and checking digests of tokens. What is handed in is looked at where it lies, and nothing of it is kept; the token
/// itself is the caller's to wipe.
extension SealedStore {
    /// A digest of a token, for a record's field. Each call gives another one, of the same token as well.
    ///
    /// In a vault that was made before there were digests the first call changes the vault: make it outside the closure of an
    /// `update`, which holds a lock.
    /// - Throws: `StoreError` `.unencodable` for an empty token, those of the vault.
    public func digest(of token: some ContiguousBytes) throws(StoreError) -> TokenDigest {
        try token.withUnsafeBytes { token in self.made(of: token) }.get()
    }

    /// A digest of a token's UTF-8.
    ///
    /// - Throws: As for bytes.
    public func digest(of token: String) throws(StoreError) -> TokenDigest {
        try token.withTokenBytes { token in self.made(of: token) }.get()
    }

    private func made(of token: UnsafeRawBufferPointer) -> Result<TokenDigest, StoreError> {
        // An absent token that matches another absent one is a login that nobody made.
        guard !token.isEmpty else {
            return .failure(
                StoreError(
                    .unencodable, "make a token's digest for", group.identifier, "The token is empty.",
                    advice: "Keep no digest where there is no token."))
        }
        let salt = Bytes16(filling: { SecureRandom.fill($0) })
        do throws(VaultError) {
            return .success(
                try vault.withTokenKey { id, key in
                    TokenDigest(keyID: id, salt: salt, hash: TokenDigest.hash(token, salt: salt, key: key))
                })
        } catch {
            return .failure(StoreError(error, "make a token's digest with"))
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
                advice: "Bring in a backup of the vault that it was made with, or make it anew from the token."))
    }
}

extension TokenDigest {
    /// Whether it is the digest of a token.
    ///
    /// - Parameter store: Of the group whose vault it was made with.
    /// - Throws: `StoreError` `.unknownKey` where the vault does not hold the key that it names, which is no answer about the
    ///   token; those of the vault.
    public func matches(_ token: some ContiguousBytes, in store: SealedStore) throws(StoreError) -> Bool {
        try token.withUnsafeBytes { token in store.isDigest(self, of: token) }.get()
    }

    /// Whether it is the digest of a token's UTF-8.
    ///
    /// - Throws: As for bytes.
    public func matches(_ token: String, in store: SealedStore) throws(StoreError) -> Bool {
        try token.withTokenBytes { token in store.isDigest(self, of: token) }.get()
    }
}

extension String {
    /// Lends the UTF-8 where it lies; of a string that has none in one piece, a copy that is wiped.
    fileprivate func withTokenBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        let result = utf8.withContiguousStorageIfAvailable { body(UnsafeRawBufferPointer($0)) }
        if let result { return result }
        return ScratchMemory.withSecret(count: utf8.count) { copy in
            copy.copyBytes(from: utf8)
            return body(UnsafeRawBufferPointer(copy))
        }
    }
}
