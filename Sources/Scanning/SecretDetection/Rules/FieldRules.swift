/// The rules for values that only their names identify.
enum FieldRules {
    static func rule(for kind: SecretName.Kind) -> SecretRule {
        switch kind {
        case .password: password
        case .passphrase: passphrase
        case .secret: secret
        case .token: token
        case .apiKey, .weakKey: key
        case .privateKey: privateKey
        case .session: session
        case .credential: credential
        case .pin: pin
        case .oneTimeCode: oneTimeCode
        case .cardNumber: cardNumber
        case .cardCode: cardCode
        case .socialSecurity: socialSecurity
        case .seedPhrase: seedPhrase
        }
    }

    static let all = [
        password, passphrase, secret, token, key, privateKey, session, credential, pin, oneTimeCode, cardNumber,
        cardCode,
        socialSecurity, seedPhrase,
    ]

    static let password = SecretRule(
        id: "field.password", title: "A password",
        meaning: "Whoever reads it can sign in as its owner, here and wherever it was used again.",
        remedy: "Keep a token that can be revoked instead, and change the password.", weight: .high)
    static let passphrase = SecretRule(
        id: "field.passphrase", title: "A passphrase",
        meaning: "Whoever reads it can open what it protects.",
        remedy: "Keep it in a key store, and change it.", weight: .high)
    static let secret = SecretRule(
        id: "field.secret", title: "A value that is named a secret",
        meaning: "Whoever reads it can do what its program can do with it.",
        remedy: "Replace it where it was issued.", weight: .high)
    static let token = SecretRule(
        id: "field.token", title: "A token",
        meaning: "Whoever reads it can act as its owner until it is revoked or expires.",
        remedy: "Revoke it where it was issued.", weight: .high)
    static let key = SecretRule(
        id: "field.api-key", title: "A key of an interface or a cipher",
        meaning: "Whoever reads it can use the service as this program, or open what the key protects.",
        remedy: "Replace it where it was issued.", weight: .high)
    static let privateKey = SecretRule(
        id: "field.private-key", title: "A value that is named a private key",
        meaning: "Whoever reads it can sign and decrypt as its owner.",
        remedy: "Make a new pair, and withdraw the old public key.", weight: .critical)
    static let session = SecretRule(
        id: "field.session", title: "A session",
        meaning: "Whoever reads it can go on with the session without signing in.",
        remedy: "End the session on the server.", weight: .medium)
    static let credential = SecretRule(
        id: "field.credential", title: "A credential",
        meaning: "Whoever reads it may be able to sign in with it.",
        remedy: "Replace it where it was issued.", weight: .medium)
    static let pin = SecretRule(
        id: "field.pin", title: "A PIN",
        meaning: "Whoever reads it can pass the lock that it opens.",
        remedy: "Keep no PIN; compare a salted hash in a key store. Change it.", weight: .high)
    static let oneTimeCode = SecretRule(
        id: "field.one-time-code", title: "A code for one use, or for recovery",
        meaning: "Whoever reads it before it is used can pass the second factor.",
        remedy: "Make new codes.", weight: .medium)
    static let cardNumber = SecretRule(
        id: "field.card-number", title: "A payment card's number",
        meaning: "Whoever reads it can try to pay with it; rules of the card industry forbid to keep it in the open.",
        remedy: "Keep the payment service's token instead.", weight: .high)
    static let cardCode = SecretRule(
        id: "field.card-code", title: "A payment card's security code",
        meaning: "Rules of the card industry forbid to keep it at all.",
        remedy: "Delete it.", weight: .high)
    static let socialSecurity = SecretRule(
        id: "field.social-security", title: "A social security number",
        meaning: "Whoever reads it can pretend to be its owner, and it cannot be changed.",
        remedy: "Do not keep it, or seal it.", weight: .high)
    static let seedPhrase = SecretRule(
        id: "field.seed-phrase", title: "A wallet's recovery phrase",
        meaning: "Whoever reads it owns what is in the wallet.",
        remedy: "Move what is in the wallet to a new one.", weight: .critical)
}
