internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// The team key of a command that may create a new person key.
struct CertifyingOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The team key's file; needed if a vault with a team key gets a new person key.", valueName: "FILE"),
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

    /// Opens the key and reads the state of the vault before the change.
    func open(for group: AccessGroup) throws(Failure) -> Certifying {
        let home = try GroupOptions.home()
        guard let teamKey else { return Certifying(team: nil, group: group, home: home, before: nil) }
        let team = try KeyFilePassphrase.team(teamPassphraseFile).opening(teamKey) { passphrase throws(VaultError) in
            try TeamKey(contentsOf: teamKey, passphrase: passphrase)
        }
        let before = VaultPlace(group, in: home).certification?.state
        return Certifying(team: team, group: group, home: home, before: before)
    }
}

/// A change that may create a new person key, with the team key.
struct Certifying {
    /// The team key; `nil` if none was stated.
    let team: TeamKey?
    fileprivate let group: AccessGroup
    fileprivate let home: GroupsHome
    fileprivate let before: VaultFloor?

    /// Ends the vault's former states for readers of the roster if the change has created a person key. It warns if the
    /// change did not need the team key, because the person may believe that the vault is certified now.
    func finish(asJSON: Bool) {
        guard let team else { return }
        guard let now = VaultPlace(group, in: home).certification, now.team == team.publicKey else {
            return Warning(
                "teamKeyUnused", "the team key was not needed, and it has not certified the vault's persons",
                hint: "To certify them: sealctl vault certify."
            ).report(asJSON: asJSON)
        }
        if now.state.keyPeriod != before?.keyPeriod || isBehind(now.state) {
            signRoster(now.state, with: team, asJSON: asJSON)
        }
    }

    /// Returns `true` if the roster names an earlier person key, because an earlier change created one and could not
    /// sign. A roster that names no period is the team's decision.
    private func isBehind(_ state: VaultFloor) -> Bool {
        guard let group = try? AppGroup(group.identifier), let place = try? RosterPlace(group, in: home),
            let floor = try? place.current()?.roster?.roster.floor
        else { return false }
        return floor.period > 0 && floor.keyPeriod < state.keyPeriod
    }

    /// Signs the roster after the change. A failure to sign does not undo the change.
    fileprivate func signRoster(_ state: VaultFloor, with team: TeamKey, asJSON: Bool) {
        guard let group = try? AppGroup(group.identifier) else { return }
        do throws(Failure) { try RosterPlace.raise(to: state, group, in: home, with: team) } catch {
            Warning(
                "rosterNotSigned", "the roster does not end the former states of the vault: \(error.message)",
                hint: "Sign it: sealctl roster sign --team-key FILE."
            ).report(asJSON: asJSON)
        }
    }
}

/// `sealctl vault certify`: certifies the persons of a vault with the team key.
struct VaultCertifyCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "certify",
        abstract: "Certify the persons of a vault with the group's team key.",
        discussion: """
            From then on the vault names the team key, and programs that know the key refuse a vault whose persons it \
            has not certified. Removing a person, and every other operation that creates a new person key, then needs \
            --team-key. A person runs this command once, and again after the team key has named a successor (sealctl \
            roster sign --succeeded-by).

            The command shows the vault's id, fingerprint and slots, asks, and certifies exactly that vault; \
            --fingerprint states the compared fingerprint and skips the question. The vault's fingerprint changes. A \
            group with a container must have a roster (sealctl roster init), since programs that know a team key \
            require one.

            If the team key is lost, --replaces names it and --team-key its successor, after a new roster was created \
            (sealctl roster init --replaces). Users who know the lost key refuse the vault until they accept the new \
            one.

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
        if let state = VaultPlace(group, in: home).certification?.state {
            Certifying(team: team, group: group, home: home, before: nil).signRoster(
                state, with: team, asJSON: output.json)
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
}
