internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SharedFiles

/// `sealctl vault export`: writes a backup.
struct VaultExportCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write a backup of a vault's keys and items.",
        discussion: """
            Writes one new file (mode 0600), sealed to a passphrase of its own, to recipients, or to both; without \
            either the command asks for the passphrase twice. The backup restores the vault on this machine or \
            another, and does not contain the vault's own slots. It omits items marked this-device-only, and the \
            command names them. An existing file is not replaced. With both passphrases on standard input the vault's \
            comes first.

            Examples:
              sealctl vault export backup.vault
              sealctl vault export keys.vault --keys-only --recipient sealed1...
              sealctl vault export nightly.vault --backup-passphrase-file pass.txt
            """)

    @OptionGroup var target: VaultTarget
    @Argument(help: ArgumentHelp("The new file.", valueName: "file"), completion: .file())
    var file: String
    @OptionGroup var passphrase: BackupPassphrase
    @Option(
        help: ArgumentHelp(
            "The time that one try of the backup's passphrase takes on this machine: 2s.", valueName: "TIME"))
    var unlockTime: UnlockTime?
    @Option(help: RecipientText.help)
    var recipient: [RecipientText] = []
    @OptionGroup var part: BackupPart
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let recipients = try recipient.map { text throws(Failure) in try text.checked() }
        let vault = try keyOptions.openVault(of: try target.checked())
        var slots = recipients.map { NewSlot.recipient($0) }
        if let source = passphrase.source ?? (recipients.isEmpty ? .terminal : nil) {
            let chosen = try source.readForBackup(file, isNew: true)
            slots.append(.passphrase(chosen, try unlockTime?.costs() ?? .recommended))
        }
        let report = try Failure.onVault { () throws(VaultError) in
            try vault.export(to: file, for: slots, contents: part.contents)
        }
        try StandardStreams.print(output.json ? Self.json(report) : Self.text(report))
    }

    private static func text(_ report: ExportReport) -> String {
        let lines = report.leftOut.map { "omitted, for this device only: \($0.account) at \($0.service)".printable }
        let counts = "\(Count.items(report.itemCount)), \(Count.keys(report.keyCount)) in \(report.path)".printable
        return ([counts] + lines).joined(separator: "\n")
    }

    private static func json(_ report: ExportReport) -> String {
        JSONText.object([
            ("file", .string(report.path)), ("size", .number(report.size)), ("items", .number(report.itemCount)),
            ("keys", .number(report.keyCount)), ("leftOut", .array(report.leftOut.map(\.nameJSON))),
        ]).text
    }
}

extension VaultItem {
    /// The item's name, for lists of results by item.
    var nameJSON: JSONText { .object([("service", .string(service)), ("account", .string(account))]) }
}

/// Counts with their nouns: `1 item`, `2 items`.
enum Count {
    static func items(_ count: Int) -> String { count == 1 ? "1 item" : "\(count) items" }
    static func keys(_ count: Int) -> String { count == 1 ? "1 key" : "\(count) keys" }
}
