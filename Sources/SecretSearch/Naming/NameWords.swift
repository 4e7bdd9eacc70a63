/// The words of names.
enum NameWords {
    /// The words of a name in small letters, parted by case, digits and signs. At most 12, of the last 96 bytes.
    static func split(_ name: SearchText) -> [String] {
        var words: [String] = []
        words.reserveCapacity(8)
        var word: [UInt8] = []
        word.reserveCapacity(16)
        func finish() {
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word.removeAll(keepingCapacity: true)
        }
        for position in max(0, name.count - 96)..<name.count {
            let byte = name[position]
            let isUpper = byte.isCapital
            guard byte.isLetter || byte >= 128 else {
                finish()
                continue
            }
            let endsCapitals =
                isUpper && name[position - 1].isCapital && name[position + 1].isSmall
            if isUpper, name[position - 1].isSmall || endsCapitals { finish() }
            word.append(byte.lowered)
        }
        finish()
        return words.count > 12 ? Array(words.suffix(12)) : words
    }

    static let single: [String: SecretName.Kind] = [
        "password": .password, "passwords": .password, "passwd": .password, "pwd": .password, "pass": .password,
        "passwort": .password,
        "kennwort": .password, "contraseña": .password, "contrasena": .password, "senha": .password, "pw": .password,
        "psk": .password,
        "passcode": .password, "passkey": .password, "userpass": .password, "dbpass": .password, "mdp": .password,
        "wachtwoord": .password,
        "passphrase": .passphrase, "secret": .secret, "secrets": .secret,
        "token": .token, "tokens": .token, "jwt": .token, "bearer": .token, "refresh": .token, "apikey": .apiKey,
        "apikeys": .apiKey,
        "secretkey": .apiKey, "accesskey": .apiKey, "authkey": .apiKey, "masterkey": .apiKey, "signingkey": .apiKey,
        "encryptionkey": .apiKey, "privatekey": .privateKey, "authorization": .credential, "auth": .credential,
        "credential": .credential,
        "credentials": .credential, "creds": .credential, "session": .session, "sessionid": .session,
        "sessid": .session,
        "phpsessid": .session, "jsessionid": .session, "cookie": .session, "pin": .pin, "pincode": .pin,
        "otp": .oneTimeCode,
        "totp": .apiKey, "cvv": .cardCode, "cvc": .cardCode, "cvv2": .cardCode, "ssn": .socialSecurity,
        "mnemonic": .seedPhrase,
        "cardnumber": .cardNumber, "creditcard": .cardNumber, "ccnumber": .cardNumber, "ccnum": .cardNumber,
        "pan": .cardNumber,
    ]

    static let pairs: [String: SecretName.Kind] = [
        "sessionid": .session, "sessionkey": .apiKey, "sessioncookie": .session, "pincode": .pin,
        "cardnumber": .cardNumber,
        "creditcard": .cardNumber, "debitcard": .cardNumber, "cardno": .cardNumber, "ccnumber": .cardNumber,
        "securitycode": .cardCode,
        "socialsecurity": .socialSecurity, "ssnumber": .socialSecurity, "seedphrase": .seedPhrase,
        "recoveryphrase": .seedPhrase, "walletseed": .seedPhrase,
        "recoverycode": .oneTimeCode, "recoverycodes": .oneTimeCode, "backupcode": .oneTimeCode,
        "backupcodes": .oneTimeCode,
        "verificationcode": .oneTimeCode, "mfacode": .oneTimeCode, "privatekey": .privateKey, "passphrase": .passphrase,
        "passcode": .password, "motpasse": .password,
        "accountkey": .apiKey, "connectsid": .session, "cookievalue": .session, "wifipassword": .password,
    ]

    static let suffixes: [(String, SecretName.Kind)] = [
        ("password", .password), ("passwd", .password), ("passphrase", .passphrase), ("secret", .secret),
        ("token", .token),
        ("apikey", .apiKey), ("secretkey", .apiKey), ("accesskey", .apiKey), ("authkey", .apiKey),
        ("privatekey", .privateKey),
        ("sessionid", .session), ("sessid", .session), ("userpwd", .password),
    ]

