internal import CryptoPrimitives
internal import SharedFiles

/// The ingredients of a new vault.
struct VaultPlan {
    var slots: [NewSlot]
    var sharing = Sharing.ownerOnly
    /// The available team key.
    var certifier: TeamKey?
    /// The backup to restore; without one, or if it has no active key, the vault begins with a random key.
    var backup: Backup?

    /// Refuses a directory without the sharing of the vault. For a private vault in a shared directory the advice
    /// differs: removing the permission would close the directory to every member.
    func requireSharing(of directory: Directory) throws(FileError) {
        guard sharing == .ownerOnly, case .unixGroup(let group) = try directory.sharing else {
            return try directory.requireSharing(sharing)
        }
        let name = Sharing.members(ofGroup: group)?.name ?? String(group)
        throw FileError(
            .unsafeMode, operation: "trust", path: directory.display("."),
            advice: "It is shared with the unix group \(name): share the vault as well (--share-with \(name)), or "
                + "choose another place.")
    }
}

/// A vault that is ready to write.
struct NewVault {
    /// Both compartments' bytes; the person compartment is written first.
    let files: [(role: CompartmentRole, bytes: [UInt8])]
    /// Value files of a backup's items.
    let values: [(role: CompartmentRole, name: String, bytes: [UInt8])]
    let slots: [KeySlot]
    let register: Register
    let vaultID: [UInt8]
    /// The epoch of its active key.
    let epoch: UInt32
    let logKeys: AccessLogKeys
}
