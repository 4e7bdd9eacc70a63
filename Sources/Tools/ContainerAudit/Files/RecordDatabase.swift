internal import AppGroups
internal import SealedBackends
internal import SealedState
internal import SharedFiles

/// The database of a container whose records are not in files, opened as the group's programs open it.
///
/// Only the backend opens the database's files. Closing any other descriptor of one ends the process's locks on it, and
/// another process may then remove the database's log while it is in use.
struct RecordDatabase: Sendable {
    /// The path of the database below the container. A record's path is this one, a slash and the record's name.
    static let path = ContainerLayout.database

    /// The reason why records cannot be read.
    struct Fault: Error {
        /// The file that the finding names.
        let path: String
        let check: AuditCheck
        let reason: String
        /// A more specific remedy than the check's own.
        let remedy: String?

        fileprivate func finding(in scope: AuditScope) -> Finding {
            // Every record is concerned, so a file that was not examined is as severe as a damaged one.
            check.finding(at: FindingPlace(path, in: scope), reason, severity: .high, remedy: remedy)
        }
    }

    private struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64

        init(_ attributes: FileAttributes) { (device, inode) = (attributes.device, attributes.inode) }
    }

    /// The open database, or the reason why it cannot be opened.
    let backend: Result<any SealedBackend, Fault>
    private let files: Set<Identity>

    private init(_ backend: Result<any SealedBackend, Fault>, in root: Directory) {
        self.backend = backend
        files = Set(ContainerLayout.databaseFiles.compactMap { try? root.attributes($0) }.map(Identity.init))
    }

    /// Returns whether a path is that of a record in the open database.
    func isRecord(_ path: String) -> Bool {
        if case .failure = backend { return false }
        return path.hasPrefix(Self.path + "/")
    }

    /// Returns whether a file is one of the database's, under any of its names.
    func owns(_ path: String, _ attributes: FileAttributes) -> Bool {
        guard attributes.kind == .regular else { return false }
        return ContainerLayout.databaseFiles.contains(path)
            || (attributes.nlink > 1 && files.contains(Identity(attributes)))
    }

    /// Returns a record's blob.
    ///
    /// - Parameter limit: The largest blob in bytes.
    /// - Throws: `FileError`: `.notFound` if the record was removed, `.tooLarge`, `.io`.
    func blob(of key: BackendKey, limit: Int) throws(FileError) -> [UInt8] {
        let path = "\(Self.path)/\(key.name)"
        guard case .success(let backend) = backend else { throw FileError(.io, operation: "read", path: path) }
        do throws(BackendError) {
            if let held = try backend.read(key, limit: limit) { return held.bytes }
        } catch {
            let code: FileError.Code = error.code == .tooLarge ? .tooLarge : .io
            throw FileError(code, operation: "read", path: path, advice: "\(error.reason) \(error.advice)")
        }
        throw FileError(.notFound, operation: "read", path: path)
    }
}

// Opening.
extension RecordDatabase {
    /// Opens the database that a container names. Nothing is created.
    ///
    /// - Parameters:
    ///   - group: The container's group, if known.
    ///   - provider: The backend that this program has besides files.
    /// - Returns: `nil` for a container whose records are files.
    static func find(
        in root: Directory, of group: AppGroup?, _ provider: (any BackendProvider)?
    ) -> RecordDatabase? {
        // The group is only named in errors whose text is not used.
        guard let group = group ?? (try? AppGroup("group.unknown")) else { return nil }
        do throws(Fault) {
            guard let backend = try open(in: root, group, provider) else { return nil }
            return RecordDatabase(.success(backend), in: root)
        } catch {
            return RecordDatabase(.failure(error), in: root)
        }
    }

    private static func open(
        in root: Directory, _ group: AppGroup, _ provider: (any BackendProvider)?
    ) throws(Fault) -> (any SealedBackend)? {
        guard let name = try name(in: root, group) else { return nil }
        guard let provider, provider.name == name else {
            throw Fault(
                path: ContainerLayout.backend, check: .fileUnexamined,
                reason: "The records are in the backend \"\(name.printable)\", which this program does not have.",
                remedy: "Audit with a program that has it, or restore this file from a snapshot if it was changed: "
                    + "ls -ld {file}")
        }
        let sharing = try examineFile(in: root)
        do throws(StoreError) {
            return try ContainerBackend(of: group, in: root, sharing: sharing).open(provider)
        } catch {
            throw fault(opening: error, in: root)
        }
    }

    private static func name(in root: Directory, _ group: AppGroup) throws(Fault) -> String? {
        do throws(StoreError) {
            return try ContainerBackend(of: group, in: root, sharing: .ownerOnly).name()
        } catch {
            throw Fault(
                path: ContainerLayout.backend, check: .fileUnexamined,
                reason: "It names the backend of the records and cannot be read. \(error.reason)", remedy: nil)
        }
    }

    /// Requires what the group's programs require of a container and its database. SQLite maps one of its files, so a
    /// user who may cut that file could end this process; and a missing database would be created.
    ///
    /// - Returns: The users who may write the database's directory.
    private static func examineFile(in root: Directory) throws(Fault) -> Sharing {
        do throws(FileError) {
            var sharing = try root.requireTrusted()
            for parent in ["Library", GroupContainer.StandardDirectory.applicationSupport.relativePath] {
                let own = try root.directory(parent).requirePrivateOrShared()
                if own != .ownerOnly { sharing = own }
            }
            guard try root.attributes(path).kind == .regular else {
                throw FileError(.notRegularFile, operation: "open", path: root.display(path))
            }
            return sharing
        } catch {
            guard error.code == .notFound else {
                throw Fault(path: path, check: .fileUnexamined, reason: error.sentence, remedy: error.advice)
            }
            throw Fault(path: path, check: .databaseDamaged, reason: "It is missing.", remedy: nil)
        }
    }

    private static func fault(opening error: StoreError, in root: Directory) -> Fault {
        let hasJournal = (try? root.exists(path + "-journal")) ?? false
        if let error = error.cause as? BackendError { return fault(error, isForeign: hasJournal) }
        return Fault(path: path, check: .fileUnexamined, reason: error.reason, remedy: error.advice)
    }

    /// - Parameter isForeign: The fault is a file beside the database, not the database.
    private static func fault(_ error: BackendError, isForeign: Bool) -> Fault {
        let isDamaged = error.code == .damaged && !isForeign
        return Fault(
            path: path, check: isDamaged ? .databaseDamaged : .fileUnexamined, reason: error.reason,
            remedy: isDamaged ? nil : error.advice)
    }
}

// The database as a whole.
extension RecordDatabase {
    /// Examines the database's structure.
    ///
    /// - Parameter listing: The error that ended the list of the records early.
    func findings(after listing: BackendError?, in scope: AuditScope) -> [Finding] {
        switch backend {
        case .failure(let fault): return [fault.finding(in: scope)]
        case .success(let backend):
            do throws(BackendError) {
                try backend.examine()
                if let listing { throw listing }
                return []
            } catch {
                return [Self.fault(error, isForeign: false).finding(in: scope)]
            }
        }
    }

    /// The note on records that were not read, or `nil` if the database is open.
    var note: String? {
        guard case .failure(let fault) = backend else { return nil }
        return "The records in the database were not examined: \(fault.path): \(fault.reason)".printable
    }
}
