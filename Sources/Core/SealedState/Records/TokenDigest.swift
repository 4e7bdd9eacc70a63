internal import CryptoPrimitives
public import FoundationEssentials
internal import KeyVault
internal import Sealing

/// A salted hash of a token, keyed by the vault: a record recognises the token by it, and does not reveal it.
///
/// ```swift
/// struct SharedAuthState: SealedRecord {
///     static let recordName = "shared_auth_state"
///     static let schemaVersion = 1
///     var accessTokenDigest: TokenDigest?
///     var tokenExpiresAt: Date?
///     var expiresAt: Date? { tokenExpiresAt }
///     var isAuthenticated: Bool { accessTokenDigest != nil }
/// }
///
/// state.accessTokenDigest = try store.digest(of: token)
/// let isSameToken = try state.accessTokenDigest?.matches(token, in: store) ?? false
/// ```
///
/// Every program that opens the group's vault can check it, and no other: without the vault's token key not even an
/// easily guessed token can be tried. It stays valid after every rotation, and in a backup that holds the keys.
///
/// Encoded it is one string: `td1:` and 128 hexadecimal digits (`docs/spec/token-digests.md`).
///
/// Equal digests are the same digest. Two digests of one token are not equal: `matches(_:in:)` compares.
public struct TokenDigest: Hashable, Sendable {
    /// The id of the vault's token key.
    let keyID: Bytes16
    let salt: Bytes16
    let hash: Bytes32

    init(keyID: Bytes16, salt: Bytes16, hash: Bytes32) {
        self.keyID = keyID
        self.salt = salt
        self.hash = hash
    }

    /// Returns the hash of a token: keyed first by the salt, so that the token itself is not copied.
    static func hash(_ token: UnsafeRawBufferPointer, salt: Bytes16, key: UnsafeRawBufferPointer) -> Bytes32 {
        ScratchMemory.withSecret(count: 32) { salted in
            salt.withUnsafeBytes { BLAKE2b.hash($0, key: key, personalization: .tokenSalt, into: salted) }
            return Bytes32(filling: {
                BLAKE2b.hash(token, key: UnsafeRawBufferPointer(salted), personalization: .tokenDigest, into: $0)
            })
        }
    }

    /// Returns `true` for the digest of a token, in a time that does not depend on the position of a difference.
    func isDigest(of token: UnsafeRawBufferPointer, key: UnsafeRawBufferPointer) -> Bool {
        let found = Self.hash(token, salt: salt, key: key)
        return found.withUnsafeBytes { found in hash.withUnsafeBytes { ConstantTime.areEqual(found, $0) } }
    }
}

extension Personalization {
    /// A digest's own key (key: the token key; input: the salt); `docs/spec/vault.md` lists both.
    fileprivate static let tokenSalt = Personalization("SealedState.tks1")
    /// The digest (key: the digest's own).
    fileprivate static let tokenDigest = Personalization("SealedState.tkd1")
}

extension TokenDigest: LosslessStringConvertible {
    private static let prefix = "td1:"
    private static let size = 64

    /// Creates a digest from its text form; nil for any other text, a later version's included.
    public init?(_ description: String) {
        let digits = Array(description.utf8.dropFirst(Self.prefix.utf8.count))
        guard description.utf8.starts(with: Self.prefix.utf8), digits.count == 2 * Self.size else { return nil }
        var bytes = [UInt8](repeating: 0, count: Self.size)
        let isRead = digits.withUnsafeBytes { digits in
            bytes.withUnsafeMutableBytes { (try? Hexadecimal.decode(digits, into: $0)) != nil }
        }
        guard isRead else { return nil }
        self = bytes.withUnsafeBytes { bytes in
            TokenDigest(
                keyID: Bytes16(bytes), salt: Bytes16(UnsafeRawBufferPointer(rebasing: bytes[16...])),
                hash: Bytes32(UnsafeRawBufferPointer(rebasing: bytes[32...])))
        }
        // Each digest has one text: capital letters are refused.
        guard self.description.utf8.elementsEqual(description.utf8) else { return nil }
    }

    /// `td1:`, then key id, salt and hash as 128 lower-case hexadecimal digits.
    public var description: String {
        Self.prefix + keyID.hexadecimal + salt.hexadecimal + hash.withUnsafeBytes { $0.hexadecimal }
    }
}

extension TokenDigest: Codable {
    /// Reads the text form.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        guard let digest = TokenDigest(try container.decode(String.self)) else {
            throw DecodingError.dataCorruptedError(
                in: container, debugDescription: "It is not a token digest of a known version.")
        }
        self = digest
    }

    /// Writes the text form.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}

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
    /// - Parameters:
    ///   - token: The token to compare.
    ///   - store: A store of the group whose vault created it.
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
