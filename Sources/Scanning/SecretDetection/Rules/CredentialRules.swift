/// Rules for credentials in addresses, headers and commands.
enum WebRules {
    private static let address = SecretRule(
        id: "url.credentials", title: "A password in an address",
        meaning: "An attacker who reads it can sign in to the service that it names.",
        remedy: "Take the password out of the address, and change it.", weight: .high)
    private static let basic = SecretRule(
        id: "header.basic", title: "A user's name and password in base64",
        meaning: "An attacker who reads it can sign in as its owner. Base64 does not encrypt.",
        remedy: "Keep a token that can be revoked instead, and change the password.", weight: .high)
    private static let bearer = SecretRule(
        id: "header.bearer", title: "A bearer token",
        meaning: "An attacker who reads it can act as its owner until it is revoked or expires.",
        remedy: "Revoke it where it was issued, and keep headers out of files.", weight: .high)
    private static let command = SecretRule(
        id: "command.password", title: "A password in a command",
        meaning: "An attacker who reads it can sign in as its owner.",
        remedy: "Change it, and hand it over in a file that only its owner can read.", weight: .high)
    private static let netrc = SecretRule(
        id: "command.netrc", title: "A password of netrc",
        meaning: "An attacker who reads it can sign in to the machine that it names.",
        remedy: "Change it, and keep a token that can be revoked.", weight: .high)

    static let detectors: [Detector] =
        CommandPassword.detectors(command) + [
            Detector(address, "://") { CredentialAddress.find(in: $0, $1) },
            Detector(address, ":\\/\\/") { CredentialAddress.find(in: $0, $1) },
            Detector(basic, "basic ", isExact: false) { HeaderCredential.basic(in: $0, $1) },
            Detector(bearer, "bearer ", isExact: false) { HeaderCredential.bearer(in: $0, $1) },
            Detector(command, "curl ") { CommandCredential.curl(in: $0, $1) },
            Detector(netrc, "machine ") { CommandCredential.netrc(in: $0, $1) },
        ]
}

/// Rules for password hashes of crypt(3), PHC strings, LDAP and frameworks.
enum HashRules {
    private static let passwordHash = SecretRule(
        id: "hash.password", title: "A password's hash",
        meaning: "An attacker who reads it can try passwords against it offline.",
        remedy: "Keep it on the server. Change the password if it is a weak one.", weight: .medium)

    static let detectors: [Detector] =
        ["$2a$", "$2b$", "$2y$"].flatMap { prefix in
            Detector.tokens(
                passwordHash,
                TokenShape(prefix, .run(.digit, 2), .text("$"), .run(.crypt, 53)).with { $0.left = .letter })
        }
        + ["$5$", "$6$", "$y$", "$7$"].flatMap { prefix in
            Detector.tokens(
                passwordHash,
                TokenShape(prefix, .run(.cryptFields, 40...200)).with {
                    $0.left = .letter; $0.entropy = 4
                })
        }
        + Detector.tokens(
            passwordHash,
            TokenShape("$argon2", .run(.lower, 1...2), .text("$v="), .run(.phc, 50...400)).with { $0.left = .letter },
            TokenShape(
                "pbkdf2_sha256$", .run(.digit, 4...8), .text("$"), .run(.alphanumeric, 8...64), .text("$"),
                .run(.base64, 40...48), .run(.equals, 0...2)),
            TokenShape(
                "pbkdf2:sha256:", .run(.digit, 4...8), .text("$"), .run(.alphanumeric, 8...64), .text("$"),
                .run(.lowerHex, 64)),
            TokenShape("{SSHA}", .run(.base64, 32...48), .run(.equals, 0...2)),
            TokenShape("$pbkdf2-sha", .run(.phc, 50...400)).with { $0.left = .letter },
            TokenShape("$scrypt$", .run(.phc, 50...400)).with { $0.left = .letter })
}

extension ByteClass {
    fileprivate static let crypt = ByteClass.alphanumeric + ByteClass("./")
    fileprivate static let cryptFields = ByteClass.crypt + ByteClass("$=,")
    fileprivate static let phc = ByteClass.base64 + ByteClass("$=,._-")
}
