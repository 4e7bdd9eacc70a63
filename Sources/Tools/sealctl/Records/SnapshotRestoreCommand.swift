internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState
internal import SharedFiles

/// `sealctl snapshot restore`: writes the records of a snapshot into a container.
struct SnapshotRestoreCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Restore records, sealed files and mailboxes from a snapshot.",
        discussion: """
            Verifies every record of the snapshot with the keys and the roster of the group, and writes those that the \
            container does not have: under the active key, with the next sequence and with their own times. With \
            --replace it also replaces other values, deletions and refused blobs. It shows them and asks first, unless \
            --yes is given, and replaces nothing that was written since. Records that are refused or kept are named, \
            and the command fails after the rest. A governed record needs the key of a writer with the right. A \
            mailbox is restored whole, only into a container without it: unhandled messages get new numbers. \
            Deletions, leases, the roster, plain files and streams are not restored. The container must exist: sealctl \
            init creates it. A tar file is extracted first.

            Examples:
              sealctl snapshot restore backups/today --dry-run
              sealctl snapshot restore backups/today
              sealctl snapshot restore backups/today --record account --replace
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Argument(
        help: ArgumentHelp(
            "A directory that sealctl snapshot has written, or with the files of its tar file.",
            valueName: "directory"),
        completion: .directory)
    var snapshot: String
    @Option(help: ArgumentHelp("Restore this record alone; may be repeated.", valueName: "name"))
    var record: [String] = []
    @Option(help: ArgumentHelp("Restore this sealed file alone; may be repeated.", valueName: "name"))
    var file: [String] = []
    @Flag(help: "Replace other values, deletions and refused blobs in the container.")
    var replace = false
    @Flag(name: [.customShort("n"), .customLong("dry-run")], help: "Show what would be done; change nothing.")
    var dryRun = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let chosen = try Failure.onStore { () throws(StoreError) in
            try record.map { name throws(StoreError) in try RecordName(stored: name) }
                + file.map { name throws(StoreError) in try SealedFileName(name).recordName }
        }
        let snapshot = try SnapshotDirectory(snapshot)
        guard snapshot.manifest.group == group.identifier else {
            throw Failure(
                .dataError, StoreError.Code.wrongGroup.rawValue,
                "\(snapshot.path) is a snapshot of \(snapshot.manifest.group), not of \(group)",
                hint: "State its group: --group \(snapshot.manifest.group)")
        }
        let store = try keyOptions.openStore(of: group)
        defer { WatermarkWarning.report(on: store, asJSON: output.json) }
        try Self.requireRoster(of: store, snapshot)
        var plan = try RestorationPlan(snapshot, to: store, chosen, replacing: replace)
        if dryRun {
            try report(plan)
        } else {
            if !plan.losses.isEmpty {
                let list = Affected.list(plan.losses, orElse: "")
                try confirmation.require(
                    "replace parts of the container \(store.containerPath)",
                    ["It replaces \(list) by the values of \(snapshot.manifest.takenAt)."])
            }
            let signals = HeldSignals()
            plan.carryOut()
            // A signal ends the process: the report of what was restored goes first.
            do throws(Failure) { try report(plan) } catch {
                signals.deliver()
                throw error
            }
            signals.deliver()
        }
        if let failure = plan.failure { throw failure }
    }

    private func report(_ plan: RestorationPlan) throws(Failure) {
        try StandardStreams.print(output.json ? plan.json.text : plan.text)
    }

    /// Without a roster that was ever accepted, no record of the group can be judged. A roster decides about all
    /// records, so a person puts the newest one in its place.
    private static func requireRoster(of store: SealedStore, _ snapshot: SnapshotDirectory) throws(Failure) {
        guard let state = store.authority?.current(), state.roster == nil else { return }
        if case .refused(let error) = state.condition { throw Failure(error) }
        throw Failure(
            .configuration, StoreError.Code.roster.rawValue, "the group has a team key, and its container no roster",
            hint: "Copy the newest signed roster into \(store.containerPath); that of the snapshot is "
                + "\(snapshot.path)/container/\(ContainerLayout.roster).")
    }
}
