internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault
internal import SealedState

/// `sealctl vault rekey`: replaces the root keys, so that removed members lose access.
struct VaultRekeyCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "rekey",
        abstract: "Replace the vault's root keys, so that former members lose access.",
        discussion: """
            Begins a new period with new roots: every remaining slot is resealed to its holder's public key, all keys \
            are wrapped again, and every sealed blob of the container is resealed. The command lists the remaining \
            slots with their fingerprints and asks for a confirmation. In a vault with persons it refuses slots that \
            no person added, unless --keep names them. Removing a person, and --persons, create a new person key, \
            which needs --team-key in a vault with a team key.

            The exit status is 75 while blobs of earlier epochs remain. The removed members then cannot read what is \
            written from now on, but can plant old blobs until the rotation is completed. sealctl vault rotate \
            continues it. Remove a removed user's unix access to the directories first.

            A program can fill its part of the vault with keys. A rekey then keeps the keys that blobs use and the \
            newest ones, and names the others. In a vault with persons a file vault that other users can write or read \
            is replaced by one of the right mode.

            If the file vault itself cannot be opened, --without-vault abandons it: all keys and items that need no \
            person are lost unless a backup has them. If only its index of items is damaged, the keys remain. If \
            persons can open an older file that was put back, only the changes made after it are lost. The damaged \
            file is set aside, and programs get the new one. Import the backup (sealctl vault import), then run \
            sealctl vault rotate. Programs without state of their own accept the new vault once (notAccepted, see \
            sealctl vault accept).

            The question states the additional bytes that the rekey and the resealing need.

            Examples:
              sealctl vault rekey --remove-slot 3 --passphrase
              sealctl vault rekey --keep 1 --passphrase --yes
            """)

    @OptionGroup var target: VaultTarget
    @Option(
        name: .customLong("remove-slot"), parsing: .singleValue,
        help: ArgumentHelp("Remove slot ID. May be repeated.", valueName: "ID"))
    var removing: [UInt32] = []
    @Option(parsing: .singleValue, help: ArgumentHelp("Keep slot ID though no person added it.", valueName: "ID"))
    var keep: [UInt32] = []
    @Flag(help: "Renew the root of persons even if none is removed.")
    var persons = false
    @OptionGroup var certifying: CertifyingOptions
    @Flag(help: "Abandon what the file vault has lost: keys and items that need no person.")
    var withoutVault = false
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        var options = RekeyOptions(removing: Set(removing), keeping: Set(keep), renewsPersons: persons)
        options.rebuildsServices = withoutVault
        try Rekeying(
            target: target, keyOptions: keyOptions, certifying: certifying, confirmation: confirmation, output: output
        ).run(options)
    }
}

/// A rekey and the rotation after it, for commands that require both.
struct Rekeying {
    let target: VaultTarget
    let keyOptions: KeyOptions
    let certifying: CertifyingOptions
    let confirmation: Confirmation
    let output: OutputOptions

    func run(_ stated: RekeyOptions) throws(Failure) {
        let group = try target.checked()
        let store = try target.openStore(with: keyOptions)
        let vault: Vault
        if let store { vault = store.vault } else { vault = try keyOptions.openVault(of: group) }
        let slots = try Failure.onVault { () throws(VaultError) in try vault.slots() }
        // The command was interrupted and runs again: its rekey has removed the slots, but is incomplete or was not
        // followed by its rotation.
        let isPending = vault.rekeyFailure != nil
        let isRotating = try isRotating(vault)
        var options = stated
        if isPending || isRotating {
            options.removing = options.removing.filter { id in
                slots.contains { $0.id == id } || !vault.hasGiven(slot: id)
            }
        }
        if store == nil { try target.requireNoContainer(of: vault) }
        let asksForMore = stated.renewsPersons || stated.rebuildsServices
        // A completed rotation refuses what a backup's keys open, so the question names those blobs. Of a container
        // that cannot be searched the rotation says why.
        let unheld = (try? UnknownKeyBlobs(in: store)) ?? UnknownKeyBlobs()
        if !isPending, !asksForMore, options.removing.isEmpty, !stated.removing.isEmpty {
            return try goOn(stated, store, vault, unheld)
        }
        let certifier = try certifying.open(for: group)
        let state = RekeyedState(
            vault: vault, store: store, slots: slots, needed: try NeededBytes(vault, store), unheld: unheld)
        let report = try rekey(options, state, certifier)
        try finish(report, state)
    }

