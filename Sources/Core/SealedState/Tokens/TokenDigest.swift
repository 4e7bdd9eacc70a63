internal import CryptoPrimitives
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
