/// Parts of names, in any case.
enum NameKeywords {
    static let all: [Keyword] = parts.map { Keyword($0, isExact: false, .name) }

    private static let parts = [
        "pass", "pwd", "secret", "token", "key", "auth", "session", "sessid", "credential", "creds", "cookie", "pin",
        "otp", "cvv",
        "cvc", "ssn", "social", "mnemonic", "seed", "jwt", "card", "ccnum", "kennwort", "contrase", "senha",
        "wachtwoord", "psk",
        "_pw", ".sid", "recovery", "backupcode", "backup_code", "backup-code", "securitycode", "security_code",
        "verificationcode",
        "mfacode", "bearer", "refresh", "\"pw", "\"sid", "\"pan",
    ]
}
