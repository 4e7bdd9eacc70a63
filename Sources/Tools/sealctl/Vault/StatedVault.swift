internal import AppGroups
internal import KeyVault
internal import SharedFiles

/// A vault's directory that was named: by `--vault`, a variable or a file.
enum StatedVault {
    /// The failure that there is no vault in it; nil where none was named.
    static var missing: Failure? {
        guard let stated = Settings.current[.vault] else { return nil }
        let code = VaultError.Code.absent
        return Failure(
            StatusTable.status(of: code), code.rawValue,
            "there is no vault in \(VaultDirectory.path(stated.text)) (from \(stated.origin))",
            hint: "Name the directory that has it, or leave that out to use the group's own.")
    }

    /// Refuses to give a group's sealed files up for a vault that lies elsewhere.
    static func requireNone(for group: AppGroup) throws(Failure) {
        guard let stated = Settings.current[.vault] else { return }
        let home = try Failure.onGroup { () throws(AppGroupError) in try GroupsHome.current() }
        let own = VaultPlace(AccessGroup(group), in: home)
        let what =
            own.isTaken ? "the vault of \(group) is in its place, \(own.path)" : "nothing tells what opens the files"
        throw Failure(
            .configuration, "vaultStated",
            "nothing is abandoned for a vault that was named (\(stated.text), from \(stated.origin)): \(what)",
            hint: "Leave out what names the vault, and see: sealctl doctor --group \(group).")
    }
}
