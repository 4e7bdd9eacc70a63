internal import AppGroups
internal import ArgumentParser
internal import Glibc
internal import KeyVault
internal import SharedFiles

/// `sealctl init`: container, vault and first key of a group.
struct InitCommand: SealctlCommand {
    static let configuration = CommandConfiguration(
        commandName: "init",
        abstract: "Make a group's container, its vault and its first key.",
        discussion: """
            The vault opens with the group's own key file, which is made as well, unless a passphrase or another key \
            file is stated: then that alone opens it. A passphrase is asked for twice.

            Examples:
              sealctl init --group group.com.example.app
              sealctl init --group group.com.example.app --passphrase
            """)

    @OptionGroup var groupOptions: GroupOptions
    @OptionGroup var keyOptions: KeyOptions
    @OptionGroup var output: OutputOptions

    func perform() throws(Failure) {
        let group = try groupOptions.appGroup()
        let home = try GroupOptions.home()
        let place = VaultPlace(AccessGroup(group), in: home)
        // Looked at before anything is asked: nobody should think of a passphrase in vain.
        if access(place.path, F_OK) == 0 { throw Self.duplicate(group, place.path) }
        let credential = try keyOptions.stated(for: group, isNew: true)
        let container = try Failure.onGroup { () throws(AppGroupError) in try GroupContainer.open(group, in: home) }
        let vault = try makeVault(of: group, in: home, with: credential, for: container)
        try report(group, container, vault, keyFile: credential == nil ? place.keyFilePath : keyOptions.keyFile)
    }

    private func makeVault(
        of group: AppGroup, in home: GroupsHome, with credential: VaultCredential?, for container: GroupContainer
    ) throws(Failure) -> Vault {
        do throws(VaultError) {
            return try Vault.create(
                AccessGroup(group), in: home, with: credential ?? .defaultKeyFile, for: container)
        } catch {
            throw error.code == .alreadyExists ? Self.duplicate(group, error.subject) : Failure(error)
        }
    }

    private func report(
        _ group: AppGroup, _ container: GroupContainer, _ vault: Vault, keyFile: String?
    ) throws(Failure) {
        if output.json {
            let fields: [(String, JSONText)] = [
                ("group", .string(group.identifier)), ("container", .string(container.path)),
                ("vault", .string(vault.path)), ("keyFile", .optional(keyFile)),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        let key = keyFile.map { "key file   \($0.printable)" } ?? "opens with its passphrase"
        try StandardStreams.print(
            "container  \(container.path.printable)\nvault      \(vault.path.printable)\n\(key)")
    }

    private static func duplicate(_ group: AppGroup, _ path: String) -> Failure {
        Failure(
            .duplicate, "alreadyExists", "cannot make the vault of \(group): there is one already at \(path)",
            hint: "Use it as it is: sealctl list --group \(group)")
    }
}
