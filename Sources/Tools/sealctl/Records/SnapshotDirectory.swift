internal import AppGroups
internal import CryptoPrimitives
internal import FoundationEssentials
internal import Glibc
internal import SealedBackends
internal import SealedState
internal import Sealing
internal import SharedFiles
internal import SystemPackage

/// A snapshot in a directory, from which records are restored. Nothing in it is trusted: its manifest names the files,
/// and each file is opened below the directory, without following links.
final class SnapshotDirectory {
    private static let manifestName = "manifest.json"
    private static let largestManifest = 1 << 27
    private static let maximumNames = 250_000
    private static let largestName = 64

    /// The path, for messages.
    let path: String
    let manifest: SnapshotManifest
    let copy: CopiedContainer
    private let container: Directory
    private let database: SnapshotDatabase?

    init(_ path: String) throws(Failure) {
        let root: Directory
        do throws(FileError) { root = try Directory.open(path) } catch {
            guard error.errno == ENOTDIR else { throw Failure(error) }
            throw Self.malformed(
                path, "it is not a directory", hint: "Extract a tar file first: mkdir copy && tar -xf FILE -C copy")
        }
        manifest = try Self.manifest(path, in: root)
        container = try Failure.onFiles { () throws(FileError) in try root.directory("container") }
        self.path = path
        let hasDatabase = try Self.hasDatabase(path, manifest, in: container)
        database = hasDatabase ? try SnapshotDatabase(in: container, of: manifest.group) : nil
        copy = CopiedContainer(container, database: database?.backend)
    }

    /// The container has its records in a database. Beside records in files a database is another file: it was left over
    /// or planted.
    private static func hasDatabase(
        _ path: String, _ manifest: SnapshotManifest, in container: Directory
    ) throws(Failure) -> Bool {
        let paths = Set(manifest.files.lazy.map(\.path).filter(isOfBackend))
        guard paths.contains(ContainerLayout.backend) else { return false }
        let name = try Failure.onFiles { () throws(FileError) in
            try container.read(ContainerLayout.backend, limit: largestName)
        }
        guard name.elementsEqual(KnownBackend.sqlite.rawValue.utf8) else {
            let text = String(decoding: name, as: UTF8.self).printable
            throw Failure(
                .configuration, StoreError.Code.backendUnknown.rawValue, "the snapshot has the backend \(text)",
                hint: "Use a sealctl that has this backend.")
        }
        // Files in the places of its records are leftovers.
        guard paths.contains(ContainerLayout.database) else {
            throw malformed(path, "its manifest lists no database, which its container has")
        }
        return true
    }

    private static func isOfBackend(_ path: String) -> Bool {
        path == ContainerLayout.backend || path == ContainerLayout.database
    }

    /// The manifest is written last: a snapshot without it is incomplete.
    private static func manifest(_ path: String, in root: Directory) throws(Failure) -> SnapshotManifest {
        let bytes: [UInt8]
        do throws(FileError) { bytes = try root.read(manifestName, limit: largestManifest) } catch {
            guard error.code == .notFound else { throw Failure(error) }
            throw malformed(path, "it has no \(manifestName), so it is incomplete or no snapshot")
        }
        guard let format = try? JSONDecoder().decode(SnapshotManifest.Format.self, from: Data(bytes)).format else {
            throw malformed(path, "its \(manifestName) is damaged")
        }
        guard format == 1 else {
            throw Failure(
                .newerVersion, "snapshotFormat", "\(path) has format \(format) of snapshots",
                hint: "Use a newer sealctl.")
        }
        guard let manifest = try? JSONDecoder().decode(SnapshotManifest.self, from: Data(bytes)) else {
            throw malformed(path, "its \(manifestName) is damaged")
        }
        return manifest
    }

    static func malformed(
        _ path: String, _ reason: String,
        hint: String = "Nothing was changed. Use a snapshot as sealctl snapshot has written it."
    ) -> Failure {
        Failure(.dataError, "snapshotMalformed", "\(path) is not restored: \(reason)", hint: hint)
    }

    // MARK: Names

    /// The names of a snapshot's records.
    struct Names {
        fileprivate(set) var records: Set<RecordName> = []
        /// Mailboxes of which the record or a segment differs from the manifest, is missing or not listed, with its path.
        fileprivate(set) var damagedMailboxes: [RecordName: String] = [:]
        /// The number of files that are not restored: plain files, and streams.
        fileprivate(set) var otherFiles = 0
    }

    /// Returns the names of the records, of which a mailbox may have messages only.
    func names() throws(Failure) -> Names {
        var names = Names()
        var mailboxes: Set<RecordName> = []
        var segments: Set<String> = []
        for file in manifest.files {
            if let record = RecordFile.name(of: file.path) {
                // Beside a database a record's file is a leftover.
                if database != nil { continue }
                guard names.records.insert(record).inserted else {
                    throw Self.malformed(path, "\(record) is listed twice")
                }
                try requireFew(names)
                if MailboxName(holding: record) != nil, !isComplete(file) { names.damagedMailboxes[record] = file.path }
            } else if let mailbox = MailFile.mailbox(of: file.path) {
                guard segments.insert(file.path).inserted else {
                    throw Self.malformed(path, "\(file.path.printable) is listed twice")
                }
                mailboxes.insert(mailbox.recordName)
                if !isComplete(file) { names.damagedMailboxes[mailbox.recordName] = file.path }
            } else if !isPartOfOthers(file.path) {
                names.otherFiles += 1
            }
        }
        if let database { try addNames(in: database.backend, to: &names) }
        names.records.formUnion(mailboxes)
        try requireFew(names)
        for mailbox in names.records.compactMap(MailboxName.init(holding:)) {
            guard let unlisted = try unlistedSegment(of: mailbox, segments) else { continue }
            names.damagedMailboxes[mailbox.recordName] = unlisted
        }
        return names
    }

