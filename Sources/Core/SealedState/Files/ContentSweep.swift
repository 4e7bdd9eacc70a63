internal import AppGroups
internal import SealedBackends
internal import Sealing
internal import SharedFiles

/// Removes contents of sealed files that no manifest names: those of writers that were killed.
///
/// | a writer | a sweep |
/// | --- | --- |
/// | locks the byte of new contents, names the contents | |
/// | | finds contents without a manifest; their byte is locked: they stay |
/// | writes the manifest, unlocks | |
/// | | locks all records, reads the manifests again, locks the byte; a manifest names the contents: they stay |
struct ContentSweep {
    private let store: SealedStore
    private var root: Directory { store.container.root }

    init(_ store: SealedStore) { self.store = store }

    /// The contents in the container, and those that manifests name.
    private struct Survey {
        var named: Set<ContentID> = []
        /// Files whose manifest is refused or locked: their contents are not known, and stay.
        var unread: [SealedFileName] = []
    }

    /// Removes the contents that no manifest names and no writer holds.
    ///
    /// All writers of records wait while the manifests are read the second time, so that none is missed.
    /// - Returns: The number of contents that were removed.
    /// - Throws: `StoreError` `.lockTimeout`, `.cancelled`; `.file`, `.permissionDenied`.
    func run(_ request: WriteRequest) throws(StoreError) -> Int {
        removeUnnamed()
        let stored = try contents()
        guard !stored.isEmpty else { return 0 }
        let candidates = try candidates(among: stored)
        guard !candidates.isEmpty else { return 0 }
        let group = store.group.identifier
        let records = try StoreError.onFiles("remove leftover contents of", group) { () throws(FileError) in
            try store.reader.locks.lock(.whole, timeout: request.timeout, isCancelled: request.isCancelled)
        }
        let left = try self.candidates(among: candidates)
        var count = 0
        for id in left {
            // A byte that is locked is that of a writer at work.
            guard let byte = try? store.reader.locks.presence(id.lock) else { continue }
            // A member who replaces the lock file lets a writer name its contents meanwhile.
            guard store.isInPlace, records.isStillNamed() else { return count }
            if (try? root.remove(id.path, durability: .unsynced)) != nil { count += 1 }
            _ = consume byte
        }
        return count
    }

    /// Returns `true` if there are more contents than manifests, which is cheap to see: no manifest is opened.
    func isNeeded(atMost limit: Int) -> Bool {
        guard let stored = try? contents(), !stored.isEmpty, stored.count <= limit,
            let heads = try? store.reader.heads(SealedFileName.namePrefix)
        else { return false }
        let files = heads.count { head in
            (try? UnverifiedHeader(parsing: head.bytes).claimed.flags.contains(.tombstone)) == false
        }
        return stored.count > files
    }

    private func contents() throws(StoreError) -> [ContentID] {
        do throws(FileError) {
            return try root.directory(ContainerLayout.contents).entries()
                .filter { $0.kind == .regular }.compactMap { ContentID(leaf: $0.name) }
        } catch {
            if error.code == .notFound { return [] }
            throw StoreError(error, "list the contents of files of", store.group.identifier)
        }
    }

    /// Files that were not named when their writer was killed, on a file system without nameless files.
    private func removeUnnamed() {
        guard let directory = try? root.directory(ContainerLayout.contents), let entries = try? directory.entries()
        else { return }
        for entry in entries where entry.name.hasPrefix(".") && entry.name.hasSuffix(".new") {
            let leaf = entry.name.dropFirst().prefix(32 + ContainerLayout.recordSuffix.utf8.count)
            if let id = ContentID(leaf: String(leaf)), let name = try? LeafName(id.leaf) {
                directory.removeStaleFiles(of: name)
            }
        }
    }

    private func candidates(among stored: [ContentID]) throws(StoreError) -> [ContentID] {
        let survey = try survey()
        return stored.filter { id in
            !survey.named.contains(id) && !survey.unread.contains { mayName($0, id) }
        }
    }

    /// Returns `true` if contents may be those of a file: their header states its name, or is not readable.
    private func mayName(_ file: SealedFileName, _ id: ContentID) -> Bool {
        guard let bytes = try? root.readPrefix(id.path, count: BlobLayout.headerSize).bytes,
            let claimed = try? UnverifiedHeader(parsing: bytes).claimed
        else { return true }
        return claimed.nameTag == id.context(of: file, in: store.group).nameTag
    }

    private func survey() throws(StoreError) -> Survey {
        var survey = Survey()
        for head in try store.reader.heads(SealedFileName.namePrefix) {
            guard let record = try? RecordName(stored: head.key.name), let file = SealedFileName(manifest: record)
            else { continue }
            do throws(StoreError) {
                let place = try store.places.place(reserved: record.text)
                if let id = try store.reader.contentID(at: place) { survey.named.insert(id) }
            } catch { survey.unread.append(file) }
        }
        guard store.isInPlace else { throw store.reader.moved("list the files of", store.group.identifier) }
        return survey
    }
}
