internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import Sealing

/// `sealctl vault keys`: lists the sealing keys by epoch.
struct VaultKeysCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List a vault's sealing keys.",
        discussion: """
            One line for each key that the vault holds or held, by epoch. The active key seals and opens, decrypt-only \
            keys open, and of destroyed keys only the entry remains. The command shows no secrets.

            Example:
              sealctl vault keys --group group.com.example.app
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        let keys = try Failure.onVault { () throws(VaultError) in try vault.keySummaries() }.map(KeyView.init)
        if output.json { return try StandardStreams.print(JSONText.array(keys.map(\.json)).text) }
        var table = TextTable(KeyView.columns)
        for key in keys { table.add(key.cells) }
        try StandardStreams.print(table.text)
    }
}

/// A sealing key for people and programs.
struct KeyView {
    let key: KeySummary

    init(_ key: KeySummary) { self.key = key }

    static let columns: [TextTable.Column] = [
        .init(title: "EPOCH", isNumber: true), .init(title: "STATE"), .init(title: "PROTECTED"),
        .init(title: "CREATED"), .init(title: "KEY"),
    ]

    var cells: [String] {
        [
            String(key.epoch), key.state.description,
            key.protection.words,
            Timestamp(key.createdAt).short, key.id.description,
        ]
    }

    var json: JSONText {
        .object([
            ("id", .string(key.id.description)), ("epoch", .unsigned(UInt64(key.epoch))),
            ("state", .string(state)),
            ("protection", .string(key.protection.word)),
            ("createdAt", .string(Timestamp(key.createdAt).rfc3339)),
        ])
    }

    private var state: String {
        switch key.state {
        case .active: "active"
        case .decryptOnly: "decryptOnly"
        case .destroyed: "destroyed"
        }
    }
}

extension ProtectionClass {
    /// The name for people.
    var words: String { self == .whenUnlocked ? "when unlocked" : "after first unlock" }
    /// The name for programs.
    var word: String { self == .whenUnlocked ? "whenUnlocked" : "afterFirstUnlock" }
}

/// `sealctl vault destroy-key`: destroys a sealing key that is no longer needed.
struct VaultDestroyKeyCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "destroy-key",
        abstract: "Destroy a sealing key that is not needed any more.",
        discussion: """
            Removes the key's bytes from the vault; its id and epoch remain. Data that only this key opens is lost for \
            good. The command cannot know sealed files outside of the container, such as backups. It refuses to \
            destroy the active key. It also refuses a key that a blob or a running program still needs, unless \
            --force-key repeats its id; it then shows what is lost and asks first, unless --yes is given.

            Examples:
              sealctl vault rotate --status
              sealctl vault destroy-key 30f1c34859d10b4558a93a5b2691e040
            """)

    @OptionGroup var target: VaultTarget
    @Argument(help: ArgumentHelp("The key's id, 32 digits, as vault keys shows it.", valueName: "id"))
    var id: String
    @Option(help: ArgumentHelp("Destroy it although it is needed; the value repeats the id.", valueName: "ID"))
    var forceKey: String?
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard forceKey == nil || forceKey == id else {
            throw ValidationError("--force-key must repeat the key's id: it names another key.")
        }
    }

    func perform() throws(Failure) {
        let group = try target.checked()
        let vault: Vault
        if let store = try target.openStore(with: keyOptions) {
            vault = store.vault
            try requireConsent(vault)
            try Failure.onStore { () throws(StoreError) in
                try store.destroyKey(id, forcedByName: forceKey != nil)
            }
        } else {
            vault = try keyOptions.openVault(of: group)
            try destroy(in: vault)
        }
        if vault.unloggedChangeCount > 0 { Warning.unlogged("the key is destroyed").report(asJSON: output.json) }
        let fields: [(String, JSONText)] = [("id", .string(id)), ("state", .string("destroyed"))]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : "destroyed \(id)")
    }

    /// Asks for consent to a forced destruction, which alone loses data in use. A missing key, or one that must remain,
    /// is refused in any case.
    private func requireConsent(_ vault: Vault) throws(Failure) {
        guard forceKey != nil else { return }
        let keys = try Failure.onVault { () throws(VaultError) in try vault.keySummaries() }
        guard keys.contains(where: { $0.id.description == id && $0.state == .decryptOnly }) else { return }
        try confirmation.require(
            "destroy the key \(id) of \(vault.accessGroup)",
            ["Every user and program of the group loses what only this key opens, here and in backups, for good."])
    }

    /// Destroys the key in a group without a container. It has no blobs that need the key, but programs may hold it.
    private func destroy(in vault: Vault) throws(Failure) {
        let keys = try Failure.onVault { () throws(VaultError) in try vault.keySummaries() }
        guard let key = keys.first(where: { $0.id.description == id }) else {
            throw Failure(
                .notFound, "keyNotFound", "cannot destroy the key \(id): the vault has no such key",
                hint: "See the keys: sealctl vault keys.")
        }
        if key.state == .destroyed { return }
        try requireConsent(vault)
        if forceKey == nil {
            try target.requireNoContainer(of: vault)
            try target.requireEmptyTrash(of: vault)
        }
        guard forceKey != nil || key.state == .active || vault.isEpochHeld(key.epoch, key.protection) == false else {
            throw Failure(
                .unavailable, "keyInUse", "cannot destroy the key \(id): a program may still seal under it",
                hint: "End the programs of \(vault.accessGroup), or repeat its id: --force-key \(id).")
        }
        try Failure.onVault { () throws(VaultError) in try vault.destroyKey(key.id, onlyIfRetired: forceKey == nil) }
    }
}
