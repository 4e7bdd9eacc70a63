internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// `sealctl init`: container, vault and first key of a group.
struct InitCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a group's container, its vault and its first key.",
        discussion: """
            The vault opens with the group's own key file, which is made as well, unless something else is stated: then \
            that alone opens it, until sealctl vault slot adds more. A passphrase is asked for twice. Where the vault is \
            there and only the container is missing, the container is made.

            Sealed files whose vault is lost stand in the way of a new key, and so does a vault that nobody can open. To \
            give them up, --abandon moves the files to the container's quarantine and renames the vault; nothing is \
            deleted. The command says what is given up and asks first, unless --yes says yes.

            Examples:
              sealctl init --group group.com.example.app
              sealctl init --group group.com.example.app --passphrase
              sealctl init --share-with staff --identity me.key
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @Option(
        help: ArgumentHelp("Make trying the passphrase take about that long here: 500ms, 2s.", valueName: "TIME"))
    var unlockTime: UnlockTime?
    @OptionGroup var share: ShareOption
    @Flag(help: "Set aside sealed files and a vault that cannot be opened any more, and start anew.")
    var abandon = false
    @OptionGroup var certifying: CertifyingOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard unlockTime == nil || keyOptions.hasPassphrase else {
            throw ValidationError("--unlock-time is for a passphrase: give --passphrase as well.")
        }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let sharing = try share.sharing()
        if abandon { try StatedVault.requireNone(for: group) }
        let existing = ExistingVault(group, in: home)
        // Looked at before anything is asked: nobody should think of a passphrase in vain.
        if existing.place.isTaken {
            if !abandon { return try restoreContainer(of: group, in: home, sharing, beside: existing) }
            try existing.requireLost()
        }
        try requireContainerToOpenOrMake(of: group, in: home)
        if abandon {
            try confirmation.require(
                "give up the vault \(existing.place.path) and everything sealed under its keys",
                [
                    "No user and no program of \(group) can open its records, files and items from then on, but with a backup."
                ]
            )
        }
        let slot = try keyOptions.newSlot(for: AccessGroup(group), unlockTime)
        let certifier = try certifying.open(for: AccessGroup(group))
        // The vault first: a key file that cannot be read leaves nothing behind, and a container that cannot be made can
        // be made later.
        let abandoned = abandon ? try startAnew(group, in: home, slot, sharing, certifier.team) : []
        if !abandon { try makeVault(of: group, in: home, slot, sharing, certifier.team) }
        let container = try makeContainer(of: group, in: home, sharing)
        certifier.finish(asJSON: output.json)
        let keyFile = keyOptions.isUnstated ? existing.place.keyFilePath : keyOptions.keyFile
        try InitAnswer(
            group: group, container: container, vault: existing.place.path, keyFile: keyFile,
            key: keyFile.map { "key file   \($0.printable)" } ?? "opens with its \(slot.word)",
            made: ["container", "vault"], abandoned: abandoned
        ).report(asJSON: output.json)
    }

    private func startAnew(
        _ group: AppGroup, in home: GroupsHome, _ slot: InitialSlot, _ sharing: Sharing, _ team: TeamKey?
    ) throws(Failure) -> [SetAsideFile] {
        let report = try Failure.onVault { () throws(VaultError) in
            try Vault.abandon(
                AccessGroup(group), in: home, slots: [slot.slot], sharing: sharing, certifiedBy: team)
        }
        // This user's programs know the new vault then, and the roster can name its state.
        if team != nil { _ = try? Vault.open(AccessGroup(group), in: home, with: slot.credential) }
        return report.setAside + report.quarantined
    }

    private func makeVault(
        of group: AppGroup, in home: GroupsHome, _ slot: InitialSlot, _ sharing: Sharing, _ team: TeamKey?
    ) throws(Failure) {
        do throws(VaultError) {
            _ = try Vault.create(
                AccessGroup(group), in: home, slots: [slot.slot], sharing: sharing, openingWith: slot.credential,
                certifiedBy: team)
        } catch {
            if error.code == .orphanedBlobs, let failure = StatedVault.missing { throw failure }
            throw error.code == .alreadyExists ? ExistingVault(group, in: home).duplicate : Failure(error)
        }
    }

    private func makeContainer(
        of group: AppGroup, in home: GroupsHome, _ sharing: Sharing
    ) throws(Failure) -> String {
        try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, sharing: sharing).path
        }
    }

    /// Beside a container that is away, or cannot be used, no vault is made.
    private func requireContainerToOpenOrMake(of group: AppGroup, in home: GroupsHome) throws(Failure) {
        do throws(AppGroupError) { _ = try GroupContainer.open(group, in: home, creating: false) } catch {
            if error.code != .containerMissing { throw Failure(error) }
        }
    }

    /// The container may have been removed by hand: its vault is what cannot be made again.
    private func restoreContainer(
        of group: AppGroup, in home: GroupsHome, _ sharing: Sharing, beside vault: ExistingVault
    ) throws(Failure) {
        try vault.requireSound()
        do throws(AppGroupError) {
            _ = try GroupContainer.open(group, in: home, creating: false)
        } catch {
            guard error.meansNoContainer else { throw Failure(error) }
            let container = try makeContainer(of: group, in: home, sharing)
            let keyFile = access(vault.place.keyFilePath, F_OK) == 0 ? vault.place.keyFilePath : nil
            return try InitAnswer(
                group: group, container: container, vault: vault.place.path, keyFile: keyFile,
                key: "the vault was there already; the container was made", made: ["container"]
            ).report(asJSON: output.json)
        }
        throw vault.duplicate
    }
}

/// The only slot of a vault that `init` makes.
struct InitialSlot {
    let slot: NewSlot
    let credential: VaultCredential
    /// What opens it, as a word for a person.
    let word: String
}

extension KeyOptions {
    /// What was stated, as a slot; the group's own key file where nothing was.
    func newSlot(for group: AccessGroup, _ unlockTime: UnlockTime?) throws(Failure) -> InitialSlot {
        let credential = try stated(for: group, isNew: true) ?? .defaultKeyFile
        switch credential {
        case .passphrase(let passphrase):
            let costs = try unlockTime?.costs() ?? .recommended
            return InitialSlot(slot: .passphrase(passphrase, costs), credential: credential, word: "passphrase")
        case .keyFile(let path):
            return InitialSlot(slot: .keyFile(path: path), credential: credential, word: "key file")
        case .systemdCredential(let name):
            return InitialSlot(slot: .systemdCredential(name: name), credential: credential, word: "credential")
        case .identity(let identity):
            return InitialSlot(slot: .identity(identity), credential: credential, word: "identity")
        case .automatic, .defaultKeyFile, .unlocked:
            return InitialSlot(slot: .defaultKeyFile, credential: .defaultKeyFile, word: "key file")
        }
    }
}

/// What `init` has made, for people and programs.
struct InitAnswer {
    let group: AppGroup
    let container: String
    let vault: String
    let keyFile: String?
    /// What people read about the key.
    let key: String
    /// What was not there before.
    let made: [String]
    /// What nothing opens any more, and where it lies now.
    var abandoned: [SetAsideFile] = []

    func report(asJSON: Bool) throws(Failure) {
        try StandardStreams.print(asJSON ? json.text : text)
    }

    private var text: String {
        let lines = ["container  \(container.printable)", "vault      \(vault.printable)", key]
        return (lines + abandoned.map { "set aside  \($0.to.printable)" }).joined(separator: "\n")
    }

    private var json: JSONText {
        .object([
            ("group", .string(group.identifier)), ("container", .string(container)), ("vault", .string(vault)),
            ("keyFile", .optional(keyFile)), ("made", .array(made.map { .string($0) })),
            (
                "abandoned",
                .array(abandoned.map { .object([("from", .string($0.from)), ("to", .string($0.to))]) })
            ),
        ])
    }
}

/// The vault that `init` finds in the way.
struct ExistingVault {
    private let group: AppGroup
    private let home: GroupsHome
    let place: VaultPlace

    init(_ group: AppGroup, in home: GroupsHome) {
        self.group = group
        self.home = home
        place = VaultPlace(AccessGroup(group), in: home)
    }

    /// Refuses one that is damaged or unsafe, as far as that shows without asking for a passphrase.
    func requireSound() throws(Failure) {
        do throws(VaultError) {
            _ = try Vault.open(AccessGroup(group), in: home)
        } catch {
            // These are about the key file: the vault itself may open with something else.
            let isAboutKey = [.locked, .wrongKeyFile, .wrongCredential, .malformedKeyFile].contains(error.code)
            guard isAboutKey || error.subject == place.keyFilePath else { throw Failure(error) }
        }
    }

    /// Refuses to abandon one that opens: setting it aside would be a mistake far oftener than an intention.
    func requireLost() throws(Failure) {
        let vault: VaultInventory
        do throws(VaultError) { vault = try Vault.inventory(AccessGroup(group), in: home) } catch {
            guard Self.lost.contains(error.code) else { throw Failure(error) }
            return
        }
        throw Failure(
            .duplicate, "alreadyExists",
            "cannot abandon the vault of \(group): it opens, and holds \(vault.itemCount) items",
            hint: "To set it aside all the same, move \(place.path) away first.")
    }

    /// Modes, owners and newer versions are for a person to mend; these are not.
    private static let lost: Set<VaultError.Code> = [
        .locked, .wrongKeyFile, .wrongCredential, .malformedKeyFile, .corrupt, .wrongGroup, .isAnExport,
    ]

    var duplicate: Failure {
        Failure(
            .duplicate, "alreadyExists", "cannot make the vault of \(group): there is one already at \(place.path)",
            hint: "See whether it opens: sealctl vault status --group \(group)")
    }
}
