internal import CryptoPrimitives
internal import SharedFiles

/// The ingredients of a new vault.
struct VaultPlan {
    var slots: [NewSlot]
    var sharing = Sharing.ownerOnly
    /// The team key at hand.
    var certifier: TeamKey?
    /// The backup that it begins with; without one, or where that has no active key, it begins with a fresh key.
    var backup: Backup?

    /// Refuses a directory that is not shared as the vault is to be. For a private vault in a shared directory it has advice
    /// of its own: to take the permission away would close the directory to every member.
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

/// A vault that is ready to be written.
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
