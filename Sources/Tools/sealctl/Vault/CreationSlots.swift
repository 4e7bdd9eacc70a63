internal import AppGroups
internal import ArgumentParser
internal import KeyVault

/// The slots of a new vault: one for each that is stated, or else the group's own key file.
struct CreationSlots: ParsableArguments {
    @Flag(help: "Ask twice for a passphrase on the terminal.")
    var passphrase = false

    @Option(
        help: ArgumentHelp(
            "Read the passphrase from FILE, without its line end; - is a line of standard input.", valueName: "FILE"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("Read the passphrase from a line of the open file descriptor N.", valueName: "N"))
    var passphraseFd: DescriptorNumber?

    @Option(
        help: ArgumentHelp(
            "The time that one try of the passphrase takes on this machine: 500ms, 2s.", valueName: "TIME"))
    var unlockTime: UnlockTime?

    @Flag(help: "The group's own key file, created if it is missing; use it in addition to another slot.")
    var defaultKeyFile = false

    @Option(help: ArgumentHelp("An existing key file.", valueName: "FILE"), completion: .file())
    var keyFile: String?

    @Option(
        defaultAsFlag: CredentialName.usual, parsing: .next,
        help: ArgumentHelp(
            "A systemd credential of this process; sealedstate.GROUP unless it is named.", valueName: "NAME"))
    var credential: CredentialName?

    @Option(
        help: ArgumentHelp("The identity in FILE, as a slot for its recipient.", valueName: "FILE"),
        completion: .file())
    var identity: String?

    @Option(help: RecipientText.help)
    var recipient: [RecipientText] = []

    @Flag(help: "The recipients are programs: they never reach the class \"when unlocked\".")
    var unattended = false

    func validate() throws {
        guard [passphrase, passphraseFile != nil, passphraseFd != nil].filter({ $0 }).count < 2 else {
            throw ValidationError("Give one of --passphrase, --passphrase-file and --passphrase-fd.")
        }
        guard unlockTime == nil || passphraseSource != nil else {
            throw ValidationError("--unlock-time is for a passphrase: give --passphrase as well.")
        }
        guard !unattended || !recipient.isEmpty else {
            throw ValidationError("--unattended is for recipients: give --recipient as well.")
        }
    }

    private var passphraseSource: PassphraseSource? {
        PassphraseSource(isPrompted: passphrase, file: passphraseFile, descriptor: passphraseFd)
    }

    /// The slots, and the credential that opens the new vault the first time: the cheapest available one.
    struct Plan {
        var slots: [NewSlot] = []
        var credential: VaultCredential?

        /// - Parameter credential: The credential that opens the slot on this machine; `nil` if it requires another
        ///   person's secret.
        mutating func add(_ slot: NewSlot, openedBy credential: VaultCredential?) {
            slots.append(slot)
            self.credential = self.credential ?? credential
        }
    }

    /// Reads every stated secret.
    func plan(for group: AccessGroup) throws(Failure) -> (slots: [NewSlot], credential: VaultCredential) {
        var plan = Plan()
        let recipients = try recipient.map { text throws(Failure) in try text.checked() }
        if defaultKeyFile { plan.add(.defaultKeyFile, openedBy: .defaultKeyFile) }
        if let keyFile { plan.add(.keyFile(path: keyFile), openedBy: .keyFile(path: keyFile)) }
        if let credential {
            plan.add(.systemdCredential(name: credential.name), openedBy: .systemdCredential(name: credential.name))
        }
        if let identity {
            let own = try KeyFilePassphrase.identity(identity)
            plan.add(.identity(own), openedBy: .identity(own))
        }
        if let source = passphraseSource {
            let chosen = try source.read(for: group.identifier, isNew: true)
            plan.add(.passphrase(chosen, try unlockTime?.costs() ?? .recommended), openedBy: .passphrase(chosen))
        }
        for recipient in recipients { plan.add(.recipient(recipient, unattended: unattended), openedBy: nil) }
        if plan.slots.isEmpty { plan.add(.defaultKeyFile, openedBy: .defaultKeyFile) }
        guard let credential = plan.credential else {
            throw Failure(
                .usage, "onlyRecipients", "cannot create the vault of \(group): no available credential would open it",
                hint: "Add --identity FILE, or another slot of your own.")
        }
        return (plan.slots, credential)
    }
}

/// A recipient as it was typed. It is checked when the command runs, because the parser would print a refused text,
/// which may be a secret identity by mistake.
struct RecipientText: ExpressibleByArgument, Sendable {
    static let help = ArgumentHelp(
        "Another person's or program's recipient, sealed1…; can be repeated.", valueName: "R")

    private let text: String

    init?(argument: String) { text = argument }

    /// - Throws: `Failure` `malformedIdentity`, without the text.
    func checked() throws(Failure) -> Recipient {
        try Failure.onVault { () throws(VaultError) in try Recipient(text) }
    }
}
