internal import AppGroups
internal import Sealing
internal import SharedFiles

/// Refuses the birth of a key while blobs exist that only a lost key can open.
///
/// A vault that was deleted or not yet restored looks like a first start. Making a new key then would turn a missing
/// file into lost data, so the container is searched first: any blob of this group under a key that the vault does not
/// know counts, copies in quarantine do not: quarantine is not entered, so nothing in it stands in anybody's way.
struct KeyBirthGuard {
    /// How deep a container is searched.
    private static let maximumDepth = 64
    /// How many offenders an error lists.
    private static let listed = 5

    let accessGroup: AccessGroup
    /// The group's container, where there is one.
    let container: GroupContainer?

    /// - Throws: `VaultError` `.containerAway` for one that the registry has and that is not there: what is sealed in it may
    ///   need a lost key; `.unsafeFile`, `.denied` or `.file` for one that cannot be opened.
    init(_ accessGroup: AccessGroup, in home: GroupsHome) throws(VaultError) {
        self.accessGroup = accessGroup
        // An access group that is no app group has no container, and nothing is sealed under its keys there.
        guard let group = try? AppGroup(accessGroup.identifier) else {
            container = nil
            return
        }
        do throws(AppGroupError) {
            // Whoever makes the vault is entitled to the access group, which need not be one of its app groups.
            container = try GroupContainer.open(group, in: home, creating: false, entitlements: .unchecked)
        } catch {
            guard error.code == .containerMissing else {
                if error.code == .containerAway { throw Self.away(error) }
                if let underlying = error.underlying { throw VaultError(underlying, Self.searching) }
                throw VaultError(
                    .unsafeFile, Self.searching, error.subject, error.reason,
                    advice: error.advice)
            }
            container = nil
        }
    }

    private static func away(_ error: AppGroupError) -> VaultError {
        VaultError(
            .containerAway, "make a key for", error.subject,
            "The registry has a container there, it is gone, and what is sealed in it may need a key that is lost.",
            advice: error.advice)
    }

    /// A sealed file that stands in the way of a new key.
    struct Orphan {
        let path: String
        /// What its header claims, unverified; 0 where it is of a newer format.
        let epoch: UInt32
    }

    /// - Parameter known: The keys that the new vault will hold.
    /// - Throws: `VaultError` `.orphanedBlobs`, naming them; `.file` when the container cannot be searched.
    func check(knowing known: Set<KeyID> = []) throws(VaultError) {
        let orphans = try orphans(knowing: known)
        guard orphans.isEmpty else { throw refusal(orphans) }
    }

    /// Every blob of the group whose key is not known.
    func orphans(knowing known: Set<KeyID> = []) throws(VaultError) -> [Orphan] {
        guard let container else { return [] }
        var orphans: [Orphan] = []
        try forEachFile(in: container.root) { path throws(VaultError) in
            if let orphan = try orphan(path, in: container.root, known) { orphans.append(orphan) }
        }
        return orphans
    }

    /// Visits every regular file outside the quarantine. What is removed meanwhile is not there.
    private func forEachFile(
        in root: Directory, _ visit: (String) throws(VaultError) -> Void
    ) throws(VaultError) {
        let entries = try VaultError.onFiles(Self.searching) { () throws(FileError) in try root.entries() }
        for entry in entries where entry.name != ContainerLayout.quarantine && !ContainerLayout.isReserve(entry.name) {
            try requireText(entry.name, entry.nameBytes, entry.kind)
            switch entry.kind {
            case .regular: try visit(entry.name)
            case .directory: try forEachFile(below: entry.name, in: root, visit)
            case .unknown:
                throw VaultError(
                    FileError(.io, operation: "examine", path: root.display(entry.name)), Self.searching)
            default: break
            }
        }
    }

    private func forEachFile(
        below name: String, in root: Directory, _ visit: (String) throws(VaultError) -> Void
    ) throws(VaultError) {
        let directory: Directory
        do throws(FileError) { directory = try root.directory(name) } catch {
            if error.code == .notFound { return }
            throw VaultError(error, Self.searching)
        }
        try directory.walk(maximumDepth: Self.maximumDepth - 1) { entry throws(VaultError) in
            // Before its error is looked at: whatever has such a name cannot be opened by it, and is "not found".
            try requireText("\(name)/\(entry.path)", entry.nameBytes, entry.kind)
            if let error = entry.error {
                if error.code == .notFound { return }
                throw VaultError(error, Self.searching)
            }
            if entry.kind == .regular { try visit("\(name)/\(entry.path)") }
        }
    }

