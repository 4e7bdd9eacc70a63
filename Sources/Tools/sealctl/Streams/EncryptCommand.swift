internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import Sealing
internal import SharedFiles

/// `sealctl encrypt`: seals a file or pipe of any size.
struct EncryptCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "encrypt",
        abstract: "Seal a file or pipe of any size for a group.",
        discussion: """
            Memory stays constant and all cores work. The output file appears when it is complete; it may be the input \
            file. Sealed data goes to a terminal only with -o -. A stream with a name opens only with that name; use a \
            name for one stream only. Streams of a group without a name can be exchanged for each other.

            Examples:
              sealctl encrypt -o backup.tar.sealed backup.tar
              tar c photos | sealctl encrypt > photos.tar.sealed
              sealctl encrypt --name backups/2026-11-23 -o backup.sealed backup.tar
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp("The sealed file; standard output unless stated.", valueName: "OUT"),
        completion: .file())
    var outputFile: String?
    @Argument(
        help: ArgumentHelp("The file to seal; standard input unless stated.", valueName: "in"), completion: .file())
    var inputFile: String?
    @OptionGroup var name: StreamNameOption
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard keyOptions.writerKey == nil else {
            throw ValidationError("Sealed files are not signed: --writer-key is for records.")
        }
    }

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let context = try name.context(in: group)
        let input = try InputFile(inputFile)
        let target = try OutputFile(outputFile, mode: ordinaryFileMode())
        guard !target.isGuardedTerminal else {
            throw Failure(
                .usage, "binaryToTerminal", "sealed data is not printed to a terminal",
                hint: "Try -o FILE, or -o - to print it.")
        }
        try target.requireOther(than: input)
        let vault = try keyOptions.openVault(of: group)
        let key = try Failure.onVault { () throws(VaultError) in try vault.activeKey() }
        let description = BlobDescription(stream: context, sealedAt: Timestamp.now.milliseconds)
        let progress = Progress("sealing", total: input.extent?.count)
        do throws(StreamFailure<FileError>) {
            try StreamSealer.seal(
                from: input.source(progress), to: { (bytes) throws(FileError) in try target.write(bytes) },
                as: description, key: key)
        } catch {
            throw Failure(error, "encrypt", input.name)
        }
        try requireStillActive(key, in: vault)
        try target.commit()
    }

    /// Refuses a key that a concurrent rotation has retired: the rotation did not reseal this stream, so readers would
    /// refuse it.
    private func requireStillActive(_ key: SealingKey, in vault: Vault) throws(Failure) {
        let now = try Failure.onVault { () throws(VaultError) in try vault.activeKey() }
        guard now.id == key.id else {
            throw Failure(
                .temporary, "rotated", "cannot encrypt: the group's key was rotated in the meantime",
                hint: "Run it again, and do not use the written output.")
        }
    }
}

/// `--name` of `encrypt`, `decrypt` and `inspect`: the name that a stream is bound to.
struct StreamNameOption: ParsableArguments {
    @Option(
        name: .customLong("name"),
        help: ArgumentHelp("The name that the stream is bound to; it opens under no other.", valueName: "NAME"))
    var text: String?

    /// Returns the place of a stream of this name, or of a nameless stream.
    ///
    /// - Throws: `Failure` with `invalidName` for a name that is not a valid record name.
    func context(in group: AppGroup) throws(Failure) -> BlobContext {
        guard let text else { return BlobContext(streamOf: group) }
        return BlobContext(streamOf: group, named: try checked(text))
    }

    /// Returns the stated name and its place, or `nil` if no name was stated.
    func expected(in group: AppGroup?) throws(Failure) -> (name: String, context: BlobContext)? {
        guard let text, let group else { return nil }
        return (text, try context(in: group))
    }

    private func checked(_ text: String) throws(Failure) -> String {
        do throws(StoreError) { return try RecordName(text).text } catch {
            throw Failure(
                StatusTable.status(of: error.code), error.code.rawValue,
                "cannot use the stream name \"\(text.printable)\": \(error.reason)",
                hint: "Use a name such as backup.tar or backups/2026-11-23.")
        }
    }
}
