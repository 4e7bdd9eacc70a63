internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// `sealctl vault status`: shows a vault without opening it.
struct VaultStatusCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "status",
        abstract: "Report whether a vault can be opened, and its key slots.",
        discussion: """
            Needs no credential, asks for nothing and changes nothing, not even the access log. The exit status \
            depends on the answer: 0 ready, 36 locked, 44 absent or missing, 65 damaged, replaced, forked or \
            rolledBack, 77 denied. If the vault is not ready, its slots are shown unverified.

            Examples:
              sealctl vault status
              sealctl vault status --json | jq -r .availability
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        let status = try Failure.onVault { () throws(VaultError) in try Vault.status(group, in: home) }
        let (inventory, availability) = try look(into: group, in: home, status)
        let unprotected = UnprotectedKeyFile.all(stated: StatedKeyFiles.ofSettings, in: home)
            .filter { $0.reachesWhenUnlocked(status.slots) == true }
        let view = StatusView(
            group: group, path: VaultPlace(group, in: home).path, status: status,
            availability: availability, inventory: inventory,
            unprotectedIdentities: unprotected.map(\.path))
        try StandardStreams.print(output.json ? view.json.text : view.text)
        let end = view.exitStatus
        // The failure is silent, because the result already shows it.
        if end != .success {
            throw Failure(end, availability.rawValue, "the vault is not ready", hint: "", isSilent: true)
        }
    }

    /// The contents of a vault that is ready, and whether it is: a write that is older than one which was seen shows only
    /// where the vault is opened.
    private func look(
        into group: AccessGroup, in home: GroupsHome, _ status: VaultStatus
    ) throws(Failure) -> (VaultInventory?, VaultAvailability) {
        guard status.availability == .ready else { return (nil, status.availability) }
        do throws(VaultError) { return (try Vault.inventory(group, in: home), .ready) } catch {
            guard error.code == .rolledBack else { throw Failure(error) }
            return (nil, .rolledBack)
        }
    }
}

/// A vault's status for people and programs.
private struct StatusView {
    let group: AccessGroup
    let path: String
    let status: VaultStatus
    let availability: VaultAvailability
    let inventory: VaultInventory?
    /// The files of identities without a passphrase that open data protected when unlocked.
    let unprotectedIdentities: [String]
    private var unlocking: UnlockView { UnlockView(status, isServiceOpen: availability != .rolledBack) }

    var exitStatus: ExitStatus {
        switch availability {
        case .ready: .success
        case .locked: .locked
        case .denied: .noPermission
        case .absent, .missing: .notFound
        case .damaged, .replaced, .forked, .rolledBack: .dataError
        }
    }

    var text: String {
        var fields = FieldList([("vault", path), ("availability", availability.rawValue)])
        if availability == .ready || availability == .locked {
            fields.add("after first unlock", afterFirstUnlock)
            fields.add("when unlocked", whenUnlocked)
            fields.add("unlocked keys", status.unlockPlace.map { "kept in \($0)" } ?? "no cache is available")
        }
        for slot in status.slots { fields.add("opens with", SlotView(slot).text) }
        for file in unprotectedIdentities {
            fields.add("unprotected", "\(file.printable) has no passphrase and reaches what is available when unlocked")
        }
        if let fingerprint = status.fingerprint { fields.add("fingerprint", fingerprint) }
        if let period = status.period { fields.add("period", String(period)) }
        if status.isRekeyPending {
            fields.add("rekey", "started and not completed: the next person who opens the vault continues it")
        }
        if let generation = status.generation {
            fields.add("written", generation == 1 ? "once" : "\(generation) times")
        }
        if let inventory {
            fields.add("keys", keys(inventory))
            fields.add("items", String(inventory.itemCount))
        }
        return fields.text
    }

    /// The state of this class. A key file opens it even if the user's unlock state is locked.
    private var afterFirstUnlock: String {
        if status.afterFirstUnlock.isUnlocked { return unlocking.words(status.afterFirstUnlock) }
        return availability == .ready ? "open (by a slot of unattended programs)" : "locked"
    }

    private var whenUnlocked: String {
        status.hasPersons ? unlocking.words(status.whenUnlocked) : "no person's slot reaches it"
    }

    private func keys(_ inventory: VaultInventory) -> String {
        let active = inventory.keys.filter { $0.state == .active }.map {
            "epoch \($0.epoch) active" + ($0.protection == .whenUnlocked ? " (when unlocked)" : "")
        }
        let older = inventory.keys.filter { $0.state == .decryptOnly }.count
        let destroyed = inventory.keys.filter { $0.state == .destroyed }.count
        let rest = [(older, "decrypt-only"), (destroyed, "destroyed")].filter { $0.0 > 0 }.map { "\($0.0) \($0.1)" }
        return (active + rest).joined(separator: ", ")
    }

    var json: JSONText {
        let head: [(String, JSONText)] = [
            ("accessGroup", .string(group.identifier)), ("vault", .string(path)),
            ("availability", .string(availability.rawValue)),
        ]
        return .object(head + unlocking.fields + details)
    }

    private var details: [(String, JSONText)] {
        [
            ("hasPersons", .bool(status.hasPersons)), ("hasUnattendedSlots", .bool(status.hasUnattendedSlots)),
            ("fingerprint", .optional(status.fingerprint)),
            ("period", status.period.map { .unsigned(UInt64($0)) } ?? .null),
            ("isRekeyPending", .bool(status.isRekeyPending)),
            ("unlockPlace", .optional(status.unlockPlace?.rawValue)),
            ("slots", .array(status.slots.map { SlotView($0).json })),
            ("unprotectedIdentities", .array(unprotectedIdentities.map { .string($0) })),
            ("generation", status.generation.map { .unsigned($0) } ?? .null),
            ("keys", inventory.map { .array($0.keys.map { KeyView($0).json }) } ?? .null),
            ("items", inventory.map { .number($0.itemCount) } ?? .null),
        ]
    }
}
