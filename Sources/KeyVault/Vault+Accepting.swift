public import AppGroups
internal import SharedFiles

extension Vault {
    /// Goes on with a vault that was rolled back: it is written anew, beyond everything that was seen before.
    ///
    /// A person decides this, after an older copy was restored on purpose. What had been changed since is lost. A vault
    /// that was not rolled back is written anew as it is. What was lost or damaged of the notes on what this user's programs
    /// have accepted is no longer reported.
    /// - Throws: `VaultError`, as for `open` without `.rolledBack`.
    @discardableResult
    public static func accept(
        _ accessGroup: AccessGroup, in home: GroupsHome, with credential: VaultCredential = .automatic,
        options: VaultOptions = VaultOptions()
    ) throws(VaultError) -> Vault {
        var accepting = options
        accepting.acceptsRollback = true
        let vault = try open(accessGroup, in: home, with: credential, options: accepting)
        try vault.change(.accepted) { _ throws(VaultError) in }
        try VaultError.onFiles("accept what was lost of the notes on") { () throws(FileError) in
            try vault.watermarks.acceptLosses()
        }
        return try open(accessGroup, in: home, with: credential, options: options)
    }
}