    /// Asks, and rekeys what was confirmed.
    private func rekey(
        _ stated: RekeyOptions, _ state: RekeyedState, _ certifier: Certifying
    ) throws(Failure) -> RekeyReport {
        var options = stated
        if options.rebuildsServices {
            options.confirmedLosses = try Failure.onVault { () throws(VaultError) in
                try state.vault.lossesOfGivingUp()
            }
        }
        try confirm(options, state)
        options.confirmed = Set(state.slots.map(\.id))
        let report = try Failure.onVault { () throws(VaultError) in
            try state.vault.rekey(options, certifiedBy: certifier.team)
        }
        certifier.finish(asJSON: output.json)
        return report
    }

    /// Warns of the losses of the rekey, rotates unless that needs a backup first, and prints the report.
    private func finish(_ report: RekeyReport, _ state: RekeyedState) throws(Failure) {
        let losses = RekeyLossesView(report.losses, fingerprint: state.vault.fingerprint)
        losses.warn(asJSON: output.json)
        if !report.isLogged {
            Warning.unlogged("the vault is rekeyed", isKeyLost: report.losses.isCompartmentLost)
                .report(asJSON: output.json)
        }
        warnOfWriters(report)
        let needsBackup = report.losses.isCompartmentLost || report.losses.isCompartmentOlder
        let (isCompleted, hint) =
            needsBackup
            ? (false, (try? UnknownKeyBlobs(in: state.store)).flatMap { $0.isEmpty ? nil : $0.hint } ?? losses.advice)
            : rotation(of: state.store, state.vault)
        try print(report, losses, state.needed, isCompleted: isCompleted)
        guard isCompleted else {
            throw incomplete(
                "\(report.removed.isEmpty ? "rekey of" : "removal from") \(state.vault.accessGroup)", hint)
        }
    }

    private func isRotating(_ vault: Vault) throws(Failure) -> Bool {
        for protection in ProtectionClass.allCases {
            let state = try Failure.onVault { () throws(VaultError) in try vault.rotationState(of: protection) }
            if state.isResealing { return true }
        }
        return false
    }

    /// Goes on with the rotation of a rekey that removed the slots before.
    ///
    /// - Parameter unheld: The blobs whose key a backup may hold: the rotation waits unless the user gives them up. A
    ///   member can plant such blobs, so without that answer the removed member could keep the removal from completing.
    private func goOn(
        _ stated: RekeyOptions, _ store: SealedStore?, _ vault: Vault, _ unheld: UnknownKeyBlobs
    ) throws(Failure) {
        let slots = stated.removing.sorted().map { "slot \($0)" }.joined(separator: ", ")
        let needed = try NeededBytes(vault, store)
        let report = try Failure.onVault { () throws(VaultError) in try vault.reportAfterRekey() }
        let mayRotate =
            unheld.isEmpty
            ? true : try confirmation.isGiven(to: "complete the rotation of \(vault.accessGroup)", unheld.sentences)
        let (isCompleted, hint) = mayRotate ? rotation(of: store, vault) : (false, unheld.hint)
        if output.json {
            try print(report, RekeyLossesView(report.losses, fingerprint: nil), needed, isCompleted: isCompleted)
        } else {
            try StandardStreams.print(
                "\(slots) was removed before; the rotation is \(isCompleted ? "completed" : "not completed")")
        }
        if !isCompleted { throw incomplete("removal from \(vault.accessGroup)", hint) }
    }

    private func incomplete(_ what: String, _ hint: String) -> Failure {
        Failure(
            .temporary, "rotationNotCompleted", "the \(what) is not complete: blobs of earlier epochs remain",
            hint: hint.contains("sealctl vault rotate")
                ? hint : (hint.isEmpty ? "" : hint + " ") + "Run: sealctl vault rotate.")
    }

    /// Warns of removed users who open nothing but can still write.
    private func warnOfWriters(_ report: RekeyReport) {
        guard !report.removed.isEmpty else { return }
        for directory in report.writableDirectories {
            let name = directory.groupName ?? String(directory.groupID)
            let members = directory.members.isEmpty ? "" : " (\(directory.members.joined(separator: ", ")))"
            Warning(
                "writable", "\(directory.path) can be written by the members of the unix group \(name)\(members)",
                hint: "A removed user among them can plant records of an old epoch until the rotation is completed. "
                    + "Remove the access: gpasswd -d USER \(name)."
            ).report(asJSON: output.json)
        }
    }

