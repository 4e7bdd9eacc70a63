internal import AppGroups
internal import ArgumentParser
internal import KeyVault

/// `sealctl vault accept`: going on with an older copy, on purpose.
struct VaultAcceptCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "accept",
        abstract: "Go on with a vault that was restored from an older copy.",
        discussion: """
            A vault that is older than what this user's programs have seen is refused, because an attacker could have \
            put it there to bring back a removed slot or key. After a deliberate restore this command writes it anew, \
            beyond everything that was seen. What had been changed since is lost.

            It also ends the warning that the notes on what this user's programs have accepted were lost or damaged.

            Example:
              sealctl vault accept --group group.com.example.app --passphrase
            """)

    @OptionGroup var target: VaultTarget
    @OptionGroup(title: "Key options") var keyOptions: KeyOptions
    @OptionGroup(title: "Global options") var output: OutputOptions

    func perform() throws(Failure) {
        let group = try target.checked()
        let home = try GroupOptions.home()
        let credential = try keyOptions.opening(group) ?? .automatic
        let vault = try Failure.onVault { () throws(VaultError) in
            try Vault.accept(group, in: home, with: credential)
        }
        let fields: [(String, JSONText)] = [
            ("accessGroup", .string(group.identifier)), ("generation", .unsigned(vault.generation)),
        ]
        try StandardStreams.print(
            output.json ? JSONText.object(fields).text : "accepted; it is now write \(vault.generation)")
    }
}
