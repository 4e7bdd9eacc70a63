internal import ArgumentParser
internal import SealedState
internal import StateImport

/// `sealctl import`.
struct ImportCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import",
        abstract: "Move plaintext into sealed form.",
        discussion: """
            Each file is sealed, read back, compared, and then removed. To continue an interrupted command, run it \
            again. An existing target with other contents is not changed. Removed plaintext is not erased: it may \
            remain on the disk. End the programs that write the files first.

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
        abstract: "Create a sealed file or a record from a file.",
        discussion: """
            Without --as the command creates a sealed file of any size, which sealctl file get reads. Its name is that \
            of the file, or its path below the group's container. An SQLite database becomes one sealed file with the \
            transactions of the write-ahead log beside it. With --as the command creates a record from JSON, byte for \
            byte except for the dates, or from a binary property list.

            Examples:
              sealctl import file photos.tar --name backups/photos.tar
              sealctl import file state.json --as state --schema-version 2
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(help: ArgumentHelp("The file.", valueName: "file"), completion: .file())
    var file: String
    @Option(name: .customLong("as"), help: ArgumentHelp("The record's name.", valueName: "NAME"))
    var name: String?
    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("The sealed file's name; that of the file unless stated.", valueName: "NAME"))
    var fileName: String?
    @Flag(help: "Seal a file that is sealed already.")
    var sealAgain = false
    @OptionGroup var record: RecordOptions
    @OptionGroup var moving: PlaintextImportArguments
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard name == nil || fileName == nil else { throw ValidationError("Give one of --as and --name.") }
        guard name == nil || !sealAgain else { throw ValidationError("Give one of --as and --seal-again.") }
        guard name != nil || record.isPlain else {
            throw ValidationError("--schema-version, --date, --number and --check-with need --as.")
        }
    }

    func perform() throws(Failure) {
        let move = FileMove(
            groupOptions: groupOptions, keyOptions: keyOptions, moving: moving, output: output, sealsAgain: sealAgain)
        try move.run { moving throws(StoreError) in
            guard let name else { return try moving.file(file, named: fileName) }
            return try moving.record(
                file, as: name, schemaVersion: record.statedVersion, conversion: record.conversion)
        }
    }
}

/// `sealctl import defaults`: converts a property list of `UserDefaults` to a suite.
struct ImportDefaultsCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "defaults",
        abstract: "Create a suite of defaults from a property list that UserDefaults has written.",
        discussion: """
            Reads XML and binary property lists, Apple's and swift-corelibs-foundation's. The command writes all \
            values at once; other values of the suite remain. Keyed archives are imported as bytes, and are named.

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
        abstract: "Import a whole container of plaintext into the group's.",
        discussion: """
            Property lists of Library/Preferences become suites of defaults, and files that the map names become \
            records. All others become sealed files whose names are their paths. Without a directory the command imports \
            the group's own container. A file that cannot be imported, or that has no target, does not \
            stop the others; the status is then 65.

            The map is JSON: {"state.json": {"record": "state", "schemaVersion": 2, "dates": ["expiresAt=unix"], \
            "numbers": ["retriedAt"], "checkWith": "golden.json"}, "auth.encrypted": {"record": "auth", "cipher": "aes-gcm"}, "old.plist": {"suite": "old"}, "My \
            photo.jpg": {"file": "photos/1.jpg"}, "README": {"leave": true}}. --key opens those with a cipher. The command reports an invalid rule before it imports \
            any file.

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
        help: ArgumentHelp("The map of the files; - is standard input.", valueName: "FILE"), completion: .file())
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
                "of \(report.items.count) files \(report.failures.count) could not be imported and "
                    + "\(report.leftInPlaintext.count) remain in plaintext",
                hint: "See the reasons above; state their targets or leave in the map, and run it again.")
        }
    }
}
