package import AppGroups
internal import SharedFiles

/// What a vault holds, without anything secret.
package struct VaultInventory: Sendable {
    /// Its sealing keys, by epoch.
    package let keys: [KeySummary]
    /// How many items it has.
    package let itemCount: Int
    /// What is known of the file that remembers what this user's programs have accepted of it.
    package let watermarks: WatermarkCondition
}

extension Vault {
    /// Looks into a vault that is at hand without a person, and has no side effects: nothing is made, logged or remembered.
    ///
    /// - Parameter credential: What opens it; a passphrase costs what it is to cost.
    /// - Throws: `VaultError` as `open`, but a vault that was rolled back is not noticed.
    package static func inventory(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic
    ) throws(VaultError) -> VaultInventory {
        let place = VaultPlace(accessGroup, in: home)
        guard let directory = try place.openDirectory(), let file = try VaultFile.open(in: directory) else {
            throw VaultError(.absent, "open the vault", place.path, "There is none for \(accessGroup).")
        }
        guard file.head.header.purpose == .vault else {
            throw VaultError(.isAnExport, "open the vault", place.path, "It is a backup, not a vault in use.")
        }
        let secrets = try unlock(file.head, place, with: credential)
        let condition = place.watermarkCondition(of: file.head.header, root: secrets.root)
        let keys = ClassKeys(
            secrets, vaultID: file.head.header.vaultID, directory: directory,
            openedAt: .ifReadable(in: directory.path))
        let (contents, _) = try VaultReader(place: place).contents(of: file, root: keys.root, keys: keys)
        let summaries = contents.body.keyring.map(KeySummary.init).sorted {
            ($0.epoch, $0.protection.rawValue) < ($1.epoch, $1.protection.rawValue)
        }
        return VaultInventory(keys: summaries, itemCount: contents.body.items.entries.count, watermarks: condition)
    }
}