    private func requireText(_ path: String, _ nameBytes: [UInt8], _ kind: FileKind) throws(VaultError) {
        guard kind == .regular || kind == .directory else { return }
        guard path.utf8.suffix(nameBytes.count).elementsEqual(nameBytes) else {
            throw VaultError(
                .file, Self.searching, "\(container?.path ?? "")/\(path)", "Its name is no UTF-8.",
                advice: "Rename it, so that it can be looked at.")
        }
    }

    /// The epoch that a new vault's first key gets: one more than any that the group's blobs in quarantine claim, and
    /// those that are about to go there. They are of a vault that was given up; should its keys come back, no two have
    /// one epoch.
    func firstEpoch(after orphans: [Orphan] = []) -> UInt32 {
        var highest = orphans.map(\.epoch).filter { $0 <= Self.highestBelievedEpoch }.max() ?? 0
        // What cannot be looked at there is passed over: it stands in nobody's way.
        guard let quarantine = try? container?.root.directory(ContainerLayout.quarantine) else { return highest + 1 }
        // What was moved there lies below a folder of its own.
        quarantine.walk(maximumDepth: Self.maximumDepth + 1) { entry in
            guard entry.kind == .regular, let blob = try? orphan(entry.path, in: quarantine, []),
                blob.epoch <= Self.highestBelievedEpoch
            else { return }
            highest = max(highest, blob.epoch)
        }
        return highest + 1
    }

    /// The last epoch of period 1,024, half of all numbers: a group gets there by giving its vault up again and again, each of
    /// which begins beyond the bound of its period. A planted header that claims more must not use the epochs up.
    static let highestBelievedEpoch = KeyringEntry.maximumEpoch(period: 1024)

    /// The number of the group's blobs that claim each key, unverified.
    ///
    /// - Throws: `VaultError` `.file` when the container cannot be searched.
    func keyUses() throws(VaultError) -> [KeyID: Int] {
        guard let container else { return [:] }
        let group = BlobContext(group: accessGroup.identifier, kind: .record, name: "").groupTag
        var uses: [KeyID: Int] = [:]
        try forEachFile(in: container.root) { path in
            guard let bytes = try? container.root.readPrefix(path, count: BlobLayout.headerSize).bytes,
                let claimed = try? UnverifiedHeader(parsing: bytes).claimed, claimed.groupTag == group
            else { return }
            uses[claimed.keyID, default: 0] += 1
        }
        return uses
    }

    private static let searching = "search the container for sealed blobs"

    private func orphan(
        _ path: String, in root: Directory, _ known: Set<KeyID>
    ) throws(VaultError) -> Orphan? {
        do throws(FileError) {
            return orphan(try root.readPrefix(path, count: BlobLayout.headerSize).bytes, path, known)
        } catch {
            if error.code == .notFound { return nil }
            throw VaultError(error, Self.searching)
        }
    }

    /// A blob that a newer version wrote counts as well, and where its tag cannot be read, whatever its group.
    private func orphan(_ bytes: [UInt8], _ path: String, _ known: Set<KeyID>) -> Orphan? {
        let group = BlobContext(group: accessGroup.identifier, kind: .record, name: "").groupTag
        do throws(SealingError) {
            let claimed = try UnverifiedHeader(parsing: bytes).claimed
            let isOrphan = claimed.groupTag == group && !known.contains(claimed.keyID)
            return isOrphan ? Orphan(path: path, epoch: claimed.epoch) : nil
        } catch {
            guard error.code == .unsupportedFormat else { return nil }
            // A larger number is a letter: a text that happens to begin with the magic.
            if bytes[4] != BlobLayout.format { return bytes[4] < 32 ? Orphan(path: path, epoch: 0) : nil }
            let tag = bytes.dropFirst(BlobLayout.groupTagOffset).prefix(16)
            let isOurs = group.bytes.withUnsafeBytes { $0.elementsEqual(tag) }
            return isOurs ? Orphan(path: path, epoch: 0) : nil
        }
    }

    func refusal(_ orphans: [Orphan]) -> VaultError {
        let names = orphans.prefix(Self.listed).map(\.path.printable).joined(separator: ", ")
        let more = orphans.count > Self.listed ? " and \(orphans.count - Self.listed) more" : ""
        return VaultError(
            .orphanedBlobs, "make a key for", accessGroup.identifier,
            "\(container?.path ?? "") already holds \(orphans.count) sealed files that a new key could never open: "
                + "\(names)\(more).")
    }
}
