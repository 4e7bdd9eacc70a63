internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import SealedState

/// `sealctl watch`: every change of records, as it comes.
struct WatchCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch",
        abstract: "Show changes of records as they come, with the reason of each refusal.",
        discussion: """
            A line for each record's present state comes first, then one for every change: time, event, sequence, name \
            and reason, with tabs between them. Of changes that come faster than they are shown the last one counts. \
            What is read is accepted, as by get. It goes on when the container is removed and made anew. \
            Ctrl-C or SIGTERM ends it with status 0.

            EVENT is present, written, resealed (the same value under another key), valid (again), deleted, absent, \
            locked, refused, or failed.

            Examples:
              sealctl watch
              sealctl watch accounts/ada --values
              sealctl watch widget_auth_state --changes-only --once --json
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: ArgumentHelp("The names of records; all of the group's unless stated.", valueName: "name"),
        completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var names: [String] = []
    @Flag(help: "End after the first change.")
    var once = false
    @Option(
        parsing: .unconditional,
        help: ArgumentHelp("End after N changes; present states do not count.", valueName: "N"), transform: Self.number)
    var count: Int?
    @Flag(help: "Do not show the present states.")
    var changesOnly = false
    @Flag(help: "Print the JSON of values as well.")
    var values = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    private static func number(_ argument: String) throws -> Int {
        guard let number = Int(argument), number > 0 else { throw ValidationError("N is a whole number, 1 or more.") }
        return number
    }

    func validate() throws {
        guard !once || count == nil else { throw ValidationError("--once and --count exclude each other.") }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let view = LiveView(
            store: store, names: names.isEmpty ? nil : names, limit: once ? 1 : count, changesOnly: changesOnly,
            showsValues: values, isJSON: output.json)
        try UntilSignal.run { () async throws(Failure) in try await view.show() }
    }
}
