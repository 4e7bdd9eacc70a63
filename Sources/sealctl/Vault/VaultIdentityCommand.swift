internal import ArgumentParser
internal import KeyVault

/// `sealctl vault identity`: a person's or program's own X25519 key.
struct VaultIdentityCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Make an identity file, or print the recipient of one.",
        discussion: """
            An identity is secret and opens what was shared with its recipient, which anybody may know. The file has \
            mode 0600 and is never written over. Printed is the recipient.

            Examples:
              sealctl vault identity ~/.config/me.key
              sealctl vault identity --recipient ~/.config/me.key
              sealctl vault slot add --recipient "$(ssh ada sealctl vault identity --recipient me.key)"
            """)

    @Flag(help: "The file is there: print its recipient only.")
    var recipient = false
    @Argument(help: ArgumentHelp("The identity file.", valueName: "file"), completion: .file())
    var file: String
    @OptionGroup var output: OutputOptions

    func perform() throws(Failure) {
        let identity = try Failure.onVault { () throws(VaultError) in
            if recipient { return try Identity(contentsOf: file) }
            let identity = try Identity.random()
            try identity.write(to: file)
            return identity
        }
        let recipients = identity.recipients.map(\.description)
        let fields: [(String, JSONText)] = [
            ("file", .string(file)), ("recipients", .array(recipients.map { .string($0) })),
        ]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : recipients.joined(separator: "\n"))
    }
}
