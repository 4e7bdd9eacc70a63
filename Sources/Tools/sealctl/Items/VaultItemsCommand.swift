internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// `sealctl vault list`: lists the items.
struct VaultItemsCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List a vault's items.",
        discussion: """
            One line for each item, by service and account. The command reads no values and does not write the access \
            log.

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

    /// Warns of items that a service has stored under the names of persons' items.
    private func warn(of planted: [VaultItem]) {
        guard let first = planted.first else { return }
        let names = planted.count == 1 ? "" : " and \(planted.count - 1) more"
        Warning(
            "plantedItems",
            "an item of after first unlock has the name of an item that is protected when unlocked, and is not read: "
                + "\(first.service), \(first.account)\(names)",
            hint: "An unattended program wrote it; sealctl vault update or delete removes it."
        ).report(asJSON: output.json)
    }
}

/// A vault's data about an item, for people and programs, without the value.
struct ItemView {
    let item: VaultItem

    init(_ item: VaultItem) { self.item = item }

    static let columns: [TextTable.Column] = [
        .init(title: "SERVICE"), .init(title: "ACCOUNT"), .init(title: "SIZE", isNumber: true),
        .init(title: "ACCESSIBLE"), .init(title: "MODIFIED"), .init(title: "LABEL"),
    ]

    var cells: [String] {
        [item.service, item.account, String(item.size), accessible, Timestamp(item.modified).short, item.label]
    }

    var text: String {
        FieldList([
            ("service", item.service), ("account", item.account), ("label", item.label), ("accessible", accessible),
            ("size", String(item.size)), ("created", Timestamp(item.created).short),
            ("modified", Timestamp(item.modified).short),
        ]).text
    }

    var json: JSONText {
        .object([
            ("service", .string(item.service)), ("account", .string(item.account)), ("label", .string(item.label)),
            ("accessibility", .string(item.accessibility.rawValue)), ("size", .number(item.size)),
            ("createdAt", .string(Timestamp(item.created).rfc3339)),
            ("modifiedAt", .string(Timestamp(item.modified).rfc3339)),
        ])
    }

    private var accessible: String { AccessibilityWord(item.accessibility).rawValue }
}
