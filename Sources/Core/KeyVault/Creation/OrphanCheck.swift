internal import AppGroups
internal import Sealing
internal import SharedFiles

/// Refuses to create a key while blobs exist that only a lost key can open.
///
/// A vault that was deleted or not yet restored looks like a first start. A new key would then turn a missing file into
/// lost data, so the container is searched first. Any blob of this group under a key that the vault does not know
/// counts. Copies in quarantine do not count: the search skips the quarantine, so its contents block nothing.
struct OrphanCheck {
    /// The number of files that an error lists.
    private static let listed = 5

    let accessGroup: AccessGroup
    /// The group's container, if it exists.
    let container: GroupContainer?

    /// - Throws: `VaultError` `.containerAway` for a registered container that is missing, because blobs in it may need
    ///   a lost key; `.unsafeFile`, `.denied` or `.file` for a container that cannot be opened.
    init(_ accessGroup: AccessGroup, in home: GroupsHome) throws(VaultError) {
        self.accessGroup = accessGroup
        // An access group that is no app group has no container, and nothing is sealed under its keys there.
        guard let group = try? AppGroup(accessGroup.identifier) else {
            container = nil
            return
        }
        do throws(AppGroupError) {
            // The vault's creator is entitled to the access group, which need not be one of its app groups.
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
            .containerAway, "create a key for", error.subject,
            "The registry lists a container there that does not exist; sealed files in it may need a lost key.",
            advice: error.advice)
    }

    /// A sealed file that prevents a new key.
    struct Orphan {
        let path: String
        /// The epoch that its header states, unverified; 0 if a newer version wrote it.
        let epoch: UInt32

        /// Creates the orphan for a file of the database of the records.
        init(database path: String) {
            self.path = path
            epoch = 0
        }

        /// Returns `nil` for a file that needs only the known keys.
        init?(_ path: String, _ finding: SealedBlobScan.Finding, _ known: Set<KeyID>) {
            switch finding {
            case .blob(let claimed) where !known.contains(claimed.keyID): epoch = claimed.epoch
            case .newer: epoch = 0
            default: return nil
            }
            self.path = path
        }
    }

    /// - Parameter known: The keys of the new vault.
    /// - Throws: `VaultError` `.orphanedBlobs`, naming them; `.file` if the container cannot be searched.
    func check(knowing known: Set<KeyID> = []) throws(VaultError) {
        let orphans = try orphans(knowing: known)
        guard orphans.isEmpty else { throw refusal(orphans) }
    }

    /// Returns every blob of the group whose key is unknown.
    func orphans(knowing known: Set<KeyID> = []) throws(VaultError) -> [Orphan] {
        var orphans: [Orphan] = []
        try search { path, finding in
            if let orphan = Orphan(path, finding, known) { orphans.append(orphan) }
        }
        // The keys of a database's rows are not known here, and only SQLite may open it.
        if known.isEmpty, let root = container?.root {
            let found = ContainerLayout.databaseFiles.filter { (try? root.exists($0)) == true }
            // The database's name goes with it: a container that names a database and has none cannot be opened.
            for path in found.isEmpty ? [] : [ContainerLayout.backend] + found
            where (try? root.exists(path)) == true {
                orphans.append(Orphan(database: path))
            }
        }
        return orphans
    }

    /// Returns the epoch of a new vault's first key: one more than any that the group's blobs in quarantine, or about
    /// to go there, state. They belong to a vault that was given up; if its keys are restored, no two keys share an
    /// epoch.
    func firstEpoch(after orphans: [Orphan] = []) -> UInt32 {
        var highest = orphans.map(\.epoch).filter { $0 <= Self.highestPlausibleEpoch }.max() ?? 0
        guard let quarantine = try? container?.root.directory(ContainerLayout.quarantine) else { return highest + 1 }
        // An unreadable file of the quarantine is skipped: it must not prevent the creation of a vault. Quarantined
        // files are below a folder of their own.
        let depth = SealedBlobScan.maximumDepth + 1
        scan.visit(quarantine, includingQuarantine: true, maximumDepth: depth) { entry, finding in
            guard case .success(let finding) = finding, let blob = Orphan(entry.path, finding, []),
                blob.epoch <= Self.highestPlausibleEpoch
            else { return }
            highest = max(highest, blob.epoch)
        }
        return highest + 1
    }

    /// The last epoch of period 1,024, half of all numbers. A group gets there only if it gives its vault up again and
    /// again, each time beyond the bound of the period. A planted header with a higher epoch must not use up the
    /// numbers.
    static let highestPlausibleEpoch = KeyringEntry.maximumEpoch(period: 1024)

    /// Returns the number of the group's blobs that state each key, unverified.
    ///
    /// - Throws: `VaultError` `.file` if the container cannot be searched.
    func keyUses() throws(VaultError) -> [KeyID: Int] {
        var uses: [KeyID: Int] = [:]
        try search { _, finding in
            if case .blob(let claimed) = finding { uses[claimed.keyID, default: 0] += 1 }
        }
        return uses
    }

    private static let searching = "search the container for sealed blobs"

    private var scan: SealedBlobScan { SealedBlobScan(group: accessGroup.identifier) }

    /// Visits every file outside the container's quarantine that is, or may be, a sealed blob of the group.
    private func search(_ visit: (String, SealedBlobScan.Finding) -> Void) throws(VaultError) {
        guard let container else { return }
        try scan.visit(container.root) { entry, finding throws(VaultError) in
            switch finding {
            case .success(let finding): visit(entry.path, finding)
            // A directory with a name that is no UTF-8 cannot be opened by its text; opening it fails with "not found".
            case .failure where !entry.isText:
                throw VaultError(
                    .file, Self.searching, "\(container.path)/\(entry.path)", "Its name is not UTF-8.",
                    advice: "Rename it.")
            case .failure(let error): throw VaultError(error, Self.searching)
            }
        }
    }

    func refusal(_ orphans: [Orphan]) -> VaultError {
        let names = orphans.prefix(Self.listed).map(\.path.printable).joined(separator: ", ")
        let more = orphans.count > Self.listed ? " and \(orphans.count - Self.listed) more" : ""
        return VaultError(
            .orphanedBlobs, "create a key for", accessGroup.identifier,
            "\(container?.path ?? "") contains \(orphans.count) sealed files that a new key cannot open: "
                + "\(names)\(more).")
    }
}
