internal import SharedFiles

/// Whether a vault is the one that this user's programs have seen before.
///
/// Asked of who opens with an identity: a recipient's slot can be made by anybody who knows the recipient, so it vouches
/// for nothing. A passphrase or key file that opens a vault was known to whoever made it.
struct VaultRecognition {
    let place: VaultPlace
    let watermarks: WatermarkTable

    /// - Throws: `VaultError` `.replaced` where a vault with this id was seen under another root.
    func check() throws(VaultError) {
        guard watermarks.isForeign() else { return }
        throw VaultError(
            .replaced, "open the vault", place.path,
            "What this user's programs have seen of it was noted under another root: somebody put another vault in its "
                + "place, or those notes are damaged as a whole.",
            advice: "Ask who shares it with you; to go on with this one, sealctl vault accept.")
    }

    /// Begins anew with this vault; what was noted of the other one stays, under another name where it had this one's.
    func acceptAsNew() throws(VaultError) {
        try VaultError.onFiles("set aside what was noted of the vault") { () throws(FileError) in
            try watermarks.setForeignAside()
        }
    }
}
