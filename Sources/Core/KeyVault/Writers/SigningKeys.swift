public import CryptoPrimitives
package import Sealing

/// An Ed25519 key pair of either kind, with the text form of its seed.
final class SigningSecret: Sendable {
    let publicKey: Ed25519.PublicKey
    private let pair: Ed25519.SigningKey
    private let seed: SecretBytes

    /// - Throws: `CryptoError` `.parameterOutOfRange` for another size than 32 bytes.
    init(seed: consuming SecretBytes) throws(CryptoError) {
        pair = try Ed25519.SigningKey(seed: seed)
        publicKey = pair.publicKey
        self.seed = seed
    }

    func sign(_ message: [UInt8]) -> [UInt8] { pair.sign(message) }

    /// Returns the text of the file, plain or protected.
    func text(
        _ kind: KeyTextKind, comment: String, _ protection: KeyProtection?
    ) throws(VaultError) -> SecretBytes {
        guard let protection else {
            return KeyText.text(comment: comment, lineSize: kind.plainSize) { line in
                seed.withUnsafeBytes { kind.plain.encode($0, into: line) }
            }
        }
        do throws(CryptoError) {
            let form = try ProtectedKey(
                seed, publicKey: publicKey.bytes, kind: kind, passphrase: protection.passphrase,
                costs: protection.costs)
            return KeyText.text(comment: comment, lineSize: kind.protectedSize) { form.encode(kind, into: $0) }
        } catch {
            throw VaultError(.invalidArgument, "protect", kind.noun, "\(error).")
        }
    }

    /// Reads the single key of a text.
    ///
    /// - Parameter passphrase: Called only for a protected key.
    static func read(
        _ text: borrowing SecretBytes, _ kind: KeyTextKind, _ subject: String,
        passphrase: (() throws(VaultError) -> Passphrase)?
    ) throws(VaultError) -> SigningSecret {
        var found: SigningSecret?
        try text.withUnsafeBytes { text throws(VaultError) in
            try KeyText.forEachKey(in: text, kind) { line throws(VaultError) in
                guard found == nil else { throw kind.malformed("It contains more than one key.", subject) }
                found = try secret(line, kind, subject, passphrase)
            }
        }
        guard let found else { throw kind.malformed("It contains no key.", subject) }
        return found
    }

    private static func secret(
        _ line: consuming KeyText.Line, _ kind: KeyTextKind, _ subject: String,
        _ passphrase: (() throws(VaultError) -> Passphrase)?
    ) throws(VaultError) -> SigningSecret {
        switch consume line {
        case .plain(let seed):
            do throws(CryptoError) { return try SigningSecret(seed: seed) } catch {
                throw kind.malformed("\(error).", subject)
            }
        case .protected(let form):
            guard let passphrase else {
                throw VaultError(
                    .locked, "open", subject, "It is protected by a passphrase.", advice: "Give the passphrase.")
            }
            let given = try passphrase()
            do throws(CryptoError) {
                let secret = try SigningSecret(seed: try form.secret(kind: kind, passphrase: given))
                guard secret.publicKey.bytes == form.publicKey else {
                    throw CryptoError(.authenticationFailed, "protected key")
                }
                return secret
            } catch {
                throw VaultError(opening: error, kind, subject)
            }
        }
    }
}

/// A passphrase for a key's file and its costs.
public struct KeyProtection: Sendable {
    let passphrase: Passphrase
    let costs: PassphraseCosts

    /// Creates the protection of a key's file.
    ///
    /// - Parameters:
    ///   - passphrase: The passphrase that opens the file.
    ///   - costs: At least 2 passes over 19 MiB.
    public init(_ passphrase: Passphrase, costs: PassphraseCosts = .recommended) {
        self.passphrase = passphrase
        self.costs = costs
    }
}

/// The secret key with which a program signs the records that it writes. Its description is its public half.
///
/// A program that can read the key's file can sign as this writer, so keep the file inaccessible to the group's other
/// programs: under another unix user, in a unit's credential, in a sandbox.
public final class WriterKey: Sendable, CustomStringConvertible {
    /// The public half, which a roster lists.
    public let publicKey: WriterPublicKey
    private let secret: SigningSecret

    private init(_ secret: SigningSecret) {
        publicKey = WriterPublicKey(secret.publicKey)
        self.secret = secret
    }

