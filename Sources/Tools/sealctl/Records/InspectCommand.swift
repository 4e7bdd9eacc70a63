internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import Glibc
internal import KeyVault
internal import SealedBackends
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// `sealctl inspect`: shows a blob's header without any key, and its verdict and payload with one.
struct InspectCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Show a blob's header, and with a key whether it is authentic, and its contents.",
        discussion: """
            - is standard input. An argument that begins with /, ./ or ../, or that names an existing file, is a file; \
            without a group, every argument is a file. Any other argument, or any argument with --record, is a \
            record's name. Without a group, or if its vault cannot be opened, the command shows only the header. \
            Without --name a stream is authentic under any name. The command does not store watermarks.

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
            var options = StoreOptions()
            options.backend = KnownBackend.provider
            store = try SealedStore(
                group: group, in: home, unlockingWith: credential ?? .automatic, creating: false, options: options)
        } catch {
            // If no credential was stated, the header alone is shown.
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

/// The blob that `inspect` examines.
///
/// `-` is standard input. An argument that begins with `/`, `./` or `../`, or that names an existing file, is a file
/// unless `--record` is given. Without a known group every argument is a file. Any other argument is a record's name.
struct InspectionTarget {
    let input: InputFile
    /// The record's name, if the place of the file determines it.
    let record: String?

    static func find(
        _ argument: String, isRecord: Bool, group: AppGroup?, home: GroupsHome?
    ) throws(Failure) -> InspectionTarget {
        guard let group, let home, isRecord || !looksLikeFile(argument) else {
            let input = try InputFile(argument)
            return InspectionTarget(input: input, record: recordName(of: argument, group: group, home: home))
        }
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        let name = try Failure.onStore { () throws(StoreError) in try RecordName(argument) }
        if let backend = try KnownBackend.open(of: container) {
            let held = try Failure.onBackend("inspect", name.text) { () throws(BackendError) in
                try backend.read(BackendKey(name.text), limit: .max)
            }
            guard let held else { throw absent(name, group) }
            return InspectionTarget(input: try InputFile(holding: held.bytes, named: name.text), record: name.text)
        }
        let path = "\(ContainerLayout.records)/\(name.text)\(ContainerLayout.recordSuffix)"
        do throws(FileError) {
            return InspectionTarget(
                input: try InputFile(owning: container.root.openForReading(path)), record: name.text)
        } catch {
            throw error.code == .notFound ? absent(name, group) : Self.refusal(error, name)
        }
    }

    private static func absent(_ name: RecordName, _ group: AppGroup) -> Failure {
        Failure(
            .notFound, "absent", "cannot inspect \(name.text): no record or file has that name",
            hint: "Try sealctl list --group \(group) to see the records.")
    }

    /// Returns the failure for a link, a pipe or a directory in a record's place. It is a refused record, as in `get`.
    private static func refusal(_ error: FileError, _ name: RecordName) -> Failure {
        guard error.code == .unsafePath || error.code == .notRegularFile else { return Failure(error) }
        return Failure(
            StoreError(.malformed, "inspect", name.text, error.sentence, advice: error.advice, cause: error))
    }

    private static func looksLikeFile(_ argument: String) -> Bool {
        if argument == "-" || ["/", "./", "../"].contains(where: { argument.hasPrefix($0) }) { return true }
        return faccessat(AT_FDCWD, argument, F_OK, AT_SYMLINK_NOFOLLOW) == 0
    }

    /// Returns the name of the record whose place a path in the group's own container is. Such a file is treated as a
    /// record, because its name is known.
    private static func recordName(of argument: String, group: AppGroup?, home: GroupsHome?) -> String? {
        guard let group, let home, let file = real(argument),
            let container = try? GroupContainer.place(of: group, in: home), let root = real(container.string),
            file.hasPrefix(root + "/")
        else { return nil }
        return RecordFile.name(of: String(file.dropFirst(root.count + 1)))?.text
    }

    private static func real(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }
}
