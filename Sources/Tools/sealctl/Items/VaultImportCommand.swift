internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// `sealctl vault import`: imports a backup.
struct VaultImportCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Import a backup into the vault, or create the vault from it.",
        discussion: """
            The command asks for the backup's passphrase unless another option opens the backup. If the vault does not \
            exist, it creates one with the stated slots (--passphrase, --key-file, --identity, --credential), \
            otherwise with the group's own key file. If the vault exists, it adds the backup in one step: missing keys \
            are added for opening only, and existing items remain and are named. With both passphrases on standard \
            input the vault's comes first. If the group's team key is known, a new vault needs --team-key. Import only \
            backups of a known origin. Before --set-vault-aside renames a vault, and before --replace-items replaces \
            items, the command names the users of the vault and asks, unless --yes is given.

            Examples:
              sealctl vault import backup.vault --passphrase
              sealctl vault import backup.vault --backup-identity me.key --replace-items
              sealctl vault import backup.vault --keys-only --set-vault-aside
            """)

    @OptionGroup var target: VaultTarget
    @Argument(help: ArgumentHelp("The backup.", valueName: "file"), completion: .file())
    var file: String
    @OptionGroup var passphrase: BackupPassphrase
    @Option(
        help: ArgumentHelp("Open the backup with the X25519 identity in FILE.", valueName: "FILE"),
        completion: .file())
    var backupIdentity: String?
    @OptionGroup var part: BackupPart
    @Flag(help: "The backup's items replace those of the same service and account.")
    var replaceItems = false
    @Flag(help: "Rename an existing vault, in any state, and create a new one.")
    var setVaultAside = false
    @OptionGroup var certifying: CertifyingOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup var share: ShareOption
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard backupIdentity == nil || passphrase.source == nil else {
            throw ValidationError("Give a passphrase or an identity for the backup, not both.")
        }
    }

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        let options = ImportOptions(
            contents: part.contents, replacesItems: replaceItems, setsVaultAside: setVaultAside,
            sharing: try share.sharing())
        if setVaultAside || replaceItems { try confirm(group, in: home) }
        let isNew = setVaultAside || !VaultPlace(group, in: home).holdsAnyFile
        let stated = isNew ? try keyOptions.stated(for: group, isNew: true) : try keyOptions.opening(group)
        let credential = stated ?? .automatic
        let backup = try backupCredential()
        let certifier = try certifying.open(for: group)
        let report = try Failure.onVault { () throws(VaultError) in
            try Vault.import(
                from: file, opening: backup, group, in: home, with: credential, importing: options,
                certifiedBy: certifier.team)
        }
        if report.isNewVault {
            // Opening the vault makes it known to this user's programs, so that the roster can name its state.
            if certifier.team != nil { _ = try? Vault.open(group, in: home, with: credential) }
            certifier.finish(asJSON: output.json)
        }
        let view = ImportView(report)
        try StandardStreams.print(output.json ? view.json : view.text)
    }

    /// - Throws: `Failure` `confirmationNeeded`, `declined`.
    private func confirm(_ group: AccessGroup, in home: GroupsHome) throws(Failure) {
        let place = VaultPlace(group, in: home)
        guard place.holdsAnyFile else { return }
        let slots = (try? Vault.status(group, in: home))?.slots ?? []
        let users = Affected.list(slots.map { SlotView($0).text }, orElse: "every user and program of it")
        let affected = "Affected: \(users)."
        if setVaultAside {
            return try confirmation.require(
                "set the vault \(place.path) aside",
                [
                    "It opens nothing of \(group) any more: keys and items that the backup lacks are lost.",
                    affected,
                ])
        }
        guard part.contents != .keysOnly else { return }
        try confirmation.require(
            "replace items of the vault \(place.path)",
            [
                "Items that the backup has as well get the backup's values; their present values are lost.", affected,
            ])
    }

    private func backupCredential() throws(Failure) -> VaultCredential {
        if let backupIdentity {
            return .identity(try KeyFilePassphrase.identity(backupIdentity))
        }
        let source = passphrase.source ?? .terminal
        return .passphrase(try source.readForBackup(file, isNew: false))
    }
}

/// The imported items, for people and programs.
private struct ImportView {
    let report: ImportReport

    init(_ report: ImportReport) { self.report = report }

    var text: String {
        var lines = report.setAside.map { "set aside: \($0.from) is now \($0.to)" }
        if report.isNewVault { lines.append("the vault is new") }
        lines.append("imported: \(Count.items(report.itemsAdded.count)), \(Count.keys(report.keyCount))")
        lines += report.itemsReplaced.map { "replaced: \($0.account) at \($0.service)" }
        lines += report.itemsLeft.map { "not imported, the vault has one: \($0.account) at \($0.service)" }
        lines += report.keysDestroyedThere.map {
            "key \($0.id) of epoch \($0.epoch) is destroyed in the backup and remains in the vault"
        }
        if let epoch = report.rotationEpoch {
            lines.append("the active key has epoch \(epoch): run sealctl vault rotate")
        }
        return lines.map(\.printable).joined(separator: "\n")
    }

    var json: String {
        JSONText.object([
            ("isNewVault", .bool(report.isNewVault)),
            (
                "setAside",
                .array(report.setAside.map { .object([("from", .string($0.from)), ("to", .string($0.to))]) })
            ),
            ("itemsAdded", .array(report.itemsAdded.map(\.nameJSON))),
            ("itemsReplaced", .array(report.itemsReplaced.map(\.nameJSON))),
            ("itemsLeft", .array(report.itemsLeft.map(\.nameJSON))),
            ("keys", .number(report.keyCount)),
            ("keysDestroyedInBackup", .array(report.keysDestroyedThere.map { .string($0.id.description) })),
            ("rotationEpoch", report.rotationEpoch.map { .unsigned(UInt64($0)) } ?? .null),
        ]).text
    }
}
