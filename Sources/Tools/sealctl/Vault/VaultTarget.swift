internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import SealedState

/// The access group whose vault a command works on. Every app group is one, too, and the identifiers look alike:
/// `--group` says that a container belongs to it.
struct VaultTarget: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "The app group, such as group.com.example.app; $SEALCTL_GROUP unless stated.", valueName: "G"),
        completion: .custom { _, _, _ in RecordNames.groups() })
    var group: String?

    @Option(
        help: ArgumentHelp(
            "An access group that need not have a container, such as ABCDE12345.com.example.app.", valueName: "A"))
    var accessGroup: String?

    func validate() throws {
        guard group == nil || accessGroup == nil else {
            throw ValidationError("Give one of --group and --access-group.")
        }
    }

    /// The checked access group. Settings may name any.
    func checked() throws(Failure) -> AccessGroup {
        if let group {
            return AccessGroup(try Failure.onGroup { () throws(AppGroupError) in try AppGroup(group) })
        }
        guard let identifier = accessGroup ?? GroupOptions.fromSettings else {
            throw Failure(
                .usage, "noGroup", "no access group was named",
                hint: "Try --group G or --access-group A, or set \(GroupOptions.variable).")
        }
        return try Failure.onGroup { () throws(AppGroupError) in try AccessGroup(identifier) }
    }

    /// What a person types to name this group once more.
    static func option(for group: AccessGroup) -> String { "--access-group \(group)" }

    /// The store of the group, opened; nil only where `--access-group` names one that has no container.
    ///
    /// With `--group` a missing container is an error: it may be away for now, with everything that is sealed in it.
    func openStore(with keyOptions: KeyOptions) throws(Failure) -> SealedStore? {
        let group = try checked()
        let home = try GroupOptions.home()
        let appGroup = try Failure.onGroup { () throws(AppGroupError) in try AppGroup(group.identifier) }
        if accessGroup != nil {
            do throws(AppGroupError) { _ = try GroupContainer.open(appGroup, in: home, creating: false) } catch {
                if error.code == .containerMissing { return nil }
                throw Failure(error)
            }
        }
        return try keyOptions.openStore(of: appGroup)
    }

    /// Refuses what would end keys while the container is away: what is sealed in it would not be asked, nor resealed.
    func requireNoContainer(of vault: Vault) throws(Failure) {
        guard vault.hasSeenRecords else { return }
        throw Failure(
            .notFound, "containerMissing",
            "the container of \(vault.accessGroup) is away, and its records were seen before",
            hint: "Bring it back first: mount its disk, or restore it.")
    }

    /// Refuses what would destroy keys while a container that was given up may still be restored.
    func requireEmptyTrash(of vault: Vault) throws(Failure) {
        let home = try GroupOptions.home()
        let items = try Failure.onGroup { () throws(AppGroupError) in try ContainerTrash(home: home).items() }
        guard items.contains(where: { $0.group.identifier == vault.accessGroup.identifier }) else { return }
        throw Failure(
            .unavailable, "keyInUse", "a container of \(vault.accessGroup) lies in the trash, and may need its keys",
            hint: "Restore it, or delete it for good: sealctl container trash list.")
    }
}

extension KeyOptions {
    /// Opens a vault that exists; nothing is made.
    ///
    /// - Parameter asksUnasked: Whether a person is asked for the passphrase where nothing was stated and the vault has a
    ///   slot for one: for what only a person may do.
    func openVault(of group: AccessGroup, asksUnasked: Bool = false) throws(Failure) -> Vault {
        let home = try GroupOptions.home()
        var credential = try opening(group, isPersonal: asksUnasked)
        if credential == nil, asksUnasked { credential = try personal(for: group, in: home) }
        do throws(VaultError) {
            let vault = try Vault.open(group, in: home, with: credential ?? .automatic)
            OpeningTalk.tell(of: vault)
            WatermarkWarning.report(on: vault)
            return vault
        } catch {
            throw try LostVault.failure(of: group, for: error) ?? Failure(error)
        }
    }

    /// The same for an app group.
    func openVault(of group: AppGroup) throws(Failure) -> Vault { try openVault(of: AccessGroup(group)) }

    private func personal(for group: AccessGroup, in home: GroupsHome) throws(Failure) -> VaultCredential? {
        // Whatever is wrong with the vault shows when it is opened; nobody types a passphrase in vain.
        guard let status = try? Vault.status(group, in: home), status.slots.contains(where: { $0.kind == .passphrase })
        else { return nil }
        return .passphrase(try PassphrasePrompt(subject: group.identifier).ask(twice: false))
    }
}
