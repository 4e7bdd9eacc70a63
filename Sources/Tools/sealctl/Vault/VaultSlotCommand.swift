internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import KeyVault

/// `sealctl vault slot`: manages the slots of the vault.
struct VaultSlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slot",
        abstract: "List, add, remove and change the key slots of a vault.",
        discussion: """
            Any one slot opens the vault. REACH is the classes of keys that the slot gives: a key file or credential \
            gives "after first unlock", a passphrase or recipient also gives "when unlocked".

            Examples:
              sealctl vault slot list
              sealctl vault slot add --recipient sealed1...
              sealctl vault slot change
              sealctl vault slot remove 2
            """,
        subcommands: [
            VaultSlotListCommand.self, VaultSlotAddCommand.self, VaultSlotRemoveCommand.self,
            VaultSlotChangeCommand.self,
        ])
}

/// `sealctl vault slot list`.
struct VaultSlotListCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "List the key slots of a vault.",
        discussion: """
            Works on a locked vault as well. The list is then not verified, and a warning on standard error states \
            that.

            Example:
              sealctl vault slot list --group group.com.example.app
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let (slots, isVerified) = try find()
        let views = slots.map(SlotView.init)
        if !isVerified { warn() }
        if output.json { return try StandardStreams.print(JSONText.array(views.map(\.json)).text) }
        var table = TextTable(SlotView.columns)
        for view in views { table.add(view.cells) }
        try StandardStreams.print(table.text)
    }

    private func find() throws(Failure) -> (slots: [SlotSummary], isVerified: Bool) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        if keyOptions.isUnstated {
            let status = try Failure.onVault { () throws(VaultError) in try Vault.status(group, in: home) }
            if status.availability == .locked { return (status.slots, false) }
        }
        let vault = try keyOptions.openVault(of: group)
        return (try Failure.onVault { () throws(VaultError) in try vault.slots() }, true)
    }

    private func warn() {
        Warning(
            "unverified", "the vault is locked, so this list is not verified",
            hint: "State a credential of the vault to verify it."
        ).report(asJSON: output.json)
    }
}

/// `sealctl vault slot add`.
struct VaultSlotAddCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "add",
        abstract: "Add a key slot to a vault.",
        discussion: """
            Options that begin with --new- and --recipient name the new slot, the others state the credential that \
            opens the vault now. Only a person who reaches the class "when unlocked" can add a slot that reaches it. \
            The first person's slot needs --team-key if the group's team key is known.

            Examples:
              sealctl vault slot add --recipient sealed1... --passphrase
              sealctl vault slot add --new-passphrase --identity me.key
              sealctl vault slot add --new-key-file /etc/app/vault.key --passphrase
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var newSlot: AddedSlot
    @Option(help: ArgumentHelp("A name that slot list shows, at most 255 bytes.", valueName: "TEXT"))
    var label = ""
    @OptionGroup var certifying: CertifyingOptions
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        try newSlot.requireOne()
        let vault = try keyOptions.openVault(of: group)
        let slot = try newSlot.slot(for: group)
        let certifier = try certifying.open(for: group)
        let before = vault.unloggedChangeCount
        let added = try Failure.onVault { () throws(VaultError) in
            try vault.addSlot(slot, label: label, certifiedBy: certifier.team)
        }
        certifier.finish(asJSON: output.json)
        if vault.unloggedChangeCount > before { Warning.unlogged("the slot is added").report(asJSON: output.json) }
        try StandardStreams.print(output.json ? SlotView(added).json.text : "added \(SlotView(added).text)")
    }
}

