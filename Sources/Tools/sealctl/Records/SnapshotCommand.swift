internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// `sealctl snapshot`: writes a consistent copy of a container.
struct SnapshotCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "snapshot",
        abstract: "Copy a container for a backup while programs use it.",
        discussion: """
            Each record in the copy is complete: the old or the new one if it was written during the copy. If the \
            vault can be opened, each record is verified. Sealed data is copied sealed; sealctl vault export backs up \
            the vault. A database of records is copied as it is at one moment. The copy omits lock files, quarantine, incomplete files, sockets and links, and Library/Caches \
            unless --caches is given. A manifest lists all files; a copy without a manifest is incomplete. The command \
            omits and names files that it cannot read, and fails after writing. It does not overwrite files.

            Examples:
              sealctl snapshot
              sealctl snapshot -o backups/today
              sealctl snapshot -o - | ssh backup.example.com 'cat > state.tar'
            """,
        subcommands: [SnapshotRestoreCommand.self])

    @OptionGroup var groupOptions: GroupOptions
    @Option(
        name: .customShort("o"),
        help: ArgumentHelp(
            "A new file that ends in .tar, a new directory, or - for a tar file on standard output; GROUP-TIME.tar here "
                + "unless stated.", valueName: "PATH"),
        completion: .file())
    var destination: String?
    @Flag(help: "Copy Library/Caches as well.")
    var caches = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        let store = try availableStore(of: group)
        defer { if let store { WatermarkWarning.report(on: store, asJSON: output.json) } }
        let path = destination ?? "\(group)-\(UTCStamp.now()).tar"
        let report = try take(container, store, path)
        for warning in report.warnings { warning.report(asJSON: output.json) }
        let text = output.json ? report.json(at: path).text : report.text(at: path)
        // Standard output is the copy itself.
        if path == "-" { ConsoleMessages.note(text) } else { try StandardStreams.print(text) }
        if let failure = report.failure { throw failure }
    }

    /// Returns `nil` if nothing opens the vault and no credential was stated. In that case nothing is verified.
    private func availableStore(of group: AppGroup) throws(Failure) -> SealedStore? {
        do throws(Failure) { return try keyOptions.openStore(of: group) } catch {
            guard keyOptions.isUnstated else { throw error }
            Warning(
                "snapshotUnverified", "the records are copied without being verified: \(error.message)",
                hint: "Unlock the vault, or verify them later with sealctl audit."
            ).report(asJSON: output.json)
            return nil
        }
    }

    private func take(
        _ container: GroupContainer, _ store: SealedStore?, _ path: String
    ) throws(Failure) -> SnapshotReport {
        let snapshot = Snapshot(
            container: container, store: store, backend: try KnownBackend.open(of: container), includesCaches: caches)
        guard path != "-" else {
            try SnapshotPlace.requireOutputOutside(of: container.root)
            // The reader may be slow, and nothing can be undone, so a signal ends the process at once.
            return try snapshot.write(to: TarTarget(nil))
        }
        let place = try SnapshotPlace(path)
        try place.requireOutside(of: container.root)
        return try take(snapshot, place)
    }

    /// Takes the snapshot with signals held back: an incomplete copy is removed before a signal ends the process.
    private func take(_ snapshot: Snapshot, _ place: SnapshotPlace) throws(Failure) -> SnapshotReport {
        let tar = place.argument.hasSuffix(".tar") ? try TarTarget(place) : nil
        let signals = HeldSignals()
        let result: Result<SnapshotReport, Failure>
        do throws(Failure) {
            let target: any SnapshotTarget = if let tar { tar } else { try DirectoryTarget(place) }
            result = .success(try snapshot.write(to: target))
        } catch { result = .failure(error) }
        signals.deliver()
        return try result.get()
    }
}
