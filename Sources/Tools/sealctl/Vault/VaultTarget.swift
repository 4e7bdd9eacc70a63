internal import AppGroups
internal import ArgumentParser
internal import KeyVault
internal import SealedState
internal import SharedFiles
internal import SystemPackage

/// The access group whose vault a command works on. Every app group is an access group as well, and the identifiers
/// look alike: `--group` states that a container belongs to it.
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

    /// Returns the checked access group. The settings may name any group.
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

    /// Returns the option that names this group on the command line.
    static func option(for group: AccessGroup) -> String { "--access-group \(group)" }

    /// Opens the store of the group. Returns `nil` only if `--access-group` names a group without a container.
    ///
    /// With `--group` a missing container is an error, because it and its sealed files may be unavailable only
    /// temporarily.
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

    /// Refuses to end keys while the container is unavailable, because its blobs would not be checked or resealed.
    func requireNoContainer(of vault: Vault) throws(Failure) {
        guard vault.hasSeenRecords else { return }
        throw Failure(
            .notFound, "containerMissing",
            "the container of \(vault.accessGroup) is missing, and its records were seen before",
            hint: "Mount its disk first, or restore it.")
    }

    /// Refuses to destroy keys while a container in the trash may still be restored.
    func requireEmptyTrash(of vault: Vault) throws(Failure) {
        let home = try GroupOptions.home()
        let items = try Failure.onGroup { () throws(AppGroupError) in try ContainerTrash(home: home).items() }
        guard items.contains(where: { $0.group.identifier == vault.accessGroup.identifier }) else { return }
        throw Failure(
            .unavailable, "keyInUse", "a container of \(vault.accessGroup) is in the trash, and may need its keys",
            hint: "Restore it, or delete it for good: sealctl container trash list.")
    }
}

extension KeyOptions {
    /// Opens an existing vault; creates nothing.
    ///
    /// - Parameter asksUnasked: Asks for the passphrase if nothing was stated and the vault has a passphrase slot. This
    ///   is for operations that only a person may perform.
    func openVault(of group: AccessGroup, asksUnasked: Bool = false) throws(Failure) -> Vault {
        let home = try GroupOptions.home()
        var credential = try opening(group, isPersonal: asksUnasked)
        if credential == nil, asksUnasked { credential = try personal(for: group, in: home) }
        do throws(VaultError) {
            let vault = try Vault.open(group, in: home, with: credential ?? .automatic)
            OpeningMessages.report(of: vault)
            WatermarkWarning.report(on: vault)
            return vault
        } catch {
            throw try LostVault.failure(of: group, for: error) ?? Failure(error)
        }
    }

    /// Opens the vault of an app group.
    func openVault(of group: AppGroup) throws(Failure) -> Vault { try openVault(of: AccessGroup(group)) }

    private func personal(for group: AccessGroup, in home: GroupsHome) throws(Failure) -> VaultCredential? {
        // Any fault of the vault is reported when it is opened, before a person types a passphrase.
        guard let status = try? Vault.status(group, in: home), status.slots.contains(where: { $0.kind == .passphrase })
        else { return nil }
        return .passphrase(try PassphrasePrompt(subject: group.identifier).ask(twice: false))
    }
}

/// A vault's directory that was stated by `--vault`, a variable or a file.
enum StatedVault {
    /// The failure for a stated directory without a vault; `nil` if none was stated.
    static var missing: Failure? {
        guard let stated = Settings.current[.vault] else { return nil }
        let code = VaultError.Code.absent
        return Failure(
            StatusTable.status(of: code), code.rawValue,
            "no vault exists in \(VaultDirectory.path(stated.text)) (from \(stated.origin))",
            hint: "Name the directory of the vault, or omit the setting to use the group's own.")
    }

    /// Refuses to abandon a group's sealed files for a vault in another place.
    static func requireNone(for group: AppGroup) throws(Failure) {
        guard let stated = Settings.current[.vault] else { return }
        let home = try Failure.onGroup { () throws(AppGroupError) in try GroupsHome.current() }
        let own = VaultPlace(AccessGroup(group), in: home)
        let what =
            own.isTaken
            ? "the vault of \(group) is in its place, \(own.path)" : "no stored state shows which vault opens the files"
        throw Failure(
            .configuration, "vaultStated",
            "--abandon does not apply to a stated vault (\(stated.text), from \(stated.origin)): \(what)",
            hint: "Omit the setting that names the vault, and see: sealctl doctor --group \(group).")
    }
}

/// The directory of `--vault`: the path itself, or the directory of the vault file that it names.
enum VaultDirectory {
    static func path(_ text: String) -> FilePath {
        let path = FilePath(text)
        return path.lastComponent?.string == VaultPlace.leaf ? path.removingLastComponent() : path
    }
}

/// A missing vault whose container has sealed blobs. A new vault could not open them.
enum LostVault {
    /// Returns the same failure as `init`, or `nil` if nothing is lost.
    static func failure(of group: AccessGroup, for error: VaultError?) throws(Failure) -> Failure? {
        guard let error, error.code == .absent else { return nil }
        // If the caller stated the vault's place, a misspelt path must not lead to advice to abandon data.
        if let failure = StatedVault.missing { return failure }
        guard let blob = SealedBlobScan.firstOrphan(of: group, in: try GroupOptions.home()) else { return nil }
        return Failure(
            StatusTable.status(of: VaultError.Code.orphanedBlobs), VaultError.Code.orphanedBlobs.rawValue,
            "cannot open the vault \(error.subject): it is missing; \(blob.container) has sealed files (\(blob.path))",
            hint: "Restore the vault from a backup; or, to abandon the files, sealctl init --abandon.")
    }
}