/// `sealctl vault slot remove`.
struct VaultSlotRemoveCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "remove",
        abstract: "Remove a key slot of a vault.",
        discussion: """
            The command names the persons or programs that are locked out and the remaining slots, and asks first, \
            unless --yes is given. It rekeys the vault and reseals the container (see sealctl vault rekey), so that an \
            old copy of the vault and the old credential do not open anything that is written afterwards. The last \
            slot cannot be removed, and neither can the last slot of a person. Removing a person from a vault with a \
            team key needs --team-key.

            Examples:
              sealctl vault slot remove 2
              sealctl vault slot remove 2 --yes
            """)

    @OptionGroup var target: VaultTarget
    @Argument(help: ArgumentHelp("The slot's number, as slot list shows it.", valueName: "id"))
    var id: UInt32
    @Option(parsing: .singleValue, help: ArgumentHelp("Keep slot ID though no person added it.", valueName: "ID"))
    var keep: [UInt32] = []
    @OptionGroup var certifying: CertifyingOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        try Rekeying(
            target: target, keyOptions: keyOptions, certifying: certifying, confirmation: confirmation, output: output
        ).run(RekeyOptions(removing: [id], keeping: Set(keep)))
    }
}

/// `sealctl vault slot change`: replaces a passphrase in one step.
struct VaultSlotChangeCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change a passphrase, or replace a slot by another.",
        discussion: """
            Without options the command asks for the present and the new passphrase on the terminal. The change is one \
            step: if the command is killed, the old passphrase or the new one remains, and of two simultaneous changes \
            one is refused. The slot gets a new number. ID is needed only if the vault has several passphrases. \
            Replacing a slot other than the passphrase that opened the vault locks out its users: the command names \
            them and asks first, as it does if the new slot does not reach the class "when unlocked"; --yes skips the \
            question.

            Examples:
              sealctl vault slot change
              sealctl vault slot change 1 --passphrase-fd 3 --new-passphrase-fd 4
            """)

    @OptionGroup var target: VaultTarget
    @Argument(help: ArgumentHelp("The slot's number, as slot list shows it.", valueName: "id"))
    var id: UInt32?
    @OptionGroup var newSlot: AddedSlot
    @OptionGroup var certifying: CertifyingOptions
    @OptionGroup var confirmation: Confirmation
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let vault = try keyOptions.openVault(of: group, asksUnasked: true)
        let old = if let id { id } else { try onlyPassphrase(of: vault) }
        let slots = try Failure.onVault { () throws(VaultError) in try vault.slots() }
        // The user who enters the replaced passphrase knows of the change; every other holder is locked out by it.
        let replaced = slots.first { $0.id == old }
        let isOwn = vault.openingSlot == old && replaced?.kind == .passphrase
        let losesReach = replaced?.reach == .whenUnlocked && !newSlot.reachesWhenUnlocked
        if !isOwn || losesReach, let loss = SlotLoss(of: old, among: slots) {
            let lost = losesReach ? ["The new slot does not reach the class \"when unlocked\"."] : []
            try confirmation.require("replace \(loss.slot) of \(group)", loss.sentences + lost)
        }
        let slot = try newSlot.isStated ? newSlot.slot(for: group) : newSlot.promptedPassphrase(for: group)
        let certifier = try certifying.open(for: group)
        let new = try Failure.onVault { () throws(VaultError) in
            try vault.replaceSlot(id: old, with: slot, certifiedBy: certifier.team)
        }
        certifier.finish(asJSON: output.json)
        if !new.isLogged { Warning.unlogged("the slot is changed").report(asJSON: output.json) }
        if output.json {
            let fields: [(String, JSONText)] = [
                ("replaced", .unsigned(UInt64(old))), ("slot", SlotView(new.slot).json),
                ("isLogged", .bool(new.isLogged)),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        try StandardStreams.print("slot \(old) is now \(SlotView(new.slot).text)")
    }

    private func onlyPassphrase(of vault: Vault) throws(Failure) -> UInt32 {
        let slots = try Failure.onVault { () throws(VaultError) in try vault.slots() }
            .filter { $0.kind == .passphrase }
        guard let slot = slots.first, slots.count == 1 else {
            throw Failure(
                slots.isEmpty ? .notFound : .usage, slots.isEmpty ? "slotNotFound" : "ambiguousSlot",
                "cannot change a key slot of \(vault.accessGroup): it has \(slots.count) passphrases",
                hint: "Give the number of the slot: sealctl vault slot list.")
        }
        return slot.id
    }
}
