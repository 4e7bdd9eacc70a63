/// The rules for values that only their names identify.
enum FieldRules {
    static func rule(for kind: SecretName.Kind) -> SecretRule? { byKind[kind] }

    static let all = table.map(\.rule)

    private static let byKind = table.reduce(into: [SecretName.Kind: SecretRule]()) { rules, row in
        for kind in row.kinds { rules[kind] = row.rule }
    }

    private struct Row {
        /// The kinds of names that it is for; every kind has a row.
        let kinds: [SecretName.Kind]
        let rule: SecretRule

        init(
            _ kinds: SecretName.Kind..., id: String, title: String, meaning: String, remedy: String,
            weight: SecretRule.Weight
        ) {
            self.kinds = kinds
            rule = SecretRule(id: id, title: title, meaning: meaning, remedy: remedy, weight: weight)
        }
    }

    private static let table: [Row] = [
        Row(
            .password, id: "field.password", title: "A password",
            meaning: "An attacker who reads it can sign in as its owner, here and where the same password is used.",
            remedy: "Keep a token that can be revoked instead, and change the password.", weight: .high),
        Row(
            .passphrase, id: "field.passphrase", title: "A passphrase",
            meaning: "An attacker who reads it can open what it protects.",
            remedy: "Keep it in a key store, and change it.", weight: .high),
        Row(
            .secret, id: "field.secret", title: "A value that is named a secret",
            meaning: "An attacker who reads it can do what its program can do with it.",
            remedy: "Replace it where it was issued.", weight: .high),
        Row(
            .token, id: "field.token", title: "A token",
            meaning: "An attacker who reads it can act as its owner until it is revoked or expires.",
            remedy: "Revoke it where it was issued.", weight: .high),
        Row(
            .apiKey, .weakKey, id: "field.api-key", title: "A key of an interface or a cipher",
            meaning: "An attacker who reads it can use the service as this program, or open what the key protects.",
            remedy: "Replace it where it was issued.", weight: .high),
        Row(
            .privateKey, id: "field.private-key", title: "A value that is named a private key",
            meaning: "An attacker who reads it can sign and decrypt as its owner.",
            remedy: "Make a new pair, and withdraw the old public key.", weight: .critical),
        Row(
            .session, id: "field.session", title: "A session",
            meaning: "An attacker who reads it can continue the session without signing in.",
            remedy: "End the session on the server.", weight: .medium),
        Row(
            .credential, id: "field.credential", title: "A credential",
            meaning: "An attacker who reads it may be able to sign in with it.",
            remedy: "Replace it where it was issued.", weight: .medium),
        Row(
            .pin, id: "field.pin", title: "A PIN",
            meaning: "An attacker who reads it can pass the lock that it opens.",
            remedy: "Keep no PIN; compare a salted hash in a key store. Change it.", weight: .high),
        Row(
            .oneTimeCode, id: "field.one-time-code", title: "A code for one use, or for recovery",
            meaning: "An attacker who reads it before its use can pass the second factor.",
            remedy: "Make new codes.", weight: .medium),
        Row(
            .cardNumber, id: "field.card-number", title: "A payment card's number",
            meaning:
                "An attacker who reads it can try to pay with it. Rules of the card industry forbid plaintext copies.",
            remedy: "Keep the payment service's token instead.", weight: .high),
        Row(
            .cardCode, id: "field.card-code", title: "A payment card's security code",
            meaning: "Rules of the card industry forbid every stored copy.",
            remedy: "Delete it.", weight: .high),
        Row(
            .socialSecurity, id: "field.social-security", title: "A social security number",
            meaning: "An attacker who reads it can impersonate its owner. The number cannot be changed.",
            remedy: "Do not keep it, or seal it.", weight: .high),
        Row(
            .seedPhrase, id: "field.seed-phrase", title: "A wallet's recovery phrase",
            meaning: "An attacker who reads it controls the contents of the wallet.",
            remedy: "Move the contents of the wallet to a new one.", weight: .critical),
    ]
}
