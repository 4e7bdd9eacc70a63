internal import ArgumentParser
internal import KeyVault

/// `sealctl vault delete`: one item less.
struct VaultDeleteCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an item.",
        discussion: """
            Exactly the one item that service and account name, also while its value is locked. A backup or an older \
            copy of the vault still has it. A full disk does not keep it from being deleted, nor does an access log that \
            cannot be written: then a warning says unlogged.

            Example:
              sealctl vault delete -s db.example.com -a ada
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var item: ItemOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        let deletion = try Failure.onVault { () throws(VaultError) in
            try vault.deleteItem(service: item.service, account: item.account)
        }
        if !deletion.isLogged {
            Warning.unlogged("the item is deleted").report(asJSON: output.json)
        }
        guard output.json else { return }
        let fields: [(String, JSONText)] = [
            ("service", .string(item.service)), ("account", .string(item.account)),
            ("isLogged", .bool(deletion.isLogged)),
        ]
        try StandardStreams.print(JSONText.object(fields).text)
    }
}
