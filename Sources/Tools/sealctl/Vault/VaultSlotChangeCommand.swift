internal import AppGroups
internal import ArgumentParser
internal import KeyVault

/// `sealctl vault slot change`: another passphrase, in one step.
struct VaultSlotChangeCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "change",
        abstract: "Change a passphrase, or put anything else in a slot's place.",
        discussion: """
            Without options the present and the new passphrase are asked for on the terminal. The change is one step: \
            killed on the way it leaves the old passphrase or the new one, and of two changes at once one is \
            refused. The slot gets a new number. ID is needed only where the vault has several passphrases. The users \
            of any other slot than the passphrase that opened the vault are locked out: the command names them and asks \
            first; --yes says yes.

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
        // Who gives the passphrase that is replaced knows of the change; every other holder is locked out by it.
        let isOwn = vault.openingSlot == old && slots.first { $0.id == old }?.kind == .passphrase
        if !isOwn, let loss = SlotLoss(of: old, among: slots) {
            try confirmation.require("replace \(loss.slot) of \(group)", loss.sentences)
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