    /// Rotates after a completed rekey. If the rotation fails for any reason, the removal is incomplete but not undone.
    private func rotation(of store: SealedStore?, _ vault: Vault) -> (isCompleted: Bool, hint: String) {
        let before = vault.unloggedChangeCount
        defer {
            if vault.unloggedChangeCount > before {
                Warning.unlogged("blobs of earlier epochs were rotated").report(asJSON: output.json)
            }
        }
        do throws(Failure) {
            guard let store else {
                let report = try Failure.onVault { () throws(VaultError) in try vault.rotateWithoutBlobs() }
                return (report.isCompleted, report.needsUnlocking ? "Unlock the vault: sealctl vault unlock." : "")
            }
            let report = try Failure.onStore { () throws(StoreError) in try store.rotate() }
            let left = report.left.prefix(3).map { "\($0.path): \($0.reason)" }.joined(separator: " ")
            if report.isCompleted, !left.isEmpty {
                let count = report.left.count == 1 ? "1 blob remains" : "\(report.left.count) blobs remain"
                Warning("left", "\(count) unchanged, and no reader accepts it", hint: left).report(asJSON: output.json)
            }
            return (report.isCompleted, left)
        } catch {
            return (false, "\(error.message).")
        }
    }

    private func confirm(_ options: RekeyOptions, _ state: RekeyedState) throws(Failure) {
        let (vault, slots) = (state.vault, state.slots)
        var sentences: [String] = []
        for id in options.removing.sorted() {
            guard let loss = SlotLoss(of: id, among: slots) else {
                throw Failure(
                    .notFound, "slotNotFound",
                    "cannot remove slot \(id) of \(vault.accessGroup): the slot does not exist",
                    hint: "See the slots: sealctl vault slot list.")
            }
            sentences += loss.sentences
        }
        if !options.removing.isEmpty { sentences += SlotLoss.remainingAccess(to: vault, state.store) }
        let kept = slots.filter { !options.removing.contains($0.id) }.map(SlotView.init)
        guard !kept.isEmpty else {
            throw Failure(
                .unavailable, "lastSlot", "cannot remove the last key slot of \(vault.accessGroup)",
                hint: "Add another first: sealctl vault slot add.")
        }
        if let losses = options.confirmedLosses {
            let lost = RekeyLossesView(losses, fingerprint: nil).parts.joined(separator: "; ")
            sentences.append(
                "\(vault.accessGroup) loses \(lost), unless a backup has them"
                    + "\(losses.isCompartmentLost ? "." : "; the keys \(losses.isCompartmentOlder ? "of the older file " : "")stay.")"
            )
        }
        sentences += state.unheld.sentences
        sentences.append("These slots remain: \(kept.map(\.identification).joined(separator: "; ")).")
        sentences.append(state.needed.sentence)
        let what = options.removing.sorted().map { "slot \($0)" }.joined(separator: ", ")
        try confirmation.require(
            what.isEmpty ? "replace the root keys of \(vault.accessGroup)" : "remove \(what) of \(vault.accessGroup)",
            sentences)
    }

    private func print(
        _ report: RekeyReport, _ losses: RekeyLossesView, _ needed: NeededBytes, isCompleted: Bool
    ) throws(Failure) {
        guard !output.json else {
            return try StandardStreams.print(
                JSONText.object([
                    ("period", .unsigned(UInt64(report.period))), ("isCompleted", .bool(isCompleted)),
                    ("removed", .array(report.removed.map { SlotView($0).json })),
                    ("kept", .array(report.kept.map { SlotView($0).json })),
                    ("lost", losses.json), ("isLogged", .bool(report.isLogged)), ("neededBytes", needed.json),
                    ("writable", .array(report.writableDirectories.map(Self.json))),
                ]).text)
        }
        for slot in report.removed {
            try StandardStreams.print("\(isCompleted ? "removed" : "removing") slot \(slot.id) (\(slot.kind))")
        }
        try StandardStreams.print("period \(report.period), \(report.kept.count) slots")
    }

    private static func json(_ directory: WritableDirectory) -> JSONText {
        .object([
            ("path", .string(directory.path)), ("group", .optional(directory.groupName)),
            ("groupID", .unsigned(UInt64(directory.groupID))),
            ("members", .array(directory.members.map { .string($0) })),
        ])
    }
}

