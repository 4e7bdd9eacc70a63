internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import SealedState

/// What opens the vault. A passphrase is never an argument: arguments are public to everybody on the machine.
struct KeyOptions: ParsableArguments {
    @Flag(help: "Ask for the vault's passphrase on the terminal.")
    var passphrase = false

    @Option(
        help: ArgumentHelp("Read the passphrase from the first line of FILE; - is standard input.", valueName: "FILE"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp("Open the vault with this key file instead of the group's own.", valueName: "FILE"),
        completion: .file())
    var keyFile: String?

    func validate() throws {
        let stated = (passphrase ? 1 : 0) + (passphraseFile == nil ? 0 : 1) + (keyFile == nil ? 0 : 1)
        guard stated < 2 else {
            throw ValidationError("Give one of --passphrase, --passphrase-file and --key-file.")
        }
    }

    /// The credential that was stated; nil stands for the group's own key file.
    ///
    /// - Parameter isNew: Whether the passphrase is being chosen, which asks for it twice.
    func stated(for group: AppGroup, isNew: Bool = false) throws(Failure) -> VaultCredential? {
        if let keyFile { return .keyFile(path: keyFile) }
        if let passphraseFile {
            let path = passphraseFile == "-" ? "/dev/stdin" : passphraseFile
            return .passphrase(try Failure.onVault { () throws(VaultError) in try Passphrase(contentsOf: path) })
        }
        guard passphrase else { return nil }
        return .passphrase(try PassphrasePrompt(group: group).ask(twice: isNew))
    }

    /// Opens the store of a group that has one; nothing is made.
    func openStore(of group: AppGroup) throws(Failure) -> SealedStore {
        let credential = try stated(for: group) ?? .defaultKeyFile
        do throws(StoreError) {
            return try SealedStore(group: group, unlockingWith: credential, creating: false)
        } catch {
            throw try LostVault.failure(of: group, for: error.cause as? VaultError) ?? Failure(error)
        }
    }

    /// Opens the vault of a group that has one; nothing is made.
    func openVault(of group: AppGroup) throws(Failure) -> Vault {
        let credential = try stated(for: group) ?? .defaultKeyFile
        let home = try GroupOptions.home()
        do throws(VaultError) { return try Vault.open(AccessGroup(group), in: home, with: credential) } catch {
            throw try LostVault.failure(of: group, for: error) ?? Failure(error)
        }
    }
}
