internal import ArgumentParser
internal import SealedState

/// `sealctl delete`: puts a tombstone in a record's place.
struct DeleteCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a record, so that nobody can bring it back unseen.",
        discussion: """
            A sealed mark takes the record's place and its next sequence: an old copy that is put back is refused.

            Example:
              sealctl delete widget_auth_state
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The record's name.", completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let sequence = try Failure.onStore { () throws(StoreError) in try store.delete(named: name) }
        let fields: [(String, JSONText)] = [("name", .string(name)), ("sequence", .unsigned(sequence))]
        try StandardStreams.print(
            output.json ? JSONText.object(fields).text : "\(name) deleted, sequence \(sequence)")
    }
}
