internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState

/// `sealctl vault rotate`: creates a new key and reseals everything under it.
struct VaultRotateCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate",
        abstract: "Create a new key and reseal every blob of the group under it.",
        discussion: """
            Programs can read and write during the rotation. To continue an interrupted or killed rotation, run the \
            command again. The rotation is completed when no blob of an older epoch remains. Readers then refuse a \
            blob that is sealed or put back under an old key. The old keys still open data elsewhere, such as backups, \
            until sealctl vault destroy-key. If a blob cannot be resealed, the status is 75. If blobs are sealed under \
            keys that only a backup may hold, the command asks first, unless --yes is given.

            Examples:
              sealctl vault rotate
              sealctl vault rotate --throttle 20
              sealctl vault rotate --status
            """)

    @OptionGroup var target: VaultTarget
    @Option(
        help: ArgumentHelp("Reseal at most N blobs, or NK, NM, NG bytes, in a second.", valueName: "N"))
    var throttle: RotationThrottle?
    @Option(
        help: ArgumentHelp(
            "Skip PATH in the container and everything below it; can be repeated.", valueName: "PATH"))
    var passOver: [String] = []
    @OptionGroup var confirmation: Confirmation
    @Flag(help: "Only show which blobs and programs hold which key, and which keys may be destroyed.")
    var status = false
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func validate() throws {
        guard !status || throttle == nil else {
            throw ValidationError("--throttle is for a rotation, --status only looks.")
        }
    }

    func perform() throws(Failure) {
        let group = try target.checked()
        guard let store = try target.openStore(with: keyOptions) else {
            return try rotateKeys(of: try keyOptions.openVault(of: group))
        }
        if status {
            let found = try Failure.onStore { () throws(StoreError) in try store.rotationStatus() }
            let needed = try Failure.onStore { () throws(StoreError) in try store.rotationSize() }
            let view = RotationStatusView(status: found, neededBytes: needed)
            return try StandardStreams.print(output.json ? view.json.text : view.text)
        }
        let unheld = try UnknownKeyBlobs(in: store)
        if !unheld.isEmpty {
            try confirmation.require("rotate the keys of \(group)", unheld.sentences)
        }
        let found = try rotate(store)
        warnOfLog(store.vault)
        try report(found, group)
    }

    private func warnOfLog(_ vault: Vault) {
        guard vault.unloggedChangeCount > 0 else { return }
        Warning.unlogged("the keys are rotated").report(asJSON: output.json)
    }

    private func rotate(_ store: SealedStore) throws(Failure) -> RotationReport {
        var options = RotationOptions()
        throttle?.apply(to: &options)
        options.passingOver = Set(passOver)
        let meter = Progress("resealing", total: nil)
        return try Failure.onStore { () throws(StoreError) in
            try store.rotate(options) { progress in
                meter.show("\(progress.done) of \(progress.total) blobs, walk \(progress.pass)")
            }
        }
    }

    private func report(_ report: RotationReport, _ group: AccessGroup) throws(Failure) {
        let view = RotationReportView(report: report)
        try StandardStreams.print(output.json ? view.json.text : view.text)
        guard !report.isCompleted else { return }
        throw Failure(
            .temporary, "rotationNotCompleted", "the rotation of \(group) is not completed",
            hint: report.needsUnlocking ? Self.unlocking : "Remove the obstacles, and run it again to continue.")
    }

    private static let unlocking =
        "Unlock the vault for its class \"when unlocked\" (sealctl vault unlock), and run it again to continue."

    /// An access group without a container has nothing to reseal: the new key is all.
    private func rotateKeys(of vault: Vault) throws(Failure) {
        if !status {
            try target.requireNoContainer(of: vault)
            let rotation = try Failure.onVault { () throws(VaultError) in try vault.rotateWithoutBlobs() }
            warnOfLog(vault)
            guard rotation.isCompleted else { throw incomplete(rotation, vault.accessGroup) }
        }
        let keys = try Failure.onVault { () throws(VaultError) in try vault.keySummaries() }.map(KeyView.init)
        if output.json { return try StandardStreams.print(JSONText.array(keys.map(\.json)).text) }
        var table = TextTable(KeyView.columns)
        for key in keys { table.add(key.cells) }
        try StandardStreams.print(table.text)
    }

    private func incomplete(_ rotation: KeyRotation, _ group: AccessGroup) -> Failure {
        rotation.needsUnlocking
            ? Failure(
                .temporary, "rotationNotCompleted",
                "the rotation of \(group) is not completed: its class \"when unlocked\" is locked",
                hint: Self.unlocking)
            : Failure(
                .temporary, "rotationNotCompleted", "another program has started a later rotation",
                hint: "Run it again when that one is completed.")
    }
}

/// The rate limit of a rotation per second: `50` blobs, or `512K`, `10M`, `1G` bytes.
struct RotationThrottle: ExpressibleByArgument, Sendable {
    private enum Limit: Sendable {
        case blobs(Double)
        case bytes(Double)
    }

    private let limit: Limit

    init?(argument: String) {
        let units: [Character: Double] = ["K": 1024, "M": 1_048_576, "G": 1_073_741_824]
        let unit = argument.last.flatMap { units[$0] }
        let digits = unit == nil ? argument[...] : argument.dropLast()
        guard !digits.isEmpty, digits.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }),
            let count = Double(digits), count > 0, count < 1e15
        else { return nil }
        limit = unit.map { .bytes(count * $0) } ?? .blobs(count)
    }

    func apply(to options: inout RotationOptions) {
        switch limit {
        case .blobs(let count): options.blobsPerSecond = count
        case .bytes(let count): options.bytesPerSecond = count
        }
    }
}