    /// What a key opens or signs.
    static let secretKeys: Set<String> = [
        "api", "access", "secret", "private", "priv", "encryption", "encrypt", "crypto", "signing", "sign", "auth",
        "authentication", "account",
        "client", "master", "storage", "shared", "service", "license", "deploy", "app", "application", "admin", "root",
        "aes", "hmac",
        "symmetric", "db", "database", "vault", "wrapping", "ssh", "stripe", "server", "consumer", "integration",
        "write", "webhook", "recovery",
        "decryption", "signature", "jwt", "subscription", "host", "function", "data", "rest", "user", "developer",
        "dev", "prod", "live",
        "openai", "sendgrid", "mailgun", "google", "aws", "azure", "github", "twilio", "maps", "firebase", "algolia",
        "datadog", "sentry",
    ]

    /// Keys of tables and keyboards, and keys that are public.
    static let harmlessKeys: Set<String> = [
        "public", "pub", "primary", "foreign", "partition", "sort", "cache", "hot", "object", "index", "range", "hash",
        "lookup", "composite", "unique",
        "publishable", "verify", "verification", "arrow", "shortcut", "enter", "return", "escape", "translation",
        "localization",
        "string", "dictionary", "map", "json", "coding", "group", "parent", "child", "row", "column", "idempotency",
        "dedup", "routing", "shard",
    ]

    /// Words that are a secret's only where no other word follows, but one of these.
    static let mustEnd: Set<SecretName.Kind> = [.session, .credential, .pin, .oneTimeCode, .weakKey]
    static let mayFollow: Set<String> = [
        "value", "string", "data", "raw", "id", "current", "old", "new", "hex", "base64", "encoded", "plain",
    ]

    static func disqualifiesBefore(_ word: String) -> Bool { before.contains(word) }
    static func disqualifiesAfter(_ word: String) -> Bool { after.contains(word) }

    private static let before: Set<String> = [
        "is", "has", "show", "hide", "shows", "forgot", "forget", "reset", "require", "required", "requires", "use",
        "uses", "using", "enable",
        "enabled", "disable", "disabled", "allow", "allows", "allowed", "max", "min", "maximum", "minimum", "num",
        "total", "count", "no",
        "not", "invalid", "valid", "missing", "wrong", "incorrect", "weak", "next", "prev", "previous", "page",
        "pagination",
        "continuation", "sync", "cursor", "cancellation", "device", "push", "fcm", "apns", "lexer", "parser", "syntax",
        "design", "css", "color", "theme",
        "encrypted", "hashed", "sealed", "masked", "redacted", "public", "did", "will", "can", "should", "prompt",
        "completion", "input", "output",
        "i", "error", "msg", "label", "hint", "change", "changes",
    ]

    private static let after: Set<String> = [
        "label", "placeholder", "hint", "title", "type", "kind", "count", "url", "uri", "endpoint", "link", "path",
        "file", "filename", "dir",
        "directory", "name", "names", "length", "len", "size", "min", "max", "expiry", "expires", "expire",
        "expiration", "expired", "at", "date", "time",
        "timestamp", "timeout", "ttl", "lifetime", "duration", "age", "policy", "strength", "regex", "pattern", "rule",
        "rules", "error",
        "errors", "message", "msg", "field", "fields", "view", "button", "prompt", "screen", "page", "form", "visible",
        "visibility", "enabled", "disabled", "required", "requires", "reset", "changed", "updated", "created",
        "modified", "version", "algorithm",
        "alg", "format", "prefix", "suffix", "usage", "limit", "limits", "remaining", "manager", "provider", "service",
        "store", "repository",
        "helper", "util", "utils", "handler", "controller", "factory", "protocol", "delegate", "mode", "state",
        "status", "event", "action",
        "index", "offset", "position", "cost", "price", "validator", "validation", "valid", "invalid", "check",
        "checker", "mismatch",
        "generator", "description", "desc", "info", "details", "icon", "image", "color", "font", "style", "class",
        "toggle", "switch", "tooltip",
        "help", "text", "group", "groups", "id", "ids", "identifier", "scope", "scopes", "issuer", "audience", "grant",
        "source", "table",
        "column", "schema", "bundle", "fingerprint", "checksum", "digest", "hash", "salt", "hashed", "encrypted",
        "sealed", "ciphertext", "masked",
        "redacted", "public", "rotation", "attempts", "retries", "request", "header", "param", "parameter", "variable",
        "arn", "ref",
        "reference", "alias", "level", "flow", "confirmationlabel", "verified", "tokenizer", "code", "start", "started",
        "end", "stats", "spec", "specs", "last", "used", "schedule", "queue", "logger",
    ]
}
