internal import AppGroups
internal import ArgumentParser
internal import KeyVault

/// The team key of a command that may make a new person key.
struct CertifyingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The team key's file; needed where a vault with a team key gets a new person key.", valueName: "FILE"),
        completion: .file())
    var teamKey: String?

    @Option(
        help: ArgumentHelp(
            "Read the passphrase of the team key's file from the first line of FILE; - is standard input.",
            valueName: "FILE"), completion: .file())
    var teamPassphraseFile: String?

    func validate() throws {
        guard teamPassphraseFile == nil || teamKey != nil else {
            throw ValidationError("--team-passphrase-file is for a team key: give --team-key as well.")
        }
    }

    /// The key; nil where none was stated.
    func open() throws(Failure) -> TeamKey? {
        guard let teamKey else { return nil }
        return try KeyFilePassphrase(file: teamPassphraseFile).opening(teamKey) { passphrase throws(VaultError) in
            try TeamKey(contentsOf: teamKey, passphrase: passphrase)
        }
    }

    /// Ends the vault's former states for the readers of the roster, after a change that may have made a person key. Warns
    /// where the change did not need the team key: a person who gives it may believe that the vault is certified now.
    func follow(_ vault: Vault, _ team: TeamKey?, asJSON: Bool) {
        guard let team else { return }
        guard vault.teamKey != team.publicKey else { return Self.endFormerStates(of: vault, team, asJSON: asJSON) }
        let named = vault.teamKey.map { "it names \($0)" } ?? "it names none"
        Warning(
            "teamKeyUnused", "the team key was not needed, and the vault does not name it: \(named)",
            hint: "To certify its persons: sealctl vault certify --team-key \(teamKey.map(\.shellQuoted) ?? "FILE")."
        ).report(asJSON: asJSON)
    }
}

extension CertifyingOptions {
    /// The change is made: a roster that cannot be signed does not undo it.
    static func endFormerStates(of vault: Vault, _ team: TeamKey, asJSON: Bool) {
        do throws(Failure) { try RosterPlace.endFormerStates(of: vault, with: team) } catch {
            Warning(
                "rosterNotSigned", "the roster still counts the vault's former periods: \(error.message)",
                hint: "Sign it: sealctl roster sign --team-key FILE."
            ).report(asJSON: asJSON)
        }
    }
}

/// `sealctl vault certify`: the team key vouches for the persons of a vault.
struct VaultCertifyCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "certify",
        abstract: "Certify the persons of a vault with the group's team key.",
        discussion: """
            The vault names the team key from then on, and programs that know it refuse a vault whose persons it has not \
            certified: removing a person, or anything else that makes a new person key, needs --team-key. A person \
            does it once, and again after the team key has named a successor (sealctl roster sign --succeeded-by).

            It shows the vault's id, fingerprint and slots, asks, and certifies exactly that; --fingerprint gives the \
            compared one and asks nothing. The fingerprint is another one afterwards. A group with a container has to \
            have a roster (sealctl roster init), since programs that know a team key expect one.

            Where the team key is lost, --replaces names it and --team-key its successor, after a new roster was made \
            (sealctl roster init --replaces). Users who know the lost key refuse the vault until they accept it.

            Examples:
              sealctl vault certify --team-key /media/usb/team.key --passphrase
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var keys: TeamKeyOptions
    @Option(help: ArgumentHelp("Certify the vault only if it has this fingerprint.", valueName: "HEX"))
    var fingerprint: String?
    @OptionGroup var replaced: ReplacedTeamKey
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        let lostKey = try replaced.key()
        let preview = try Failure.onVault { () throws(VaultError) in try Vault.preview(group, in: home) }
        let team = try keys.open()
        if fingerprint == nil {
            try confirmation.require(
                "certify the persons of the vault \(preview.vaultID) of \(group) with the fingerprint "
                    + preview.fingerprint,
                ["Its slots are: \(preview.slots.map { SlotView($0).identification }.joined(separator: "; "))."])
        }
        let credential = try keyOptions.opening(group) ?? .automatic
        let vault = try Failure.onVault { () throws(VaultError) in
            try Vault.certify(
                group, in: home, by: team, with: credential, fingerprint: fingerprint ?? preview.fingerprint,
                replacing: lostKey)
        }
        CertifyingOptions.endFormerStates(of: vault, team, asJSON: output.json)
        let fields: [(String, JSONText)] = [
            ("accessGroup", .string(group.identifier)), ("teamKey", .string(team.publicKey.description)),
            ("fingerprint", .string(vault.fingerprint ?? "")),
        ]
        try StandardStreams.print(
            output.json
                ? JSONText.object(fields).text
                : "certified by \(team.publicKey); the fingerprint is now \(vault.fingerprint ?? "")")
    }
}
