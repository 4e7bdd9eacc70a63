internal import ArgumentParser
internal import SealedState
internal import Sealing

/// `sealctl explain`: why a record is refused, or what a rejection means.
struct ExplainCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Say check by check why a record is refused, or what a rejection means.",
        discussion: """
            Where NAME is that of a rejection, such as replayed, it is explained; all else is a record's name, and \
            --record says so for any name. Of a record every check is made that needs no type, and nothing is \
            accepted by looking; the exit status is that of get. Without NAME all rejections are listed.

            Examples:
              sealctl explain widget_auth_state
              sealctl explain replayed
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: ArgumentHelp("The name of a record or of a rejection.", valueName: "name"),
        completion: .custom { words, _, _ in RecordNames.records(words: words) + Explanation.names })
    var name: String?
    @Flag(help: "The argument is a record's name, even if a rejection has it.")
    var record = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard !record || name != nil else { throw ValidationError("Name the record that --record is about.") }
    }

    func perform() throws(Failure) {
        guard let name else { return try list() }
        if !record, let explanation = Explanation.named(name) {
            return try StandardStreams.print(output.json ? explanation.json.text : explanation.text)
        }
        try explain(name)
    }

    private func list() throws(Failure) {
        try StandardStreams.print(
            output.json ? JSONText.array(Explanation.all.map(\.json)).text : Explanation.table)
    }

    private func explain(_ name: String) throws(Failure) {
        let group = try groupOptions.appGroup()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let examination = try Failure.onStore { () throws(StoreError) in
            try store.examine(name) { bytes, codec throws(StoreError) in
                try Self.check(bytes, codec, named: name, store.options)
            }
        }
        let view = ExaminationView(name: name, examination: examination)
        try StandardStreams.print(output.json ? view.json.text : view.text)
        if let error = examination.error { throw Failure(error) }
    }

    /// Whether it is JSON can be told without its type.
    private static func check(
        _ bytes: UnsafeRawBufferPointer, _ codec: PayloadCodec, named name: String, _ options: StoreOptions
    ) throws(StoreError) {
        guard codec == .json else { return }
        do throws(JSONFault) { try JSONChecker.check(bytes, maximumDepth: options.maximumDepth) } catch {
            throw StoreError(
                .undecodable, "read", name,
                "It is authentic but no JSON (byte \(error.offset): \(error.reason)).")
        }
    }
}
