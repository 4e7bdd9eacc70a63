/// Credentials in addresses, headers and commands.
enum WebRules {
    private static let address = SecretRule(
        id: "url.credentials", title: "A password in an address",
        meaning: "Whoever reads it can sign in to the service that it names.",
        remedy: "Take the password out of the address, and change it.", weight: .high)
    private static let basic = SecretRule(
        id: "header.basic", title: "A user's name and password in base64",
        meaning: "Whoever reads it can sign in as its owner: base64 hides nothing.",
        remedy: "Keep a token that can be revoked instead, and change the password.", weight: .high)
    private static let bearer = SecretRule(
        id: "header.bearer", title: "A bearer token",
        meaning: "Whoever reads it can act as its owner until it is revoked or expires.",
        remedy: "Revoke it where it was issued, and keep headers out of files.", weight: .high)
    private static let command = SecretRule(
        id: "command.password", title: "A password in a command", meaning: "Whoever reads it can sign in as its owner.",
        remedy: "Change it, and hand it over in a file that only its owner can read.", weight: .high)
    private static let netrc = SecretRule(
        id: "command.netrc", title: "A password of netrc",
        meaning: "Whoever reads it can sign in to the machine that it names.",
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
