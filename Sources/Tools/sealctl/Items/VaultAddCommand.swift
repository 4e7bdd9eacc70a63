internal import ArgumentParser
internal import KeyVault

/// `sealctl vault add`: a new item.
struct VaultAddCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item: a small secret by service and account.",
        discussion: """
            The value is asked for twice where standard input is a terminal, without being shown; else it is what \
            standard input holds, byte for byte. It is never an argument. Up to 1 MiB. An item that is there is never \
            replaced: sealctl vault update does that. Without --accessible the value needs a person where only persons \
            open the vault, and can be read after the first unlock elsewhere.

            Examples:
              sealctl vault add -s db.example.com -a ada
              openssl rand -hex 32 | sealctl vault add -s api -a robot --line
              sealctl vault add -s tls -a me --value-file key --accessible when-unlocked
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var item: ItemOptions
    @Option(name: .shortAndLong, help: ArgumentHelp("A title for people.", valueName: "LABEL"))
    var label = ""
    @Option(
        help: ArgumentHelp(
            "When the value can be read; else when-unlocked where only persons open the vault, or after-first-unlock.",
            valueName: "WHEN"))
    var accessible: AccessibilityWord?
    @OptionGroup var source: ValueOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        if source.isPrompted { try requireAbsence(from: vault) }
        let value = try source.read(for: item.subject)
        try value.withBytes { value throws(Failure) in
            try Failure.onVault { () throws(VaultError) in
                try vault.addItem(
                    service: item.service, account: item.account, label: label,
                    accessibility: accessible?.accessibility, value: value)
            }
        }
        if output.json { try item.printJSON(of: vault) }
    }

    /// Nobody should type a value in vain.
    private func requireAbsence(from vault: Vault) throws(Failure) {
        do throws(VaultError) { _ = try vault.item(service: item.service, account: item.account) } catch {
            if error.code == .itemNotFound { return }
            throw Failure(error)
        }
        throw Failure(
            StatusTable.status(of: VaultError.Code.duplicateItem), VaultError.Code.duplicateItem.rawValue,
            "there is an item of \(item.subject) already", hint: "Try sealctl vault update, or another account.")
    }
}

extension ItemOptions {
    /// Prints what the vault says of the item now.
    func printJSON(of vault: Vault) throws(Failure) {
        let item = try Failure.onVault { () throws(VaultError) in try vault.item(service: service, account: account) }
        try StandardStreams.print(ItemView(item).json.text)
    }
}
