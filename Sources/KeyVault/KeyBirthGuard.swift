internal import AppGroups
internal import Sealing
internal import SharedFiles

/// Refuses the birth of a key while blobs exist that only a lost key can open.
///
/// A vault that was deleted or not yet restored looks like a first start. Making a new key then would turn a missing
/// file into lost data, so the container is searched first: any blob of this group counts, copies in quarantine do not.
enum KeyBirthGuard {
    /// How deep a container is searched.
    private static let maximumDepth = 64
    /// How many offenders an error lists.
    private static let listed = 5

    /// - Throws: `VaultError` `.orphanedBlobs`, naming them; `.file` when the container cannot be searched.
    static func check(_ container: GroupContainer?, accessGroup: AccessGroup) throws(VaultError) {
        guard let container else { return }
        let group = BlobContext(group: accessGroup.identifier, kind: .record, name: "").groupTag
        var offenders: [String] = []
        try container.root.walk(maximumDepth: maximumDepth) { entry throws(VaultError) in
            if let error = entry.error { throw VaultError(error, "search the container for sealed blobs") }
            guard entry.kind == .regular, !entry.path.hasPrefix(ContainerLayout.quarantine + "/") else { return }
            if try isSealed(entry.path, for: group, in: container.root) { offenders.append(entry.path) }
        }
        guard offenders.isEmpty else { throw refusal(offenders, container, accessGroup) }
    }

    private static func isSealed(
        _ path: String, for group: GroupTag, in root: Directory
    ) throws(VaultError) -> Bool {
        do throws(FileError) {
            let (bytes, _) = try root.readPrefix(path, count: BlobLayout.headerSize)
            return isSealed(bytes, for: group)
        } catch {
            if error.code == .notFound { return false }
            throw VaultError(error, "search the container for sealed blobs")
        }
    }

    /// A blob that a newer version wrote counts as well, and where its tag cannot be read, whatever its group.
    private static func isSealed(_ bytes: [UInt8], for group: GroupTag) -> Bool {
        do throws(SealingError) {
            return try UnverifiedHeader(parsing: bytes).claimed.groupTag == group
        } catch {
            guard error.code == .unsupportedFormat else { return false }
            // A larger number is a letter: a text that happens to begin with the magic.
            if bytes[4] != BlobLayout.format { return bytes[4] < 32 }
            let tag = bytes.dropFirst(BlobLayout.groupTagOffset).prefix(16)
            return group.bytes.withUnsafeBytes { $0.elementsEqual(tag) }
        }
    }

    private static func refusal(
        _ offenders: [String], _ container: GroupContainer, _ accessGroup: AccessGroup
    ) -> VaultError {
        let names = offenders.prefix(listed).map(\.printable).joined(separator: ", ")
        let more = offenders.count > listed ? " and \(offenders.count - listed) more" : ""
        return VaultError(
            .orphanedBlobs, "make a key for", accessGroup.identifier,
            "\(container.path) already holds \(offenders.count) sealed files that a new key could never open: "
                + "\(names)\(more).")
    }
}