    /// Returns the path of a segment that the manifest does not list: it was added to the snapshot.
    private func unlistedSegment(of mailbox: MailboxName, _ listed: Set<String>) throws(Failure) -> String? {
        let directory = ContainerLayout.mailboxes + "/" + mailbox.name
        do throws(FileError) {
            for entry in try container.directory(directory).entries() where entry.kind == .regular {
                let path = directory + "/" + entry.name
                if MailFile.mailbox(of: path) != nil, !listed.contains(path) { return path }
            }
        } catch {
            // Without the directory, or a link in its place, no segment is read.
            if ![.notFound, .unsafePath].contains(error.code) { throw Failure(error) }
        }
        return nil
    }

    private func requireFew(_ names: Names) throws(Failure) {
        guard names.records.count > Self.maximumNames else { return }
        throw Self.malformed(path, "it has more than \(Self.maximumNames) records")
    }

    private func addNames(in backend: any SealedBackend, to names: inout Names) throws(Failure) {
        let result = try Failure.onBackend("list", path) { () throws(BackendError) in
            var records: Set<RecordName> = []
            try Snapshot.forEachHead("", in: backend) { head throws(BackendError) in
                guard records.count <= Self.maximumNames, let record = try? RecordName(stored: head.key.name) else {
                    return
                }
                records.insert(record)
            }
            return records
        }
        names.records.formUnion(result)
    }

    /// Returns `true` for files that are restored with records, and for those that a container has of its own.
    private func isPartOfOthers(_ path: String) -> Bool {
        path.hasPrefix(ContainerLayout.contents + "/") || database != nil && ContainerLayout.isDatabase(path)
            || path == ContainerLayout.backend || path == ContainerLayout.roster
    }

    /// The file has the contents that the manifest states. Segments and the records of mailboxes have a hash in it; a
    /// larger file, which no sender makes, may have none.
    private func isComplete(_ file: SnapshotManifest.File) -> Bool {
        guard let facts = try? container.attributes(file.path), facts.kind == .regular, facts.size == file.size else {
            return false
        }
        guard let stated = file.blake2b256, facts.size <= MailFile.largestSize else { return true }
        guard let bytes = try? container.read(file.path, limit: MailFile.largestSize) else { return false }
        return BLAKE2b.hash(bytes, count: 32).withUnsafeBytes { $0.hexadecimal } == stated
    }
}

/// `manifest.json` of a snapshot, as far as it is used.
struct SnapshotManifest: Decodable {
    struct Format: Decodable {
        let format: Int
    }

    struct File: Decodable {
        /// The path below the container.
        let path: String
        let size: Int64
        let blake2b256: String?
    }

    let group: String
    let takenAt: String
    let files: [File]
}

/// The database of records of a snapshot, in a directory of this process: SQLite writes beside the file that it opens.
private final class SnapshotDatabase {
    /// A file whose size is more times that on the disk would fill another disk.
    private static let largestSparseness: Int64 = 64

    let backend: any SealedBackend
    private let place: TemporaryPlace

    init(in container: Directory, of group: String) throws(Failure) {
        let place = try TemporaryPlace()
        try Self.copy(from: container, to: place.path)
        guard let provider = try KnownBackend.sqlite.provider() else {
            throw Failure(
                .configuration, StoreError.Code.backendUnknown.rawValue, "the snapshot has a database", hint: "")
        }
        backend = try Failure.onBackend("open the database of", group) { [path = place.path] () throws(BackendError) in
            try provider.open(BackendPlace(group: group, directory: path, isShared: false, isNew: false))
        }
        self.place = place
    }

    private static func copy(from container: Directory, to path: String) throws(Failure) {
        let database = FilePath(ContainerLayout.database)
        do throws(FileError) {
            let file = try OpenFile(database.string, in: container)
            guard file.facts.allocatedSize >= file.facts.size / largestSparseness else {
                throw FileError(.tooLarge, operation: "copy", path: container.display(database.string))
            }
            let above = try Directory.open(path).makeDirectory(database.removingLastComponent().string, mode: 0o700)
            let new = try NewFile.create(in: above, leaf: database.lastComponent?.string ?? "", mode: 0o600)
            var position: Int64 = 0
            while position < file.facts.size {
                let part = try file.part(at: position)
                try part.withRawBytes { bytes throws(FileError) in try new.write(bytes) }
                position += Int64(part.count)
            }
            try new.commit(replacing: false, durability: .unsynced)
        } catch { throw Failure(error) }
    }
}
