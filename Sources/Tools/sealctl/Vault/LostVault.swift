internal import AppGroups
internal import KeyVault

/// A vault that is missing while its container holds sealed blobs: a new one could not open them.
enum LostVault {
    /// The same failure as that of `init`; `nil` if nothing is lost.
    static func failure(of group: AccessGroup, for error: VaultError?) throws(Failure) -> Failure? {
        guard let error, error.code == .absent else { return nil }
        // If the caller named the place of the vault, a misspelt path must not advise to give data up.
        if let failure = StatedVault.missing { return failure }
        guard let blob = SealedBlobScan.firstOrphan(of: group, in: try GroupOptions.home()) else { return nil }
        return Failure(
            StatusTable.status(of: VaultError.Code.orphanedBlobs), VaultError.Code.orphanedBlobs.rawValue,
            "cannot open the vault \(error.subject): it is gone, and \(blob.container) holds sealed files (\(blob.path))",
            hint: "Restore the vault from a backup; or, to give them up, sealctl init --abandon.")
    }
}
