internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import SealedState

/// `sealctl inspect`: a blob's header without any key, its verdict and payload with one.
struct InspectCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show a blob's header, and with a key whether it can be believed and what it holds.",
        discussion: """
            - is standard input. What begins with /, ./ or ../, or names something that exists, is a file; so is \
            everything where no group is known. All else is a record's name, and --record says so for any name. \
            Without a group, or where its vault does not open, only the header is shown. Without --name a stream is \
            authentic under any name. Nothing is remembered.

            Examples:
              sealctl inspect widget_auth_state
              sealctl inspect --json ./backup.tar.sealed
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: ArgumentHelp("A file, or the name of a record.", valueName: "file|name"),
        completion: .custom { words, _, _ in RecordNames.records(words: words) })
    var target: String
    @Flag(help: "The argument is a record's name, even if a file has it.")
    var record = false
    @OptionGroup var name: StreamNameOption
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = groupOptions.identifier == nil && !record && name.text == nil ? nil : try groupOptions.appGroup()
        let home = group == nil ? nil : try GroupOptions.home()
        let found = try InspectionTarget.find(target, isRecord: record, group: group, home: home)
        let inspector = Inspector(target: found, group: group, stream: try name.expected(in: group))
        var inspection = try inspector.header()
        if let group { try open(&inspection, inspector, group) }
        let now = Timestamp.now
        try StandardStreams.print(
            output.json
                ? InspectionJSON(inspection: inspection, now: now).json.text
                : InspectionText(inspection: inspection, now: now).text)
        if case .refused(let failure) = inspection.verdict { throw failure }
    }

    private func open(
        _ inspection: inout Inspection, _ inspector: Inspector, _ group: AppGroup
    ) throws(Failure) {
        let credential = try keyOptions.opening(AccessGroup(group))
        let home = try GroupOptions.home()
        let store: SealedStore
        do throws(StoreError) {
            store = try SealedStore(group: group, in: home, unlockingWith: credential ?? .automatic, creating: false)
        } catch {
            // Nobody stated what opens the vault: then the header is what can be had.
            let failure =
                try LostVault.failure(of: AccessGroup(group), for: error.cause as? VaultError) ?? Failure(error)
            guard credential == nil else { throw failure }
            inspection.verdict = .unverified(failure.message)
            return
        }
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        try inspector.open(&inspection, with: store)
    }
}
