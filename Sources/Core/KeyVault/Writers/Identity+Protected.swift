internal import CryptoPrimitives

extension Identity {
    /// Reads an identity file whose keys may be protected by a passphrase.
    ///
    /// - Parameters:
    ///   - path: The identity file.
    ///   - passphrase: Called once, and only for a file with a protected key; without it such a file is `.locked`.
    /// - Throws: `VaultError` `.locked`, `.malformedIdentity`, `.wrongPassphrase`, `.unsafeFile`, `.denied`, `.file`.
    public convenience init(
        contentsOf path: String, passphrase: (() throws(VaultError) -> Passphrase)?
    ) throws(VaultError) {
        let text = try KeyTextFile.contents(path, .identity)
        try self.init(Self.keys(in: text, path, passphrase: passphrase))
    }

    /// Creates a file of mode 0600 with this identity under a passphrase; never overwrites an existing file.
    ///
    /// - Throws: `VaultError` `.invalidArgument` for costs below 2 passes over 19 MiB; `.file`, `.denied`.
    public func write(to path: String, protectedBy protection: KeyProtection) throws(VaultError) {
        guard keys.count == 1, let key = keys.first else {
            throw VaultError(
                .invalidArgument, "protect", path, "A protected identity holds one key; this one has \(keys.count).")
        }
        let text: SecretBytes
        do throws(CryptoError) {
            let scalar = try key.scalarCopy()
            let form = try ProtectedKey(
                scalar, publicKey: key.publicKey.bytes, kind: .identity, passphrase: protection.passphrase,
                costs: protection.costs)
            text = KeyText.text(
                comment: "recipient: \(recipient)", lineSize: KeyTextKind.identity.protectedSize
            ) { form.encode(.identity, into: $0) }
        } catch {
            throw VaultError(.invalidArgument, "protect", path, "\(error).")
        }
        try KeyTextFile.write(text, to: path, .identity)
    }

    private static func keys(
        in text: borrowing SecretBytes, _ path: String, passphrase: (() throws(VaultError) -> Passphrase)?
    ) throws(VaultError) -> [IdentityKey] {
        var keys: [IdentityKey] = []
        var given: Passphrase?
        try text.withUnsafeBytes { text throws(VaultError) in
            try KeyText.forEachKey(in: text, .identity) { line throws(VaultError) in
                keys.append(try key(line, path, &given, passphrase))
            }
        }
        return keys
    }

    private static func key(
        _ line: consuming KeyText.Line, _ path: String, _ given: inout Passphrase?,
        _ passphrase: (() throws(VaultError) -> Passphrase)?
    ) throws(VaultError) -> IdentityKey {
        switch consume line {
        case .plain(let scalar):
            do throws(CryptoError) { return try IdentityKey(scalar) } catch { throw malformed("\(error).") }
        case .protected(let form):
            guard let passphrase else {
                throw VaultError(
                    .locked, "open", path, "It is protected by a passphrase.", advice: "Give the passphrase.")
            }
            let phrase = if let given { given } else { try passphrase() }
            given = phrase
            do throws(CryptoError) {
                let key = try IdentityKey(form.secret(kind: .identity, passphrase: phrase))
                guard key.publicKey.bytes == form.publicKey else {
                    throw CryptoError(.authenticationFailed, "protected key")
                }
                return key
            } catch {
                throw VaultError(opening: error, .identity, path)
            }
        }
    }
}

extension IdentityKey {
    /// Returns a copy of the scalar, through its text.
    fileprivate func scalarCopy() throws(CryptoError) -> SecretBytes {
        let text = SecretBytes(count: Self.textSize) { encode(into: $0) }
        return try SecretBytes(count: X25519.keySize) { bytes throws(CryptoError) in
            try text.withUnsafeBytes { text throws(CryptoError) in try Self.encoding.decode(text, into: bytes) }
        }
    }
}
