internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// `sealctl vault add`: adds an item.
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

    /// Checks for an existing item first, so that a person does not type a value that is refused later.
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
            // A missing item is reported before a value is typed.
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

/// `sealctl vault delete`: deletes an item.
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
