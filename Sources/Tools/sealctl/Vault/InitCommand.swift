internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import Glibc
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// `sealctl init`: creates the container, the vault and the first key of a group.
struct InitCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Create a group's container, its vault and its first key.",
        discussion: """
            By default the vault opens with the group's own key file, which is created as well. An option for another \
            slot replaces the key file; sealctl vault slot adds more. The command asks for a passphrase twice. If the \
            vault exists and only the container is missing, it creates the container. If both exist and no option asks \
            for something else, nothing is done.

            The command refuses to create a new key while there are sealed files of a lost vault or a vault that \
            cannot be opened. To abandon them, --abandon moves the files to the container's quarantine and renames the \
            vault; it deletes nothing. The command shows what is lost and asks first, unless --yes is given.

            Examples:
              sealctl init --group group.com.example.app
              sealctl init --group group.com.example.app --passphrase
              sealctl init --share-with staff --identity me.key
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @Option(
        help: ArgumentHelp(
            "The time that one try of the passphrase takes on this machine: 500ms, 2s.", valueName: "TIME"))
    var unlockTime: UnlockTime?
    @OptionGroup var share: ShareOption
    @Option(help: "Where the container keeps its records: files, or sqlite for many records of one user.")
    var backend: KnownBackend = .files
    @Flag(help: "Set aside sealed files and a vault that cannot be opened any more, and start again.")
    var abandon = false
    @OptionGroup var certifying: CertifyingOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard unlockTime == nil || keyOptions.hasPassphrase else {
            throw ValidationError("--unlock-time is for a passphrase: give --passphrase as well.")
        }
        guard backend == .files || share.shareWith == nil else {
            throw ValidationError("--share-with: only files can be shared with a unix group.")
        }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let sharing = try share.sharing()
        if abandon { try StatedVault.requireNone(for: group) }
        let existing = ExistingVault(group, in: home)
        // The check precedes every question, so that a person does not choose a passphrase that is refused later.
        if existing.place.isTaken {
            if !abandon { return try restoreContainer(of: group, in: home, sharing, beside: existing) }
            try existing.requireLost()
        }
        try requireContainerToOpenOrMake(of: group, in: home)
        if abandon {
            try confirmation.require(
                "abandon the vault \(existing.place.path) and everything sealed under its keys",
                [
                    "No user and no program of \(group) can then open its records, files and items without a backup."
                ]
            )
        }
        let slot = try keyOptions.newSlot(for: AccessGroup(group), unlockTime)
        let certifier = try certifying.open(for: AccessGroup(group))
        // The vault is created first. An unreadable key file then leaves nothing behind, and a failed container can be
        // created later.
        let abandoned = abandon ? try abandonVault(group, in: home, slot, sharing, certifier.team) : []
        if !abandon { try makeVault(of: group, in: home, slot, sharing, certifier.team) }
        let container = try makeContainer(of: group, in: home, sharing, backend)
        certifier.finish(asJSON: output.json)
        let keyFile = keyOptions.isUnstated ? existing.place.keyFilePath : keyOptions.keyFile
        try InitAnswer(
            group: group, container: container, vault: existing.place.path, keyFile: keyFile,
            key: keyFile.map { "key file   \($0.printable)" } ?? "opens with its \(slot.word)",
            made: ["container", "vault"], abandoned: abandoned
        ).report(asJSON: output.json)
    }

    private func abandonVault(
        _ group: AppGroup, in home: GroupsHome, _ slot: InitialSlot, _ sharing: Sharing, _ team: TeamKey?
    ) throws(Failure) -> [SetAsideFile] {
        let report = try Failure.onVault { () throws(VaultError) in
            try Vault.abandon(
                AccessGroup(group), in: home, slots: [slot.slot], sharing: sharing, certifiedBy: team)
        }
        // Opening the vault makes it known to this user's programs, so that the roster can name its state.
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
        of group: AppGroup, in home: GroupsHome, _ sharing: Sharing, _ backend: KnownBackend
    ) throws(Failure) -> String {
        let provider = try backend.provider()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, sharing: sharing)
        }
        if let provider {
            // A container that existed may have records.
            let move = BackendMove(of: container, provider, timeout: .seconds(60))
            _ = try Failure.onStore { () throws(StoreError) in try move.toBackend() }
        }
        return container.path
    }

    /// Refuses to create a vault while the container is unavailable or unusable.
    private func requireContainerToOpenOrMake(of group: AppGroup, in home: GroupsHome) throws(Failure) {
        do throws(AppGroupError) { _ = try GroupContainer.open(group, in: home, creating: false) } catch {
            if error.code != .containerMissing { throw Failure(error) }
        }
    }

    /// Creates the container again, which may have been removed by hand. The vault cannot be created again; a repeated
    /// call that asks for nothing else has nothing to do.
    private func restoreContainer(
        of group: AppGroup, in home: GroupsHome, _ sharing: Sharing, beside vault: ExistingVault
    ) throws(Failure) {
        try vault.requireSound()
        var existing: GroupContainer?
        do throws(AppGroupError) { existing = try GroupContainer.open(group, in: home, creating: false) } catch {
            guard error.meansNoContainer else { throw Failure(error) }
        }
        if let existing, try asksForMore(than: existing) { throw vault.duplicate }
        let made = existing == nil ? ["container"] : []
        let path =
            if let existing { existing.path } else { try makeContainer(of: group, in: home, sharing, backend) }
        let keyFile = access(vault.place.keyFilePath, F_OK) == 0 ? vault.place.keyFilePath : nil
        try InitAnswer(
            group: group, container: path, vault: vault.place.path, keyFile: keyFile,
            key: made.isEmpty ? "both existed already" : "the vault existed already; the container was created",
            made: made
        ).report(asJSON: output.json)
    }

    /// An option asks for more than what exists.
    private func asksForMore(than existing: GroupContainer) throws(Failure) -> Bool {
        if !keyOptions.isUnstated || unlockTime != nil || share.shareWith != nil || certifying.teamKey != nil {
            return true
        }
        if backend == .files { return false }
        return try KnownBackend.open(of: existing) == nil
    }
}

/// The only slot of a vault that `init` creates.
struct InitialSlot {
    let slot: NewSlot
    let credential: VaultCredential
    /// The kind of the credential, as a word for people.
    let word: String
}

extension KeyOptions {
    /// Returns the stated credential as a slot, or the group's own key file if none was stated.
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

/// The result of `init`, for people and programs.
struct InitAnswer {
    let group: AppGroup
    let container: String
    let vault: String
    let keyFile: String?
    /// The line about the key, for people.
    let key: String
    /// The objects that did not exist before.
    let made: [String]
    /// The abandoned files, which nothing opens now, with their new paths.
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

/// An existing vault of the group.
struct ExistingVault {
    private let group: AppGroup
    private let home: GroupsHome
    let place: VaultPlace

    init(_ group: AppGroup, in home: GroupsHome) {
        self.group = group
        self.home = home
        place = VaultPlace(AccessGroup(group), in: home)
    }

    /// Refuses a vault that is damaged or unsafe, as far as a check without a passphrase shows it.
    func requireSound() throws(Failure) {
        do throws(VaultError) {
            _ = try Vault.open(AccessGroup(group), in: home)
        } catch {
            // These errors concern the key file. Another credential may open the vault.
            let isAboutKey = [.locked, .wrongKeyFile, .wrongCredential, .malformedKeyFile].contains(error.code)
            guard isAboutKey || error.subject == place.keyFilePath else { throw Failure(error) }
        }
    }

    /// Refuses to abandon a vault that opens, because setting it aside is probably a mistake.
    func requireLost() throws(Failure) {
        let vault: VaultInventory
        do throws(VaultError) { vault = try Vault.inventory(AccessGroup(group), in: home) } catch {
            guard Self.lost.contains(error.code) else { throw Failure(error) }
            return
        }
        throw Failure(
            .duplicate, "alreadyExists",
            "cannot abandon the vault of \(group): it opens, and holds \(vault.itemCount) items",
            hint: "To set it aside anyway, move \(place.path) away first.")
    }

    /// The codes that permit an abandonment. A person can fix wrong modes and owners and newer versions, but not these.
    private static let lost: Set<VaultError.Code> = [
        .locked, .wrongKeyFile, .wrongCredential, .malformedKeyFile, .corrupt, .wrongGroup, .isAnExport,
    ]

    var duplicate: Failure {
        Failure(
            .duplicate, "alreadyExists", "cannot create the vault of \(group): it exists already at \(place.path)",
            hint: "Check whether it can be opened: sealctl vault status --group \(group)")
    }
}
