internal import ArgumentParser
internal import AuditReports
internal import SealedState

/// `sealctl delete`: replaces a record by a tombstone.
struct DeleteCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "delete",
        abstract: "Delete a record, so that an old copy is refused.",
        discussion: """
            A sealed mark with the next sequence replaces the record: readers refuse an old copy that is put back.

            With --purge, as a second step, the command removes the mark of an earlier deletion; the container then \
            has no trace of the record. The watermarks remain, so readers still refuse an old copy. A record that is \
            not deleted cannot be purged.

            Examples:
              sealctl delete widget_auth_state
              sealctl delete widget_auth_state --purge
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: "The record's name.", completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @Flag(help: "Remove the mark of an earlier deletion.")
    var purge = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        if purge { return try purge(store) }
        let sequence = try Failure.onStore { () throws(StoreError) in try store.delete(named: name) }
        let fields: [(String, JSONText)] = [("name", .string(name)), ("sequence", .unsigned(sequence))]
        try StandardStreams.print(
            output.json ? JSONText.object(fields).text : "\(name) deleted, sequence \(sequence)")
    }

    private func purge(_ store: SealedStore) throws(Failure) {
        try Failure.onStore { () throws(StoreError) in try store.purge(named: name) }
        let fields: [(String, JSONText)] = [("name", .string(name)), ("purged", .bool(true))]
        try StandardStreams.print(output.json ? JSONText.object(fields).text : "\(name) purged")
    }
}
