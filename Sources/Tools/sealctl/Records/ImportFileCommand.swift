internal import ArgumentParser
internal import SealedState

/// `sealctl import file`: a file becomes a sealed file, or a record.
struct ImportFileCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "file",
        abstract: "Seal a file in its place, or make a record of it.",
        discussion: """
            Without --as it becomes a sealed file of its own, of any size, beside the plaintext: FILE.sealed, which \
            sealctl decrypt opens. With --as it becomes a record: JSON, byte for byte but for the dates, or a binary \
            property list.

            Examples:
              sealctl import file photos.tar
              sealctl import file state.json --as state --schema-version 2
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: ArgumentHelp("The file.", valueName: "file"), completion: .file())
    var file: String
    @Option(name: .customLong("as"), help: ArgumentHelp("The record's name.", valueName: "NAME"))
    var name: String?
    @Option(
        name: .customShort("o"), help: ArgumentHelp("The sealed file; FILE.sealed unless stated.", valueName: "OUT"),
        completion: .file())
    var outputFile: String?
    @Flag(help: "Seal a file once more that is sealed already.")
    var sealAgain = false
    @OptionGroup var record: RecordOptions
    @OptionGroup var moving: MovingOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard name == nil || outputFile == nil else { throw ValidationError("Give one of --as and -o.") }
        guard name == nil || !sealAgain else { throw ValidationError("Give one of --as and --seal-again.") }
        guard name != nil || record.date.isEmpty else { throw ValidationError("--date belongs to --as.") }
    }

    func perform() throws(Failure) {
        let move = FileMove(
            groupOptions: groupOptions, keyOptions: keyOptions, moving: moving, output: output, sealsAgain: sealAgain)
        try move.run { moving throws(StoreError) in
            guard let name else { return try moving.file(file, to: outputFile) }
            return try moving.record(file, as: name, schemaVersion: record.schemaVersion, dates: Set(record.date))
        }
    }
}
