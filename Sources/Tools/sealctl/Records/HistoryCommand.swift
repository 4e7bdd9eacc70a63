internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import SealedState

/// `sealctl history`: everything that is still known of a record's past.
struct HistoryCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "history",
        abstract: "Show what is still known of a record's past, newest first.",
        discussion: """
            Older values are not kept: a write takes the place of what was there. What is known is the record as it \
            is now, the highest state that this user's programs have accepted, when it was sealed, under which keys, \
            and each refused copy in quarantine with its reason. What the header of such a copy claims is not verified. \
            Nothing is accepted by looking.

            Example:
              sealctl history widget_auth_state
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The record's name.", completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        _ = try Failure.onStore { () throws(StoreError) in try RecordName(name) }
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let history = try RecordHistory(of: name, in: store)
        guard history.isKnown else {
            throw Failure(
                .notFound, "absent", "nothing is known of \(name)",
                hint: "Check the name: sealctl list shows all records.")
        }
        if !output.json { Talk.note("older values are not kept: this is all that is known") }
        try StandardStreams.print(output.json ? history.json(named: name).text : history.text)
    }
}
