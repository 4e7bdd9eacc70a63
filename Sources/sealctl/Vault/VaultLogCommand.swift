internal import ArgumentParser
internal import KeyVault

/// `sealctl vault log`: who did what with the vault.
struct VaultLogCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "log",
        abstract: "Show a vault's access log, and whether it is intact.",
        discussion: """
            Openings, unlocks, item reads and changes, oldest first: when, what, how it ended, and by which process. \
            What an item was is shown as a keyed hash, the same for the same item. A change is entered before it is \
            made, as intended. The chain is checked each time, against what the vault noted of it at its last change; a \
            log that was altered ends with status 65. Entries behind that note can be cut off unseen.

            Examples:
              sealctl vault log --since 1d
              sealctl vault log --verify
              sealctl vault log --json | jq '.entries[] | .event'
            """)

    @OptionGroup var target: VaultTarget
    @Flag(help: "Check the log, and do not show its entries.")
    var verify = false
    @Option(
        help: ArgumentHelp(
            "Show what was entered since: 15m, 1h, 2d ago, 2026-11-21, or 2026-11-21T03:30:00Z.", valueName: "TIME"))
    var since: PastTime?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let vault = try keyOptions.openVault(of: try target.checked())
        var entries: [LogEntryView] = []
        let found = try Failure.onVault { () throws(VaultError) in
            try vault.readAccessLog { entry, isAuthentic in
                guard !verify, entry.milliseconds >= since?.timestamp.milliseconds ?? 0 else { return }
                entries.append(LogEntryView(entry: entry, isAuthentic: isAuthentic))
            }
        }
        let check = LogCheckView(found)
        try StandardStreams.print(output.json ? json(entries, check) : text(entries, check))
        guard found.isIntact else {
            throw Failure(
                .dataError, "logAltered", "the access log of \(vault.accessGroup) is not as it was written",
                hint: "Find out who may write beside \(vault.path), and compare it with a backup.")
        }
    }

    private func json(_ entries: [LogEntryView], _ check: LogCheckView) -> String {
        let shown: [(String, JSONText)] = verify ? [] : [("entries", .array(entries.map(\.json)))]
        return JSONText.object(shown + [("check", check.json)]).text
    }

    private func text(_ entries: [LogEntryView], _ check: LogCheckView) -> String {
        guard !verify else { return check.text }
        var table = TextTable(LogEntryView.columns)
        for entry in entries { table.add(entry.cells) }
        return table.text
    }
}
