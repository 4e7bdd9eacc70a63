internal import ArgumentParser

/// `sealctl vault`: the keychain of an access group.
struct VaultCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "vault",
        abstract: "The vault of a group: what opens it, its keys and its items.",
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
