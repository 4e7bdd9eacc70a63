/// Rules for private keys in their formats.
enum KeyRules {
    static let privateKey = SecretRule(
        id: "key.private", title: "A private key",
        meaning: "An attacker who reads it can sign and decrypt as its owner.",
        remedy: "Make a new pair, and withdraw the certificate or public key of this one.", weight: .critical)
    static let encryptedKey = SecretRule(
        id: "key.private.encrypted", title: "A private key behind a passphrase",
        meaning: "An attacker who reads it can try passphrases against it offline.",
        remedy: "Keep it in a key store; make a new pair if the passphrase is a weak one.", weight: .medium)
    static let pgpKey = SecretRule(
        id: "key.pgp", title: "An OpenPGP private key",
        meaning: "An attacker who reads it can try passphrases against it, or use it at once if it has none.",
        remedy: "Revoke it and make a new one.", weight: .high)
    static let puttyKey = SecretRule(
        id: "key.putty", title: "A PuTTY private key",
        meaning: "An attacker who reads it can sign in as its owner over SSH.",
        remedy: "Take its public key out of the servers' lists, and make a new pair.", weight: .critical)
    static let derKey = SecretRule(
        id: "key.private.der", title: "A private key without armour",
        meaning: "An attacker who reads it can sign and decrypt as its owner.",
        remedy: "Make a new pair, and withdraw the certificate or public key of this one.", weight: .critical)
    static let jwk = SecretRule(
        id: "key.jwk", title: "A JSON Web Key with its private part",
        meaning: "An attacker who reads it can sign or decrypt tokens as its owner.",
        remedy: "Make a new key, and take this one out of the published set.", weight: .critical)
    static let pkcs12 = SecretRule(
        id: "key.pkcs12", title: "A PKCS #12 store",
        meaning: "It holds a private key behind a passphrase that is often short.",
        remedy: "Keep it in a key store; withdraw its certificate if the passphrase is a weak one.", weight: .medium)
    static let age = SecretRule(
        id: "key.age", title: "An age identity",
        meaning: "An attacker who reads it can decrypt what was encrypted to it.",
        remedy: "Make a new identity, and encrypt the data again.", weight: .critical)
    static let sealedKeyFile = SecretRule(
        id: "key.sealed-key-file", title: "A vault's key file",
        meaning: "An attacker who reads it can unlock the vault it was made for.",
        remedy:
            "Put a new key file in its slot's place with sealctl vault slot change --group {group} ID, where the slots "
            + "are shown by sealctl vault slot list --group {group}, then remove this one.",
        weight: .critical)
    static let sealedIdentity = SecretRule(
        id: "key.sealed-identity", title: "An identity of a vault",
        meaning: "An attacker who reads it can unlock every vault that lists it.",
        remedy: "Take its recipient out of the vaults, and make a new identity.", weight: .critical)
    static let sealedSigningKey = SecretRule(
        id: "key.sealed-signing-key", title: "A writer key or a team key without a passphrase",
        meaning: "An attacker who reads it can sign records as its writer, or rosters and vaults for its team.",
        remedy:
            "Make a protected one; revoke the writer, or name the new key as the team's next one, with sealctl roster "
            + "sign. Then remove this one.",
        weight: .critical)
    static let jwt = SecretRule(
        id: "token.jwt", title: "A JSON Web Token",
        meaning: "An attacker who reads it can act as its subject until it expires.",
        remedy: "Keep it sealed, and let it expire soon.", weight: .high)
    static let expiredJWT = SecretRule(
        id: "token.jwt.expired", title: "A JSON Web Token that has expired",
        meaning: "It opens nothing any more, but it names its subject. Valid tokens may be stored in the same place.",
        remedy: "Delete it.", weight: .low)

    /// The rules that only detectors of other rules return.
    static let others = [encryptedKey, expiredJWT]

    static let detectors: [Detector] =
        [
            Detector(privateKey, "PRIVATE KEY-----") { PrivateKeyBlock.find(in: $0, $1) },
            Detector(pgpKey, "-----BEGIN PGP PRIVATE KEY BLOCK-----") { PrivateKeyBlock.findPGP(in: $0, $1) },
            Detector(puttyKey, "PuTTY-User-Key-File-") { PrivateKeyBlock.findPuTTY(in: $0, $1) },
            Detector(jwk, "\"kty") { WebKey.find(in: $0, $1) },
            Detector(jwt, "eyJ") { WebToken.find(in: $0, $1) },
            Detector(jwt, "eyA") { WebToken.find(in: $0, $1) },
            Detector(jwt, "ewo") { WebToken.find(in: $0, $1) },
        ]
        + EncodedKey.detectors
        + Detector.tokens(age, TokenShape("AGE-SECRET-KEY-1", .run(.upperAlphanumeric, 58)))
        + Detector.tokens(sealedIdentity, TokenShape("SEALED-SECRET-KEY-1", .run(.upperAlphanumeric, 58)))
        + Detector.tokens(sealedSigningKey, TokenShape("SEALED-WRITER-KEY-1", .run(.upperAlphanumeric, 58)))
        + Detector.tokens(sealedSigningKey, TokenShape("SEALED-TEAM-KEY-1", .run(.upperAlphanumeric, 58)))
        + Detector.tokens(sealedKeyFile, TokenShape("sealed-key-1 ", .run(.hex, 64)))
}
