internal import CryptoPrimitives
package import Sealing

extension Personalization {
    /// The id of a token key, keyed by the token key; `docs/spec/vault.md` lists it.
    static let tokenKeyID = Personalization("SealedState.tki1")
}

/// A key for token digests as the vault stores it (`docs/spec/vault.md`, section 4): wrapped under the service root.
///
/// It is no sealing key. It has no epoch and no rotation ends it, because a digest cannot be computed again without the
/// token.
struct TokenKeyEntry: Hashable, Sendable {
    enum State: UInt8, Sendable {
        /// The key for new digests.
        case active = 1
        /// An imported key, which only checks the digests imported with it.
        case checksOnly = 2
    }

    static let encodedSize = 16 + 8 + 8 + 32 + SecretWrap.overhead
    /// A bound above any realistic number, checked before memory is allocated.
    static let maximumCount = 256

    let keyID: Bytes16
    var state: State
    /// Milliseconds since 1970.
    let createdAt: UInt64
    let wrappedKey: [UInt8]

    /// Creates an entry with a random key.
    static func random(vaultID: [UInt8], createdAt: UInt64, root: RootKey) -> TokenKeyEntry {
        ScratchMemory.withSecret(count: 32) { secret in
            SecureRandom.fill(secret)
            return TokenKeyEntry(
                UnsafeRawBufferPointer(secret), .active, createdAt, vaultID: vaultID, root: root)
        }
    }

    private init(
        _ secret: UnsafeRawBufferPointer, _ state: State, _ createdAt: UInt64, vaultID: [UInt8], root: RootKey
    ) {
        let id = Self.id(of: secret)
        keyID = id
        self.state = state
        self.createdAt = createdAt
        wrappedKey = root.wrap(secret, for: .tokenKeysKey, bound: Self.bound(vaultID, id))
    }

    /// Unwraps the key.
    ///
    /// - Throws: `VaultError` `.corrupt` for a key that does not match its entry, `.outOfMemory`.
    func unwrap(vaultID: [UInt8], root: RootKey, path: String) throws(VaultError) -> SecretBytes {
        try SecretBytes(count: 32) { secret throws(VaultError) in
            do throws(CryptoError) {
                try root.unwrap(
                    wrappedKey[...], for: .tokenKeysKey, bound: Self.bound(vaultID, keyID), into: secret)
                guard Self.id(of: UnsafeRawBufferPointer(secret)) == keyID else {
                    throw CryptoError(.authenticationFailed, "token key")
                }
            } catch { throw .corrupt(path, "A token key does not match its entry.") }
        }
    }

    /// Returns the same key wrapped under another root, or for another vault.
    ///
    /// - Throws: `VaultError` `.corrupt`.
    func rewrapped(
        from old: (vaultID: [UInt8], root: RootKey, path: String), to new: (vaultID: [UInt8], root: RootKey)
    ) throws(VaultError) -> TokenKeyEntry {
        try unwrap(vaultID: old.vaultID, root: old.root, path: old.path).withUnsafeBytes {
            TokenKeyEntry($0, state, createdAt, vaultID: new.vaultID, root: new.root)
        }
    }

    private static func id(of key: UnsafeRawBufferPointer) -> Bytes16 {
        Bytes16(filling: { BLAKE2b.hash(.none, key: key, personalization: .tokenKeyID, into: $0) })
    }

    /// Returns 32 bytes; the bound data of a sealing key has 37.
    private static func bound(_ vaultID: [UInt8], _ keyID: Bytes16) -> [UInt8] {
        vaultID + keyID.withUnsafeBytes { Array($0) }
    }
}

extension TokenKeyEntry {
    func encode(into writer: inout ByteWriter) {
        keyID.withUnsafeBytes { writer.append($0) }
        writer.append(state.rawValue)
        writer.append([UInt8](repeating: 0, count: 7))
        writer.append(createdAt)
        writer.append(wrappedKey)
    }

    /// - Throws: `VaultError` `.corrupt`; `.unsupported` for a state that this version does not know.
    init(parsing reader: inout ByteReader, path: String) throws(VaultError) {
        let id = try reader.take(16)
        let stateByte: UInt8 = try reader.integer()
        let reserved = try reader.take(7)
        let createdAt: UInt64 = try reader.integer()
        let wrappedKey = Array(try reader.take(32 + SecretWrap.overhead))
        guard let state = State(rawValue: stateByte) else {
            throw VaultError(.unsupported, "open the vault", path, "It has a token key of an unknown state.")
        }
        guard reserved.allSatisfy({ $0 == 0 }) else { throw .corrupt(path, "A token key has invalid numbers.") }
        keyID = id.withUnsafeBytes { Bytes16($0) }
        self.state = state
        self.createdAt = createdAt
        self.wrappedKey = wrappedKey
    }
}

extension [TokenKeyEntry] {
    /// Parses a body's section of token keys.
    ///
    /// - Throws: `VaultError` `.corrupt`, `.unsupported`.
    init(parsing section: ArraySlice<UInt8>, path: String) throws(VaultError) {
        guard section.count <= TokenKeyEntry.maximumCount * TokenKeyEntry.encodedSize else {
            throw .corrupt(path, "It has more token keys than a vault can hold.")
        }
        self = []
        var reader = ByteReader(section, path: path)
        while !reader.isAtEnd { append(try TokenKeyEntry(parsing: &reader, path: path)) }
        guard Set(map(\.keyID)).count == count, self.count(where: { $0.state == .active }) <= 1,
            zip(self, dropFirst()).allSatisfy({ $0.createdAt <= $1.createdAt })
        else { throw .corrupt(path, "Its token keys are out of order, have a duplicate, or two are active.") }
    }

    /// The entries in ascending order of their creation, because a backup adds older ones.
    var encoded: [UInt8] {
        var writer = ByteWriter()
        for (_, entry) in enumerated().sorted(by: {
            ($0.element.createdAt, $0.offset) < ($1.element.createdAt, $1.offset)
        }) {
            entry.encode(into: &writer)
        }
        return writer.bytes
    }
}

/// The keys that create and check token digests.
extension Vault {
    /// Lends the key for new digests, and its id. A vault without token keys gets its first one here.
    ///
    /// - Throws: `VaultError`; for a new key, those of any change.
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

    /// Lends the key with the id that a digest names.
    ///
    /// - Returns: `nil` if the vault has no such key, after a look at its file.
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
