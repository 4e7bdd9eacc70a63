internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// `sealctl vault add`: adds an item.
struct VaultAddCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add an item: a small secret by service and account.",
        discussion: """
            On a terminal the command asks for the value twice without showing it. Otherwise it reads the value from \
            standard input, byte for byte, up to 1 MiB. The value is never an argument. An existing item is not \
            replaced: use sealctl vault update. Without --accessible the value is available when unlocked if only \
            persons open the vault, and after the first unlock otherwise.

            Examples:
              sealctl vault add -s db.example.com -a ada
              openssl rand -hex 32 | sealctl vault add -s api -a robot --line
              sealctl vault add -s tls -a me --value-file key --accessible when-unlocked
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var item: ItemOptions
    @Option(name: .shortAndLong, help: ArgumentHelp("A title for display.", valueName: "LABEL"))
    var label = ""
    @Option(
        help: ArgumentHelp(
            "When it can be read; by default when-unlocked if only persons open the vault, or after-first-unlock.",
            valueName: "WHEN"))
    var accessible: AccessibilityWord?
    @OptionGroup var source: ValueOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        if source.isPrompted { try requireAbsence(from: vault) }
        let value = try source.read(for: item.subject, asJSON: output.json)
        try value.withBytes { value throws(Failure) in
            try Failure.onVault { () throws(VaultError) in
                try vault.addItem(
                    service: item.service, account: item.account, label: label,
                    accessibility: accessible?.accessibility, value: value)
            }
        }
        if output.json { try item.printJSON(of: vault) }
    }

    /// Checks for an existing item first, so that a person does not type a value that is refused later.
    private func requireAbsence(from vault: Vault) throws(Failure) {
        do throws(VaultError) { _ = try vault.item(service: item.service, account: item.account) } catch {
            if error.code == .itemNotFound { return }
            throw Failure(error)
        }
        throw Failure(
            StatusTable.status(of: VaultError.Code.duplicateItem), VaultError.Code.duplicateItem.rawValue,
            "an item of \(item.subject) exists already", hint: "Try sealctl vault update, or another account.")
    }
}

extension ItemOptions {
    /// Prints the vault's present data about the item.
    func printJSON(of vault: Vault) throws(Failure) {
        let item = try Failure.onVault { () throws(VaultError) in try vault.item(service: service, account: account) }
        try StandardStreams.print(ItemView(item).json.text)
    }
}

/// `sealctl vault update`: changes an item.
struct VaultUpdateCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "update",
        abstract: "Change an item's value, label or accessibility.",
        discussion: """
            Fields without an option keep their values. Without --label and --accessible the command reads a new value \
            as sealctl vault add does; with one of them the value remains, unless --value-file or --value-fd names a \
            new one.

            Examples:
              sealctl vault update -s db.example.com -a ada
              sealctl vault update -s api -a robot -l 'API' --accessible when-unlocked
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var item: ItemOptions
    @Option(name: .shortAndLong, help: ArgumentHelp("A new title for display.", valueName: "LABEL"))
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
            // A missing item is reported before a value is typed.
            _ = try Failure.onVault { () throws(VaultError) in
                try vault.item(service: item.service, account: item.account)
            }
            try source.read(for: item.subject, asJSON: output.json).withBytes { value throws(Failure) in
                try update(vault, value)
            }
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

/// `sealctl vault delete`: deletes an item.
struct VaultDeleteCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete an item.",
        discussion: """
            Deletes the one item with this service and account, even if its value is locked. Backups and older copies \
            of the vault still contain it. A full disk, or an access log that cannot be written, does not prevent the \
            deletion; a warning then says unlogged.

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
