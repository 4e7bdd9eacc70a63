internal import ArgumentParser
internal import KeyVault

/// `sealctl vault list`: what items there are.
struct VaultItemsCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a vault's items.",
        discussion: """
            One line for each item, by service and account. No value is touched, and the access log is not written.

            Examples:
              sealctl vault list
              sealctl vault list -s db.example.com --json | jq -r '.[].account'
            """)

    @OptionGroup var target: VaultTarget
    @Option(name: .shortAndLong, help: ArgumentHelp("Only items of this service.", valueName: "SERVICE"))
    var service: String?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        let items = try Failure.onVault { () throws(VaultError) in try vault.items(service: service) }
            .map(ItemView.init)
        try warn(of: Failure.onVault { () throws(VaultError) in try vault.plantedItems() })
        if output.json { return try StandardStreams.print(JSONText.array(items.map(\.json)).text) }
        var table = TextTable(ItemView.columns)
        for item in items { table.add(item.cells) }
        try StandardStreams.print(table.text)
    }

    /// Names items that a service has put under the names of persons' items.
    private func warn(of planted: [VaultItem]) {
        guard let first = planted.first else { return }
        let names = planted.count == 1 ? "" : " and \(planted.count - 1) more"
        Warning(
            "plantedItems",
            "an item of after first unlock has the name of one that is protected when unlocked, and is not read: "
                + "\(first.service), \(first.account)\(names)",
            hint: "An unattended program wrote it; sealctl vault update or delete removes it."
        ).report(asJSON: output.json)
    }
}
