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

            Examples:
              sealctl vault certify --team-key /media/usb/team.key --passphrase
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var keys: TeamKeyOptions
    @Option(help: ArgumentHelp("Certify the vault only if it has this fingerprint.", valueName: "HEX"))
    var fingerprint: String?
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        try requireRoster(of: group, in: home)
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
                group, in: home, by: team, with: credential, fingerprint: fingerprint ?? preview.fingerprint)
        }
        let fields: [(String, JSONText)] = [
            ("accessGroup", .string(group.identifier)), ("teamKey", .string(team.publicKey.description)),
            ("fingerprint", .string(vault.fingerprint ?? "")),
        ]
        try StandardStreams.print(
            output.json
                ? JSONText.object(fields).text
                : "certified by \(team.publicKey); the fingerprint is now \(vault.fingerprint ?? "")")
    }

    /// Where a team key is known and no roster was accepted every record is refused.
    private func requireRoster(of group: AccessGroup, in home: GroupsHome) throws(Failure) {
        guard let appGroup = try? AppGroup(group.identifier) else { return }
        let container: GroupContainer
        do throws(AppGroupError) {
            container = try GroupContainer.open(appGroup, in: home, creating: false, entitlements: .unchecked)
        } catch {
            if error.code == .containerMissing { return }
            throw Failure(error)
        }
        let bytes = try Failure.onVault { () throws(VaultError) in try RosterFile.read(in: container) }
        guard bytes == nil else { return }
        throw Failure(
            .notFound, "noRoster", "\(group) has a container and no roster",
            hint: "Make one first: sealctl roster init --team-key \(keys.teamKey.shellQuoted).")
    }
}
