/// The words that occur in names of secrets, and the words that rule a secret out.
enum NameVocabulary {
    static let single: WordTable<SecretName.Kind> = [
        "password": .password, "passwords": .password, "passwd": .password, "pwd": .password, "pass": .password,
        "passwort": .password,
        "kennwort": .password, "contraseña": .password, "contrasen\u{303}a": .password, "contrasena": .password,
        "senha": .password, "pw": .password,
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

    static let pairs: WordTable<SecretName.Kind> = [
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

    static let suffixes: [(StaticString, SecretName.Kind)] = [
        ("password", .password), ("passwd", .password), ("passphrase", .passphrase), ("secret", .secret),
        ("token", .token),
        ("apikey", .apiKey), ("secretkey", .apiKey), ("accesskey", .apiKey), ("authkey", .apiKey),
        ("privatekey", .privateKey),
        ("sessionid", .session), ("sessid", .session), ("userpwd", .password),
    ]

    /// The purposes of secret keys.
    static let secretKeys: WordSet = [
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

    /// The purposes of keys in tables and on keyboards, and of public keys.
    static let harmlessKeys: WordSet = [
        "public", "pub", "primary", "foreign", "partition", "sort", "cache", "hot", "object", "index", "range", "hash",
        "lookup", "composite", "unique",
        "publishable", "verify", "verification", "arrow", "shortcut", "enter", "return", "escape", "translation",
        "localization",
        "string", "dictionary", "map", "json", "coding", "group", "parent", "child", "row", "column", "idempotency",
        "dedup", "routing", "shard",
    ]

    /// The words that may follow a secret's word that otherwise must end the name.
    static let mayFollow: WordSet = [
        "value", "string", "data", "raw", "id", "current", "old", "new", "hex", "base64", "encoded", "plain",
    ]

    /// The words that rule a secret out before the secret's word.
    static let before: WordSet = [
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

    /// The words that rule a secret out after the secret's word.
    static let after: WordSet = [
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
