internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// Whether a vault is the one that this user's programs have seen before.
///
/// Asked of who opens with an identity: a recipient's slot can be made by anybody who knows the recipient, so it vouches
/// for nothing. A passphrase or key file that opens a vault was known to whoever made it.
struct VaultRecognition {
    let place: VaultPlace
    let watermarks: WatermarkTable
    let header: VaultHeader

    /// - Throws: `VaultError` `.replaced` where another vault was seen in this place: one of the same id with another root,
    ///   or one of another id while nothing was seen of this one.
    func check() throws(VaultError) {
        guard !watermarks.isForeign else {
            throw replaced(
                "What this user's programs have seen of it was noted under another root: somebody put another vault in "
                    + "its place, or those notes are damaged as a whole.")
        }
        guard watermarks.mark(of: VaultSealing.context(place.accessGroup).nameTag) == nil, sawAnother else { return }
        throw replaced("This user's programs have seen another vault in its place, and nothing of this one.")
    }

    /// Begins anew with this vault; what was noted of the other one stays, under another name where it had this one's.
    func acceptAsNew() throws(VaultError) {
        try VaultError.onFiles("set aside what was noted of the vault") { () throws(FileError) in
            try watermarks.setForeignAside()
        }
    }

    private var sawAnother: Bool {
        guard let directory = try? Directory.openOwn(place.watermarksPath), let entries = try? directory.entries()
        else {
            return false
        }
        let own = place.marksLeaf(of: header)
        return entries.contains { $0.kind == .regular && $0.name != own && place.isMarksLeaf($0.name) }
    }

    private func replaced(_ reason: String) -> VaultError {
        VaultError(
            .replaced, "open the vault", place.path, reason,
            advice: "Ask who shares it with you; to go on with this one, sealctl vault accept.")
    }
}
