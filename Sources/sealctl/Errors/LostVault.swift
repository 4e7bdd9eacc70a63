internal import AppGroups
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// A vault that is missing while its container holds sealed blobs: a new one could not open them.
enum LostVault {
    /// How deep a container is searched, as before a key is born.
    private static let maximumDepth = 64

    /// The failure that tells of it, the same as that of `init`; nil where nothing is lost.
    static func failure(of group: AppGroup, for error: VaultError?) throws(Failure) -> Failure? {
        guard let error, error.code == .absent else { return nil }
        let home = try GroupOptions.home()
        guard let container = try? GroupContainer.open(group, in: home, creating: false),
            let blob = firstBlob(of: group, in: container.root)
        else { return nil }
        return Failure(
            StatusTable.status(of: VaultError.Code.orphanedBlobs), VaultError.Code.orphanedBlobs.rawValue,
            "cannot open the vault \(error.subject): it is gone, and \(container.path) holds sealed files (\(blob))",
            hint: "Restore the vault from a backup: a new one could not open them.")
    }

    private struct Found: Error { let path: String }

    private static func firstBlob(of group: AppGroup, in root: Directory) -> String? {
        let tag = BlobContext(streamOf: group).groupTag
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
