internal import ArgumentParser
internal import SealedState
internal import StateImport

/// `sealctl import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Move plaintext into sealed form.",
        discussion: """
            Each file is sealed, read back and compared, and only then removed. A command that was ended half-way is \
            run again and goes on. What is there already and differs is left as it is. Removed plaintext is not \
            erased: a disk may keep it. End the programs that still write it first.

            Examples:
              sealctl import file state.json --as state
              sealctl import defaults com.example.app.plist
              sealctl import container ~/plain --dry-run
            """,
        subcommands: [
            ImportAESGCMCommand.self, ImportDefaultsCommand.self, ImportFileCommand.self, ImportContainerCommand.self,
        ])
}

/// `sealctl import file`: converts a file to a sealed file or a record.
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
    @OptionGroup var moving: PlaintextImportArguments
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

/// `sealctl import defaults`: converts a property list of `UserDefaults` to a suite.
struct ImportDefaultsCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults",
        abstract: "Make a suite of defaults of a property list that UserDefaults has written.",
        discussion: """
            XML and binary property lists, Apple's and swift-corelibs-foundation's. All values go in with one write; \
            what else the suite holds stays. Keyed archives come in as the bytes that they are, and are named.

            Examples:
              sealctl import defaults group.com.example.app.plist
              sealctl import defaults old.plist --suite com.example.app
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: ArgumentHelp("The property list.", valueName: "file"), completion: .file())
    var file: String
    @Option(
        help: ArgumentHelp("The suite; the file's name without .plist unless stated.", valueName: "SUITE"))
    var suite: String?
    @OptionGroup var moving: PlaintextImportArguments
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        try FileMove(groupOptions: groupOptions, keyOptions: keyOptions, moving: moving, output: output).run {
            moving throws(StoreError) in try moving.defaults(file, suite: suite)
        }
    }
}

/// `sealctl import container`: imports everything in a plaintext container.
struct ImportContainerCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "container",
        abstract: "Move a whole container of plaintext into the group's.",
        discussion: """
            Property lists of Library/Preferences become suites of defaults, files that the map names become records, \
            all others become sealed files at the same path, .sealed behind it. Without a directory it is the group's \
            own container. A file that cannot be moved, or that has no place, does not keep the others from it; the \
            status is 65 then.

            The map is JSON: {"state.json": {"record": "state", "schemaVersion": 2, "dates": ["expiresAt"]}, \
            "auth.encrypted": {"record": "auth", "cipher": "aes-gcm"}, "old.plist": {"suite": "old"}, \
            "README": {"leave": true}}. --key opens those with a cipher. A rule that cannot be followed is told before \
            anything is moved.

            Examples:
              sealctl import container --dry-run
              sealctl import container ~/Backup/AppGroup --map map.json --key key.bin
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: ArgumentHelp("The plaintext container; the group's own unless stated.", valueName: "directory"),
        completion: .directory)
    var directory: String?
    @Option(
        help: ArgumentHelp("Which files become records; - is standard input.", valueName: "FILE"), completion: .file())
    var map: String?
    @OptionGroup var key: ForeignKeyOptions
    @OptionGroup var moving: PlaintextImportArguments
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard map != "-" || key.key != "-" else { throw ValidationError("Only one of them can be standard input.") }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let mapping = try map.map { path throws(Failure) in
            try ContainerMap.read(path).mapping(key: try key.read())
        }
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        let report: PlaintextImportReport
        do throws(StoreError) {
            report =
                try PlaintextImporter(to: store, options: moving.options(excluding: keyOptions.files + [map, key.key]))
                .container(
                    directory, mapping: mapping ?? ContainerMapping())
        } catch { throw Failure(moving: error) }
        let view = PlaintextImportView(report)
        try StandardStreams.print(output.json ? view.json : view.text)
        guard report.isComplete else {
            throw Failure(
                .dataError, "incomplete",
                "of \(report.items.count) files \(report.failures.count) could not be moved and "
                    + "\(report.leftInPlaintext.count) are left in plaintext",
                hint: "See why above; say in the map what becomes of them, or leave, and run it again.")
        }
    }
}
