internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SharedFiles

/// `sealctl vault identity`: creates an X25519 key for a person or program.
struct VaultIdentityCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "identity",
        abstract: "Create an identity file, or print the recipient of one.",
        discussion: """
            An identity is secret and opens everything that was shared with its recipient, which is public. The file \
            has mode 0600, and an existing file is not overwritten. The command prints the recipient.

            Examples:
              sealctl vault identity ~/.config/me.key
              sealctl vault identity --recipient ~/.config/me.key
            """)

    @Flag(help: "Print only the recipient of an existing file.")
    var recipient = false
    @Flag(help: "Protect the file by a passphrase, which the command asks for.")
    var protected = false
    @Option(
        help: ArgumentHelp(
            "Read the passphrase of the file from the first line of FILE; - is standard input.", valueName: "FILE"),
        completion: .file())
    var identityPassphraseFile: String?
    @Argument(help: ArgumentHelp("The identity file.", valueName: "file"), completion: .file())
    var file: String
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let identity = try recipient ? read() : make()
        let recipients = identity.recipients.map(\.description)
        let fields: [(String, JSONText)] = [
            ("file", .string(file)), ("recipients", .array(recipients.map { .string($0) })),
        ]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : recipients.joined(separator: "\n"))
    }

    private var phrase: KeyFilePassphrase {
        KeyFilePassphrase(file: identityPassphraseFile, option: "--identity-passphrase-file")
    }

    private func read() throws(Failure) -> Identity {
        try phrase.opening(file) { passphrase throws(VaultError) in
            try Identity(contentsOf: file, passphrase: passphrase)
        }
    }

    private func make() throws(Failure) -> Identity {
        let protection = try phrase.protection(of: file, isUnprotected: !protected && identityPassphraseFile == nil)
        return try Failure.onVault { () throws(VaultError) in
            let identity = try Identity.random()
            if let protection {
                try identity.write(to: file, protectedBy: protection)
            } else {
                try identity.write(to: file)
            }
            return identity
        }
    }
}
