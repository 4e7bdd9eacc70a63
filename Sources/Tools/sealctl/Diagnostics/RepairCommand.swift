internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SharedFiles

/// `sealctl repair`: repairs the traces of interrupted operations.
struct RepairCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "repair",
        abstract: "Repair the effects of crashes and interruptions, after showing the changes.",
        discussion: """
            Removes leftover temporary files that are older than a minute and in use by no writer, restores the names \
            of files that an interrupted import had set aside, creates a missing lock file, wipes what a killed edit \
            left in memory, and continues an interrupted rotation.

            The command does not change records, keys or watermarks otherwise, and does not remove a file because it \
            cannot be read. It asks first, unless --yes is given.

            Examples:
              sealctl repair --dry-run
              sealctl repair --yes --quarantine-older-than 30d
            """)

    @OptionGroup var groupOptions: GroupOptions
    @Flag(help: "Show the changes, and make none.")
    var dryRun = false
    @OptionGroup var confirmation: Confirmation
    @Option(
        help: ArgumentHelp(
            "Also remove copies of refused blobs from quarantine that are older than this, such as 30d.",
            valueName: "TIME"), transform: Lifetime.init(parsing:))
    var quarantineOlderThan: Lifetime?
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard !dryRun || !confirmation.yes else { throw ValidationError("--dry-run and --yes exclude each other") }
    }

    func perform() throws(Failure) {
        let plan = try plan(for: try groupOptions.appGroup())
        for note in plan.notes { ConsoleMessages.note("note: \(note)") }
        guard !dryRun, !plan.repairs.isEmpty else {
            return try report(plan.repairs.map { RepairOutcome(repair: $0, failure: nil, isDone: false) })
        }
        try confirm(plan)
        let outcomes = plan.repairs.map(Self.outcome)
        try report(outcomes)
        if let failure = outcomes.compactMap(\.failure).first { throw failure }
    }

    private func plan(for group: AppGroup) throws(Failure) -> RepairPlan {
        let home = try GroupOptions.home()
        let container = try Failure.onGroup { () throws(AppGroupError) in
            try GroupContainer.open(group, in: home, creating: false)
        }
        var plan = LockRepair.plan(for: container)
        plan = plan + Leftovers(root: container.root, place: .container(container, of: group)).repairs()
        let place = VaultPlace(AccessGroup(group), in: home)
        if let directory = try? place.openDirectory() {
            plan = plan + Leftovers(root: directory, place: .vault(place)).repairs()
        }
        plan = plan + QuarantineRepair(container: container, age: quarantineOlderThan).plan()
        plan = plan + EditRepair.plan()
        return plan + RotationRepair(group: group, keyOptions: keyOptions).plan()
    }

    private func confirm(_ plan: RepairPlan) throws(Failure) {
        try confirmation.require("repair \(plan.repairs.count) things", plan.repairs.map { "It will \($0.plan)." })
    }

    private static func outcome(_ repair: Repair) -> RepairOutcome {
        do throws(Failure) {
            try repair.perform()
            return RepairOutcome(repair: repair, failure: nil, isDone: true)
        } catch { return RepairOutcome(repair: repair, failure: error, isDone: false) }
    }

    private func report(_ outcomes: [RepairOutcome]) throws(Failure) {
        if output.json { return try StandardStreams.print(JSONText.array(outcomes.map(\.json)).text) }
        guard !outcomes.isEmpty else { return try StandardStreams.print("nothing to repair") }
        let lines = outcomes.map { outcome in
            let line = "\(outcome.word)  \(outcome.repair.plan.printable)"
            return outcome.failure.map { "\(line)\n        \($0.message)" } ?? line
        }
        try StandardStreams.print(lines.joined(separator: "\n"))
    }
}
