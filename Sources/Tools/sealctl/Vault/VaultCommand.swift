internal import AppGroups
internal import ArgumentParser
internal import AuditReports
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// `sealctl vault`: the keychain of an access group.
struct VaultCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "The vault of a group: its slots, its keys and its items.",
        discussion: HelpText.vault,
        subcommands: subcommands)

    /// Every command below `vault`, in the order of the help.
    static let subcommands: [any ParsableCommand.Type] = [
        VaultCreateCommand.self, VaultStatusCommand.self, VaultUnlockCommand.self, VaultLockCommand.self,
        VaultAddCommand.self, VaultFindCommand.self, VaultItemsCommand.self, VaultUpdateCommand.self,
        VaultDeleteCommand.self, VaultSlotCommand.self, VaultRekeyCommand.self, VaultCertifyCommand.self,
        VaultIdentityCommand.self, VaultKeysCommand.self,
        VaultRotateCommand.self, VaultDestroyKeyCommand.self, VaultExportCommand.self, VaultImportCommand.self,
        VaultLogCommand.self, VaultAcceptCommand.self,
    ]
}

/// `sealctl vault create`: creates a vault with its first key, for any access group.
struct VaultCreateCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Create a vault with its first key.",
        discussion: """
            Each option for a passphrase, key file, identity, recipient or credential adds a key slot; without one the \
            command creates the group's own key file. Key files and credentials are for unattended programs and never \
            reach the class "when unlocked". sealctl init creates the group's container as well. An existing vault is \
            not replaced. With --team-key the team key certifies the persons of the new vault; if the group's team key \
            is known, the option is required.

            Examples:
              sealctl vault create --group group.com.example.app
              sealctl vault create --access-group ABCDE12345.com.example.app
              sealctl vault create --passphrase --unlock-time 2s
              sealctl vault create --identity me.key --recipient sealed1...
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup var newSlots: CreationSlots
    @OptionGroup var certifying: CertifyingOptions
    @OptionGroup var share: ShareOption
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        let sharing = try share.sharing()
        // The check precedes the question, so that a person does not choose a passphrase that is refused later.
        if VaultPlace(group, in: home).isTaken { throw Self.duplicate(group, home) }
        let plan = try newSlots.plan(for: group)
        let certifier = try certifying.open(for: group)
        let vault: Vault
        let slots: [SlotSummary]
        do throws(VaultError) {
            vault = try Vault.create(
                group, in: home, slots: plan.slots, sharing: sharing, openingWith: plan.credential,
                certifiedBy: certifier.team)
            slots = try vault.slots()
        } catch {
            throw error.code == .alreadyExists ? Self.duplicate(group, home) : Failure(error)
        }
        certifier.finish(asJSON: output.json)
        try report(vault, slots.map(SlotView.init))
    }

    private func report(_ vault: Vault, _ slots: [SlotView]) throws(Failure) {
        if output.json {
            let fields: [(String, JSONText)] = [
                ("accessGroup", .string(vault.accessGroup.identifier)), ("vault", .string(vault.path)),
                ("slots", .array(slots.map(\.json))),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        var fields = FieldList([("vault", vault.path)])
        for slot in slots { fields.add("opens with", slot.text) }
        try StandardStreams.print(fields.text)
    }

    private static func duplicate(_ group: AccessGroup, _ home: GroupsHome) -> Failure {
        Failure(
            .duplicate, "alreadyExists",
            "cannot create the vault of \(group): it exists already at \(VaultPlace(group, in: home).path)",
            hint: "See its state: sealctl vault status \(VaultTarget.option(for: group)).")
    }
}
