internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState

/// `sealctl edit`: opens a record's JSON in a person's editor and seals the result.
struct EditCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit",
        abstract: "Edit a record's JSON in $VISUAL or $EDITOR, and seal it again.",
        discussion: """
            The command writes the JSON to a file in memory, on a tmpfs, that only you can read. It wipes the file \
            when the edit ends. An edit that cannot be sealed remains there, and the hint shows how to seal and wipe \
            it. Files that an editor writes elsewhere, such as a history or undo files, are the editor's own; vim, \
            under any name, runs with -n -i NONE, without a history and a swap file.

            The edit is sealed if it was changed, is JSON, and no other program has written the record in the \
            meantime. JSON of one line is formatted for the editor and sealed as one line again. Schema version, \
            expiry and protection remain unless stated.

            Examples:
              sealctl edit widget_auth_state
              sealctl edit accounts/ada --create --expires-in 1d
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: "The record's name, such as accounts/ada.",
        completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var name: String
    @Flag(help: "Start with {} if the record does not exist.")
    var create = false
    @Option(
        // Unconditional: -1 is a wrong number, not an option.
        parsing: .unconditional,
        help: ArgumentHelp(
            "The version of the record's type; the present version unless stated, 1 for a new record.", valueName: "N"),
        transform: PutCommand.version)
    var schemaVersion: UInt32?
    @Option(
        help: ArgumentHelp("When the record expires: 30s, 15m, 1h, 2d or 1w from now.", valueName: "TIME"),
        transform: Lifetime.init(parsing:))
    var expiresIn: Lifetime?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        _ = try Failure.onStore { () throws(StoreError) in try RecordName(name) }
        try Interaction.require(for: "an edit", hint: "Try sealctl get and sealctl put.")
        try Editor().requireTerminal()
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        MemoryLeftovers.removeAll()
        let record = try EditedRecord.open(name, in: store, create: create)
        let former = record.sequence
        let session = EditSession(
            record, in: store, schemaVersion: schemaVersion, lifetime: expiresIn, options: repeated)
        try report(try edit(session), former)
    }

    /// The options that lead another command to the same store, as they were stated here.
    private var repeated: [String] {
        var words = groupOptions.identifier.map { ["--group", $0] } ?? []
        let stated: [(String, String?)] = [
            ("--root", output.root), ("--vault", output.vault), ("--passphrase-file", keyOptions.passphraseFile),
            ("--key-file", keyOptions.keyFile), ("--identity", keyOptions.identity),
            ("--writer-key", keyOptions.writerKey), ("--writer-passphrase-file", keyOptions.writerPassphraseFile),
        ]
        for case (let option, let value?) in stated { words += [option, value] }
        if keyOptions.passphrase { words.append("--passphrase") }
        if let credential = keyOptions.credential { words += ["--credential"] + [credential.name].compactMap(\.self) }
        return words
    }

    /// Edits while signals are held back, from the first byte written to a file until the wipe.
    private func edit(_ session: consuming EditSession) throws(Failure) -> UInt64? {
        let signals = HeldSignals()
        let result: Result<UInt64?, Failure>
        do throws(Failure) { result = .success(try session.run(signals)) } catch { result = .failure(error) }
        signals.deliver()
        return try result.get()
    }

    private func report(_ sequence: UInt64?, _ former: UInt64?) throws(Failure) {
        let fields: [(String, JSONText)] = [
            ("name", .string(name)), ("sequence", (sequence ?? former).map { .unsigned($0) } ?? .null),
            ("isChanged", .bool(sequence != nil)),
        ]
        let text = sequence.map { "\(name) sequence \($0)" } ?? "\(name) unchanged"
        try StandardStreams.print(output.json ? JSONText.object(fields).text : text)
    }
}
