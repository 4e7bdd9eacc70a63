internal import ArgumentParser
internal import KeyVault
internal import Sealing

/// `sealctl vault keys`: the sealing keys by epoch.
struct VaultKeysCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "keys",
        abstract: "List a vault's sealing keys.",
        discussion: """
            One line for each key that the vault holds or held, by epoch. The active key seals and opens, decrypt-only \
            ones open, destroyed ones are only remembered. Nothing secret is shown.

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
    /// For people.
    var words: String { self == .whenUnlocked ? "when unlocked" : "after first unlock" }
    /// For programs.
    var word: String { self == .whenUnlocked ? "whenUnlocked" : "afterFirstUnlock" }
}