    /// Creates a random key.
    public static func random() throws(VaultError) -> WriterKey {
        do throws(CryptoError) { return WriterKey(try SigningSecret(seed: .random(count: Ed25519.seedSize))) } catch {
            throw KeyTextKind.writer.malformed("\(error).")
        }
    }

    /// Reads a writer key's text: `SEALED-WRITER-KEY-1…`, or the protected form.
    ///
    /// - Parameters:
    ///   - text: The text of the key.
    ///   - passphrase: Called only for the protected form; without it that form is `.locked`.
    /// - Throws: `VaultError` `.malformedKey`, `.locked`, `.wrongPassphrase`, `.outOfMemory`.
    public convenience init(
        text: borrowing SecretBytes, passphrase: (() throws(VaultError) -> Passphrase)? = nil
    ) throws(VaultError) {
        self.init(try SigningSecret.read(text, .writer, "the writer key", passphrase: passphrase))
    }

    /// Reads a writer key's file; refuses it if others have rights to it.
    ///
    /// - Throws: `VaultError` `.unsafeFile`, `.denied`, `.file`, and as for its text.
    public convenience init(
        contentsOf path: String, passphrase: (() throws(VaultError) -> Passphrase)? = nil
    ) throws(VaultError) {
        let text = try KeyTextFile.contents(path, .writer)
        self.init(try SigningSecret.read(text, .writer, path, passphrase: passphrase))
    }

    /// Creates a file of mode 0600 with this key; never overwrites an existing file.
    public func write(to path: String, protectedBy protection: KeyProtection? = nil) throws(VaultError) {
        let text = try secret.text(.writer, comment: "public key: \(publicKey)", protection)
        try KeyTextFile.write(text, to: path, .writer)
    }

    /// The id that a blob's header names.
    package var id: WriterID { publicKey.id }

    /// Signs the hash of a record (`SignedRecord.digest`).
    package func sign(_ digest: [UInt8]) -> [UInt8] { secret.sign(SigningContext.writer.message(digest)) }

    /// The public half.
    public var description: String { "WriterKey(\(publicKey))" }
}

/// The secret key that signs a group's rosters. Its description is its public half.
///
/// It is rarely used, kept offline and protected by a passphrase.
public final class TeamKey: Sendable, CustomStringConvertible {
    /// The public half, which programs, system settings and memories contain.
    public let publicKey: TeamPublicKey
    private let secret: SigningSecret

    private init(_ secret: SigningSecret) {
        publicKey = TeamPublicKey(secret.publicKey)
        self.secret = secret
    }

    /// Creates a random key.
    public static func random() throws(VaultError) -> TeamKey {
        do throws(CryptoError) { return TeamKey(try SigningSecret(seed: .random(count: Ed25519.seedSize))) } catch {
            throw KeyTextKind.team.malformed("\(error).")
        }
    }

    /// Reads a team key's text: `SEALED-TEAM-KEY-1…`, or the protected form.
    ///
    /// - Parameters:
    ///   - text: The text of the key.
    ///   - passphrase: Called only for the protected form; without it that form is `.locked`.
    /// - Throws: `VaultError` `.malformedKey`, `.locked`, `.wrongPassphrase`, `.outOfMemory`.
    public convenience init(
        text: borrowing SecretBytes, passphrase: (() throws(VaultError) -> Passphrase)? = nil
    ) throws(VaultError) {
        self.init(try SigningSecret.read(text, .team, "the team key", passphrase: passphrase))
    }

    /// Reads a team key's file; refuses it if others have rights to it.
    ///
    /// - Throws: `VaultError` `.unsafeFile`, `.denied`, `.file`, and as for its text.
    public convenience init(
        contentsOf path: String, passphrase: (() throws(VaultError) -> Passphrase)? = nil
    ) throws(VaultError) {
        let text = try KeyTextFile.contents(path, .team)
        self.init(try SigningSecret.read(text, .team, path, passphrase: passphrase))
    }

    /// Creates a file of mode 0600 with this key; never overwrites an existing file.
    public func write(to path: String, protectedBy protection: KeyProtection? = nil) throws(VaultError) {
        let text = try secret.text(.team, comment: "public key: \(publicKey)", protection)
        try KeyTextFile.write(text, to: path, .team)
    }

    /// Signs a hash of 64 bytes whose personalisation states its subject.
    package func sign(_ digest: [UInt8]) -> [UInt8] { secret.sign(SigningContext.team.message(digest)) }

    /// The public half.
    public var description: String { "TeamKey(\(publicKey))" }
}
