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
            file is stated: then that alone opens it. A passphrase is asked for twice. Where the vault is there and \
            only the container is missing, the container is made.

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
        let existing = ExistingVault(group, in: home)
        // Looked at before anything is asked: nobody should think of a passphrase in vain.
        if existing.isThere { return try restoreContainer(of: group, in: home, beside: existing) }
        let credential = try keyOptions.stated(for: group, isNew: true)
        // A credential that cannot be read must leave nothing behind, the container included.
        if let credential { try Self.requireUsable(credential) }
        let container = try Failure.onGroup { () throws(AppGroupError) in try GroupContainer.open(group, in: home) }
        let vault = try makeVault(of: group, in: home, with: credential, for: container)
        let keyFile = credential == nil ? existing.place.keyFilePath : keyOptions.keyFile
        try report(
            Made(
                group: group, container: container.path, vault: vault.path, keyFile: keyFile,
                key: keyFile.map { "key file   \($0.printable)" } ?? "opens with its passphrase",
                parts: ["container", "vault"]))
    }

    private static func requireUsable(_ credential: VaultCredential) throws(Failure) {
        do throws(VaultError) { try Vault.requireUsable(credential) } catch {
            let failure = Failure(error)
            guard error.code == .locked else { throw failure }
            throw Failure(
                failure.status, failure.code, failure.message,
                hint: "Make the key file first, or leave --key-file out: then the group's own is made.")
        }
    }

    private func makeVault(
        of group: AppGroup, in home: GroupsHome, with credential: VaultCredential?, for container: GroupContainer
    ) throws(Failure) -> Vault {
        do throws(VaultError) {
            return try Vault.create(
                AccessGroup(group), in: home, with: credential ?? .defaultKeyFile, for: container)
        } catch {
            throw error.code == .alreadyExists ? ExistingVault(group, in: home).duplicate : Failure(error)
        }
    }

    /// The container may have been removed by hand: its vault is what cannot be made again.
    private func restoreContainer(
        of group: AppGroup, in home: GroupsHome, beside vault: ExistingVault
    ) throws(Failure) {
        try vault.requireSound()
        do throws(AppGroupError) {
            _ = try GroupContainer.open(group, in: home, creating: false)
        } catch {
            guard error.code == .containerMissing else { throw Failure(error) }
            let container = try Failure.onGroup { () throws(AppGroupError) in try GroupContainer.open(group, in: home) }
            let keyFile = access(vault.place.keyFilePath, F_OK) == 0 ? vault.place.keyFilePath : nil
            return try report(
                Made(
                    group: group, container: container.path, vault: vault.place.path, keyFile: keyFile,
                    key: "the vault was there already; the container was made", parts: ["container"]))
        }
        throw vault.duplicate
    }

    private struct Made {
        let group: AppGroup
        let container: String
        let vault: String
        let keyFile: String?
        /// What people read about the key.
        let key: String
        /// What was not there before.
        let parts: [String]
    }

    private func report(_ made: Made) throws(Failure) {
        if output.json {
            let fields: [(String, JSONText)] = [
                ("group", .string(made.group.identifier)), ("container", .string(made.container)),
                ("vault", .string(made.vault)), ("keyFile", .optional(made.keyFile)),
                ("made", .array(made.parts.map { .string($0) })),
            ]
            return try StandardStreams.print(JSONText.object(fields).text)
        }
        try StandardStreams.print(
            "container  \(made.container.printable)\nvault      \(made.vault.printable)\n\(made.key)")
    }
}

/// The vault that `init` finds in the way.
private struct ExistingVault {
    private let group: AppGroup
    private let home: GroupsHome
    let place: VaultPlace

    init(_ group: AppGroup, in home: GroupsHome) {
        self.group = group
        self.home = home
        place = VaultPlace(AccessGroup(group), in: home)
    }

    /// Whether anything has its name, also a link to nothing.
    var isThere: Bool {
        var status = stat()
        return lstat(place.path, &status) == 0
    }

    /// Refuses one that is damaged or unsafe, as far as that shows without asking for a passphrase.
    func requireSound() throws(Failure) {
        do throws(VaultError) {
            _ = try Vault.open(AccessGroup(group), in: home)
        } catch {
            // These are about the key file: the vault itself may open with something else.
            let isAboutKey = [.locked, .wrongKeyFile, .malformedKeyFile].contains(error.code)
            guard isAboutKey || error.subject == place.keyFilePath else { throw Failure(error) }
        }
    }

    var duplicate: Failure {
        Failure(
            .duplicate, "alreadyExists", "cannot make the vault of \(group): there is one already at \(place.path)",
            hint: "See whether it opens: sealctl list --group \(group)")
    }
}
