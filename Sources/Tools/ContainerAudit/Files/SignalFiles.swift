internal import AppGroups
internal import GroupFileCoordination
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Recognises the files of notifications, coordinated accesses, semaphores, shared memory and sockets in their
/// directories, and of the registry and the backend's name in the container, so that a container in use is clean.
///
/// Only files with the exact name, kind and bytes are accepted, down to the last byte. All other files in these
/// directories are judged as in any other place, so that nothing can be hidden there.
struct SignalFiles: Sendable {
    let root: Directory
    /// The container's group, if known.
    let group: AppGroup?

    /// - Returns: `nil` if the entry is not one of these files.
    /// - Throws: `FileError` if it cannot be read, `.notFound` if it is gone.
    func classify(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> AuditSubject? {
        guard entry.isNameable, attributes.kind == .directory || attributes.nlink <= 1 else { return nil }
        return switch entry.place {
        case .registryCopy: try isRegistryCopy(entry, attributes) ? AuditSubject(entry, attributes, .registryCopy) : nil
        case .backend: try isBackendName(entry, attributes) ? AuditSubject(entry, attributes, .backendName) : nil
        case .reserve: try isReserve(entry, attributes) ? AuditSubject(entry, attributes, .reserve) : nil
        case .roster: try isRoster(entry, attributes) ? AuditSubject(entry, attributes, .roster) : nil
        case .notifications: try isNotification(entry, attributes) ? AuditSubject(entry, attributes, .signal) : nil
        case .coordination: try coordination(entry, attributes)
        case .ipc: try ipc(entry, attributes)
        case .sockets: socket(entry, attributes)
        default: nil
        }
    }

    private func isRegistryCopy(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> Bool {
        guard attributes.kind == .regular, attributes.size <= ContainerCopy.maximumSize else { return false }
        let bytes = try root.readPrefix(entry.path, count: ContainerCopy.maximumSize + 1).bytes
        return ContainerCopy.isCopy(bytes, of: group)
    }

    private func isBackendName(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> Bool {
        guard attributes.kind == .regular, (1...Self.longestBackendName).contains(attributes.size) else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        return try root.readPrefix(entry.path, count: Int(Self.longestBackendName)).bytes.allSatisfy(letters.contains)
    }

    private static let longestBackendName: Int64 = 64

    /// Returns whether the file contains zeros, or the remains of an interrupted deletion. Another user's file is
    /// unreadable for all others.
    private func isReserve(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> Bool {
        guard attributes.kind == .regular, attributes.mode & 0o077 == 0, attributes.size <= Self.maximumReserve else {
            return false
        }
        do throws(FileError) {
            let bytes = try root.readPrefix(entry.path, count: Self.maximumReserve).bytes
            return bytes.allSatisfy { $0 == 0 } || (try? UnverifiedHeader(parsing: bytes)) != nil
        } catch {
            guard error.code == .permissionDenied else { throw error }
            return true
        }
    }

    /// The size limit, above that of any settings suite.
    private static let maximumReserve = 64 << 20

    /// Returns whether the file is a roster of this group with a valid signature. A roster that is not the team's is a
    /// separate finding.
    private func isRoster(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> Bool {
        guard attributes.kind == .regular, attributes.size <= Roster.maximumSize, let group else { return false }
        let bytes = try root.readPrefix(entry.path, count: Roster.maximumSize + 1).bytes
        return (try? SignedRoster(verifying: bytes, group: group.identifier)) != nil
    }

    /// Returns whether the file is empty or consists of sixteen bytes that are not text.
    private func isNotification(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> Bool {
        guard attributes.kind == .regular, NotificationFile.isName(entry.leaf),
            attributes.size == 0 || attributes.size == NotificationFile.size
        else { return false }
        let bytes = try root.readPrefix(entry.path, count: NotificationFile.size + 1).bytes
        if bytes.isEmpty { return true }
        // Random bytes are valid text once in about a million posts, until the next post.
        return bytes.count == NotificationFile.size && !ContentSniffer.isText(bytes)
    }

    private func coordination(
        _ entry: ContainerEntry, _ attributes: FileAttributes
    ) throws(FileError) -> AuditSubject? {
        if let file = CoordinationFile(name: String(entry.leaf)) {
            guard try fits(file, entry, attributes) else { return nil }
            return AuditSubject(entry, attributes, file == .lock ? .lockFile : .signal)
        }
        // A file that is about to be renamed, or that a crash left before that.
        guard let name = TemporaryName.target(of: entry.leaf), let file = CoordinationFile(name: name), file != .lock,
            try fits(file, entry, attributes)
        else { return nil }
        return temporary(entry, attributes)
    }

    private func ipc(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> AuditSubject? {
        guard attributes.kind == .regular else { return nil }
        let leaf = String(entry.leaf)
        if leaf == IPCFile.lockName { return attributes.size == 0 ? AuditSubject(entry, attributes, .lockFile) : nil }
        let name = TemporaryName.target(of: leaf) ?? leaf
        guard IPCFile.isRecordName(name), attributes.size == IPCFile.recordSize,
            IPCFile.isRecord(named: name, try root.readPrefix(entry.path, count: IPCFile.recordSize + 1).bytes)
        else { return nil }
        return name == leaf ? AuditSubject(entry, attributes, .signal) : temporary(entry, attributes)
    }

    private func socket(_ entry: ContainerEntry, _ attributes: FileAttributes) -> AuditSubject? {
        let leaf = String(entry.leaf)
        if leaf == IPCFile.lockName {
            let isLock = attributes.kind == .regular && attributes.size == 0
            return isLock ? AuditSubject(entry, attributes, .lockFile) : nil
        }
        let name = TemporaryName.target(of: leaf) ?? leaf
        guard attributes.kind == .socket, IPCFile.isSocketName(name) else { return nil }
        return name == leaf ? AuditSubject(entry, attributes, .signal) : temporary(entry, attributes)
    }

    private func temporary(_ entry: ContainerEntry, _ attributes: FileAttributes) -> AuditSubject {
        AuditSubject(entry: entry, attributes: attributes, kind: .temporary, content: .signal, header: nil)
    }

    private func fits(
        _ file: CoordinationFile, _ entry: ContainerEntry, _ attributes: FileAttributes
    ) throws(FileError) -> Bool {
        switch file {
        case .socket: return attributes.kind == .socket
        case .lock: return attributes.kind == .regular && attributes.size == 0
        case .registration:
            guard attributes.kind == .regular, attributes.size <= Int64(CoordinationFile.maximumSize) else {
                return false
            }
            return CoordinationFile.isRegistration(
                try root.readPrefix(entry.path, count: CoordinationFile.maximumSize + 1).bytes)
        }
    }
}

/// The temporary names of new values: `.NAME.new`, optionally with 16 hexadecimal digits before the suffix.
///
/// `SharedFiles` creates them; see `docs/decisions/0001-temporary-files-are-nameless.md`.
enum TemporaryName {
    /// Returns the final name of the value, or `nil` if the name is not temporary.
    static func target(of leaf: some StringProtocol) -> String? {
        guard matches(leaf) else { return nil }
        let name = leaf.dropFirst().dropLast(".new".count)
        guard let dot = name.lastIndex(of: "."), name[dot...].utf8.count == 17,
            name[name.index(after: dot)...].allSatisfy(\.isHexDigit)
        else { return String(name) }
        return String(name[..<dot])
    }

    static func matches(_ leaf: some StringProtocol) -> Bool {
        leaf.hasPrefix(".") && leaf.hasSuffix(".new") && leaf.utf8.count > ".new".utf8.count + 1
    }
}
