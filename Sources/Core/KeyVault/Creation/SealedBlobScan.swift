internal import AppGroups
package import Sealing
package import SharedFiles

/// A search for the sealed blobs of one group in a directory tree, by the unverified headers of the files.
package struct SealedBlobScan: Sendable {
    /// The depth to which the directories of a container are searched.
    package static let maximumDepth = 64

    /// The kind of file that its first bytes show.
    package enum Finding {
        /// A sealed blob of the group, or of a vault of the group.
        case blob(BlobHeader)
        /// A blob of a newer version that is of this group as far as it can be read.
        case newer(SealingError)
        /// Any other file.
        case other(SealingError)
        /// A sealed blob of another group.
        case foreign
    }

    /// The first bytes of a file, at most the size of a header, and their finding.
    package struct Prefix {
        package let bytes: [UInt8]
        package let finding: Finding
    }

    private let groupTag: GroupTag

    package init(group: String) {
        groupTag = BlobContext(group: group, kind: .record, name: "").groupTag
    }

    /// Visits every regular file of a tree, and every entry that cannot be read, in the order of the walk.
    ///
    /// - Parameter visit: Takes the entry, and its finding or the error of reading it.
    func visit<Failure: Error>(
        _ root: Directory, includingQuarantine: Bool = false, maximumDepth: Int = SealedBlobScan.maximumDepth,
        _ visit: (WalkEntry, Result<Finding, FileError>) throws(Failure) -> Void
    ) throws(Failure) {
        try root.walk(maximumDepth: maximumDepth) { entry throws(Failure) in
            guard includes(entry, andQuarantine: includingQuarantine), let prefix = prefix(of: entry, in: root)
            else { return }
            try visit(entry, prefix.map(\.finding))
        }
    }

    /// Returns whether an entry of a container is searched: never the space reserved for deletions or a database, and
    /// the quarantine only on demand.
    package func includes(_ entry: WalkEntry, andQuarantine: Bool) -> Bool {
        (andQuarantine || !Self.isInQuarantine(entry.path)) && !ContainerLayout.isReserve(entry.path)
            && !ContainerLayout.isDatabase(entry.path)
    }

    package static func isInQuarantine(_ path: String) -> Bool {
        path == ContainerLayout.quarantine || path.hasPrefix(ContainerLayout.quarantine + "/")
    }

    /// Returns the first bytes of a file, or the error of reading it; `nil` for an entry that is no regular file or was
    /// removed.
    package func prefix(of entry: WalkEntry, in root: Directory) -> Result<Prefix, FileError>? {
        // Checked first: no directory of such a name can be entered, and its files are not visited.
        if !entry.isText, entry.kind == .regular || entry.kind == .directory {
            return .failure(FileError(.invalidName, operation: "examine", path: root.display(entry.path)))
        }
        if let error = entry.error { return error.code == .notFound ? nil : .failure(error) }
        guard entry.kind == .regular else { return nil }
        do throws(FileError) {
            let bytes = try root.readPrefix(entry.path, count: BlobLayout.headerSize).bytes
            return .success(Prefix(bytes: bytes, finding: finding(in: bytes)))
        } catch {
            return error.code == .notFound ? nil : .failure(error)
        }
    }

    private func finding(in bytes: [UInt8]) -> Finding {
        do throws(SealingError) {
            let claimed = try UnverifiedHeader(parsing: bytes).claimed
            return claimed.groupTag == groupTag ? .blob(claimed) : .foreign
        } catch {
            return error.code == .unsupportedFormat && mayBelongToGroup(bytes) ? .newer(error) : .other(error)
        }
    }

    /// Returns whether the bytes may be a blob of this group. For a newer format only the version number is known; 32
    /// or more is a character, and the file a text that begins with the magic. For the known format the group's tag is
    /// checked.
    private func mayBelongToGroup(_ bytes: [UInt8]) -> Bool {
        if bytes[4] != BlobLayout.format { return bytes[4] < 32 }
        let tag = bytes.dropFirst(BlobLayout.groupTagOffset).prefix(16)
        return groupTag.bytes.withUnsafeBytes { $0.elementsEqual(tag) }
    }
}

extension SealedBlobScan {
    /// Returns the path of a sealed file in the container of an access group whose vault is missing, for the errors of
    /// commands that need the vault; `nil` if the container has no such file or cannot be searched.
    package static func firstOrphan(of group: AccessGroup, in home: GroupsHome) -> (container: String, path: String)? {
        guard let orphans = try? OrphanCheck(group, in: home), let container = orphans.container,
            let first = try? orphans.orphans().first
        else { return nil }
        return (container.path, first.path)
    }
}
