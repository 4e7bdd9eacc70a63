package import CryptoPrimitives
package import Sealing

/// The public half of a ``WriterKey``. Its text begins with `sealedwriter1` and is not secret.
public struct WriterPublicKey: Hashable, Sendable, CustomStringConvertible {
    static let encoding = Bech32(prefix: "sealedwriter", isUpperCase: false)

    package let key: Ed25519.PublicKey
    /// The id that a blob's header names.
    package let id: WriterID

    package init(_ key: Ed25519.PublicKey) {
        self.key = key
        id = WriterID(publicKey: key)
    }

    /// Reads the text.
    ///
    /// - Throws: `VaultError` `.malformedKey`.
    public init(_ text: String) throws(VaultError) {
        self.init(try PublicKeyText.key(text, Self.encoding, "sealedwriter1", secret: "SEALED-"))
    }

    /// `sealedwriter1` and 58 characters.
    public var description: String { PublicKeyText.text(key, Self.encoding) }
}

/// The public half of a `TeamKey`. Its text begins with `sealedteam1` and is not secret.
public struct TeamPublicKey: Hashable, Sendable, CustomStringConvertible {
    static let encoding = Bech32(prefix: "sealedteam", isUpperCase: false)

    package let key: Ed25519.PublicKey

    package init(_ key: Ed25519.PublicKey) { self.key = key }

    /// Returns `nil` for bytes that are no canonical key of the prime-order group.
    init?(bytes: [UInt8]) {
        guard let key = try? Ed25519.PublicKey(validating: bytes) else { return nil }
        self.init(key)
    }

    /// Reads the text.
    ///
    /// - Throws: `VaultError` `.malformedKey`.
    public init(_ text: String) throws(VaultError) {
        self.init(try PublicKeyText.key(text, Self.encoding, "sealedteam1", secret: "SEALED-"))
    }

    /// Returns whether a signature of a hash of 64 bytes is this key's.
    package func hasSigned(_ digest: [UInt8], _ signature: [UInt8]) -> Bool {
        (try? key.verify(signature, of: SigningContext.team.message(digest))) != nil
    }

    /// `sealedteam1` and 58 characters.
    public var description: String { PublicKeyText.text(key, Self.encoding) }
}

/// The text of public keys.
private enum PublicKeyText {
    static func key(
        _ text: String, _ encoding: Bech32, _ prefix: String, secret: String
    ) throws(VaultError) -> Ed25519.PublicKey {
        do throws(CryptoError) {
            let bytes = try SecretBytes(count: 32) { bytes throws(CryptoError) in
                try Array(text.utf8).withRawBytes { text throws(CryptoError) in try encoding.decode(text, into: bytes) }
            }
            return try Ed25519.PublicKey(validating: bytes.withUnsafeBytes { Array($0) })
        } catch {
            // The error does not contain the text, because the user may have entered the secret half by mistake.
            throw VaultError(
                error,
                meaning: VaultError(
                    .malformedKey, "read", "the public key",
                    text.hasPrefix(secret)
                        ? "It is a secret key; the public key begins with \(prefix)."
                        : "It is not \(prefix) and 58 characters, or one of them is wrong.",
                    advice: "Copy the whole text again."))
        }
    }

    static func text(_ key: Ed25519.PublicKey, _ encoding: Bech32) -> String {
        String(unsafeUninitializedCapacity: encoding.textSize(byteCount: 32)) { text in
            key.bytes.withUnsafeBytes { encoding.encode($0, into: UnsafeMutableRawBufferPointer(text)) }
            return text.count
        }
    }
}

extension VaultError.Code {
    /// The file or text is no key of that kind, or is damaged.
    public static let malformedKey = VaultError.Code(rawValue: "malformedKey")
    /// The file is no roster, or is damaged.
    public static let malformedRoster = VaultError.Code(rawValue: "malformedRoster")
    /// The roster is not signed by the group's team key, or two sources name different team keys.
    public static let wrongTeamKey = VaultError.Code(rawValue: "wrongTeamKey")
    /// The roster is older than one that was accepted before.
    public static let olderRoster = VaultError.Code(rawValue: "olderRoster")
}

extension Personalization {
    static let protectedKey = Personalization("SealedState.pkf1")
    static let roster = Personalization("SealedState.ros1")
    static let teamSuccession = Personalization("SealedState.tsu1")
    static let rosterMemory = Personalization("SealedState.rme1")
}