/// The vault that is rekeyed, its store, and the facts that the question and the report state.
private struct RekeyedState {
    let vault: Vault
    /// `nil` without a container.
    let store: SealedStore?
    let slots: [SlotSummary]
    let needed: NeededBytes
    /// The blobs whose key a backup may hold.
    let unheld: UnknownKeyBlobs
}

/// The bytes that a rekey and the rotation after it take beside those that are there, at the most.
private struct NeededBytes {
    private let vault: Int64
    /// The bytes in the container; `nil` without a container, or if it cannot be searched, which the rotation reports.
    private let container: Int64?

    init(_ vault: Vault, _ store: SealedStore?) throws(Failure) {
        self.vault = try Failure.onVault { () throws(VaultError) in try vault.rekeySize() }
        container = store.flatMap { try? $0.rotationSize() }
    }

    var sentence: String {
        let rotation = container.map { ", and resealing up to \($0) bytes in the container" } ?? ""
        return "It needs up to \(vault) free bytes in the vault's directory\(rotation)."
    }

    var json: JSONText {
        .object([
            ("vault", .unsigned(UInt64(clamping: vault))),
            ("container", container.map { .unsigned(UInt64(clamping: $0)) } ?? .null),
        ])
    }
}

/// The losses of a rekey, for people and programs.
private struct RekeyLossesView {
    private let losses: RekeyLosses
    /// The vault's fingerprint; `nil` if its register is missing.
    private let fingerprint: String?

    init(_ losses: RekeyLosses, fingerprint: String?) {
        self.losses = losses
        self.fingerprint = fingerprint
    }

    /// The advice after the loss of a service compartment.
    var advice: String { "Import a backup if there is one: sealctl vault import." }

    func warn(asJSON: Bool) {
        if !parts.isEmpty {
            let aside = losses.setAside.first.map { " The abandoned file is now \($0.to)." } ?? ""
            Warning("lost", "the rekey omitted \(parts.joined(separator: "; "))", hint: advice + aside)
                .report(asJSON: asJSON)
        }
        guard !losses.rebuiltSlots.isEmpty else { return }
        let slots = losses.rebuiltSlots.map { "slot \($0)" }.joined(separator: ", ")
        Warning(
            "rebuiltSlots",
            "\(slots) may not prove to its holder any more that the vault is the accepted one",
            hint:
                "A user of it without a memory of the vault may get notAccepted. Accept it there once, opened with "
                + "that slot: sealctl vault accept\(fingerprint.map { " --fingerprint \($0)" } ?? "")."
        ).report(asJSON: asJSON)
    }

    /// The losses, as parts of a sentence.
    var parts: [String] {
        var parts: [String] = []
        if losses.isCompartmentOlder {
            let count = losses.lostWriteCount == 0 ? "" : "at least the \(losses.lostWriteCount) last "
            parts.append(
                "\(count)changes to keys and items that need no person, made since the older file was written, with the "
                    + "records that were sealed under keys made since")
        }
        if losses.isCompartmentLost {
            parts.append("all keys and items that need no person, with the records that were sealed under those keys")
        }
        if losses.isItemIndexLost { parts.append("all items that need no person") }
        if !losses.keys.isEmpty {
            let named = losses.keys.prefix(5).map { "\($0.id) of epoch \($0.epoch)" }.joined(separator: ", ")
            let more = losses.keys.count > 5 ? " and \(losses.keys.count - 5) more" : ""
            parts.append("the sealing keys \(named)\(more)")
        }
        if losses.tokenKeyCount > 0 { parts.append("\(losses.tokenKeyCount) token keys") }
        return parts
    }

    var json: JSONText {
        .object([
            (
                "keys",
                .array(
                    losses.keys.map { .object([("id", .string($0.id)), ("epoch", .unsigned(UInt64($0.epoch)))]) })
            ),
            ("tokenKeys", .number(losses.tokenKeyCount)), ("items", .bool(losses.isItemIndexLost)),
            ("compartment", .bool(losses.isCompartmentLost)), ("older", .bool(losses.isCompartmentOlder)),
            ("rebuiltSlots", .array(losses.rebuiltSlots.map { .unsigned(UInt64($0)) })),
            (
                "setAside",
                .array(losses.setAside.map { .object([("from", .string($0.from)), ("to", .string($0.to))]) })
            ),
        ])
    }
}
