internal import ArgumentParser
internal import KeyVault

/// `sealctl vault update`: what changes of an item.
struct VaultUpdateCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change an item's value, label or accessibility.",
        discussion: """
            What is not given stays. Without --label and --accessible a new value is read as sealctl vault add reads \
            it; with one of them the value stays, unless --value-file or --value-fd names a new one.

            Examples:
              sealctl vault update -s db.example.com -a ada
              sealctl vault update -s api -a robot -l 'API' --accessible when-unlocked
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var item: ItemOptions
    @Option(name: .shortAndLong, help: ArgumentHelp("A new title for people.", valueName: "LABEL"))
    var label: String?
    @Option(help: ArgumentHelp("When the value can be read from now on.", valueName: "WHEN"))
    var accessible: AccessibilityWord?
    @OptionGroup var source: ValueOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard !source.line || replacesValue else {
            throw ValidationError("--line is for a new value: give --value-file as well.")
        }
    }

    private var replacesValue: Bool { source.isStated || (label == nil && accessible == nil) }

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        if replacesValue {
            // An item that is not there shows before a value is typed.
            _ = try Failure.onVault { () throws(VaultError) in
                try vault.item(service: item.service, account: item.account)
            }
            try source.read(for: item.subject).withBytes { value throws(Failure) in try update(vault, value) }
        } else {
            try update(vault, nil)
        }
        if output.json { try item.printJSON(of: vault) }
    }

    private func update(_ vault: Vault, _ value: UnsafeRawBufferPointer?) throws(Failure) {
        try Failure.onVault { () throws(VaultError) in
            try vault.updateItem(
                service: item.service, account: item.account, label: label,
                accessibility: accessible?.accessibility, value: value)
        }
    }
}
