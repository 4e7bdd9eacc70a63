internal import AppGroups
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// A vault that is missing while its container holds sealed blobs: a new one could not open them.
enum LostVault {
    /// How deep a container is searched, as before a key is born.
    private static let maximumDepth = 64

    /// The failure that tells of it, the same as that of `init`; nil where nothing is lost.
    static func failure(of group: AccessGroup, for error: VaultError?) throws(Failure) -> Failure? {
        guard let error, error.code == .absent else { return nil }
        // Of a place that somebody named nothing is lost: nothing may be given up for a slip of the hand.
        if let failure = StatedVault.missing { return failure }
        let home = try GroupOptions.home()
        // An access group may have no container.
        guard let appGroup = try? AppGroup(group.identifier),
            let container = try? GroupContainer.open(appGroup, in: home, creating: false),
            let blob = firstBlob(of: group, in: container.root)
        else { return nil }
        return Failure(
            StatusTable.status(of: VaultError.Code.orphanedBlobs), VaultError.Code.orphanedBlobs.rawValue,
            "cannot open the vault \(error.subject): it is gone, and \(container.path) holds sealed files (\(blob))",
            hint: "Restore the vault from a backup; or, to give them up, sealctl init --abandon.")
    }

    private struct Found: Error { let path: String }

    private static func firstBlob(of group: AccessGroup, in root: Directory) -> String? {
        let tag = BlobContext(group: group.identifier, kind: .record, name: "").groupTag
        do throws(Found) {
            try root.walk(maximumDepth: maximumDepth) { entry throws(Found) in
                guard entry.kind == .regular, !entry.path.hasPrefix(ContainerLayout.quarantine + "/"),
                    let (bytes, _) = try? root.readPrefix(entry.path, count: BlobLayout.headerSize),
                    let header = try? UnverifiedHeader(parsing: bytes), header.claimed.groupTag == tag
                else { return }
                throw Found(path: entry.path)
            }
        } catch { return error.path }
        return nil
    }
}
