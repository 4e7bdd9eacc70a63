/// Hashes of passwords, as crypt(3), PHC strings, LDAP and frameworks write them.
enum HashRules {
    private static let passwordHash = SecretRule(
        id: "hash.password", title: "A password's hash",
        meaning: "Whoever reads it can try passwords against it at leisure.",
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
