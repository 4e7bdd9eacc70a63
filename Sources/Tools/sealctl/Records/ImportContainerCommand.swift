internal import ArgumentParser
internal import SealedState

/// `sealctl import container`: everything that a plaintext container holds.
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
    @OptionGroup var moving: MovingOptions
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
        let report: MovingInReport
        do throws(StoreError) {
            report =
                try MovingIn(to: store, options: moving.options(sparing: keyOptions.files + [map, key.key])).container(
                    directory, mapping: mapping ?? ContainerMapping())
        } catch { throw Failure(moving: error) }
        let view = MovingInView(report)
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
