internal import AppGroups
internal import KeyVault

/// The vault that `init` finds in the way.
struct ExistingVault {
    private let group: AppGroup
    private let home: GroupsHome
    let place: VaultPlace

    init(_ group: AppGroup, in home: GroupsHome) {
        self.group = group
        self.home = home
        place = VaultPlace(AccessGroup(group), in: home)
    }

    /// Refuses one that is damaged or unsafe, as far as that shows without asking for a passphrase.
    func requireSound() throws(Failure) {
        do throws(VaultError) {
            _ = try Vault.open(AccessGroup(group), in: home)
        } catch {
            // These are about the key file: the vault itself may open with something else.
            let isAboutKey = [.locked, .wrongKeyFile, .wrongCredential, .malformedKeyFile].contains(error.code)
            guard isAboutKey || error.subject == place.keyFilePath else { throw Failure(error) }
        }
    }

    /// Refuses to abandon one that opens: setting it aside would be a mistake far oftener than an intention.
    func requireLost() throws(Failure) {
        let vault: VaultInventory
        do throws(VaultError) { vault = try Vault.inventory(AccessGroup(group), in: home) } catch {
            guard Self.lost.contains(error.code) else { throw Failure(error) }
            return
        }
        throw Failure(
            .duplicate, "alreadyExists",
            "cannot abandon the vault of \(group): it opens, and holds \(vault.itemCount) items",
            hint: "To set it aside all the same, move \(place.path) away first.")
    }

    /// Modes, owners and newer versions are for a person to mend; these are not.
    private static let lost: Set<VaultError.Code> = [
        .locked, .wrongKeyFile, .wrongCredential, .malformedKeyFile, .corrupt, .wrongGroup, .isAnExport,
    ]

    var duplicate: Failure {
        Failure(
            .duplicate, "alreadyExists", "cannot make the vault of \(group): there is one already at \(place.path)",
            hint: "See whether it opens: sealctl vault status --group \(group)")
    }
}
