internal import AppGroups
internal import GroupFileCoordination
internal import KeyVault
internal import Sealing
internal import SharedFiles

/// Knows what notifications, coordinated accesses, semaphores, shared memory and sockets leave in their directories, and the
/// registry in the container, so that a container in use is a clean one.
///
/// Only what has such a name, such a kind and such bytes passes, down to the last byte. All else in these directories is
/// judged as it would be anywhere, so that nothing can be hidden there.
struct SignalFiles: Sendable {
    let root: Directory
    /// The container's group, where it is known.
    let group: AppGroup?

    /// - Returns: nil for what is none of these.
    /// - Throws: `FileError` when it cannot be read, `.notFound` when it is gone.
    func classify(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> AuditSubject? {
        guard entry.isNameable, attributes.kind == .directory || attributes.nlink <= 1 else { return nil }
        return switch entry.place {
        case .registryCopy: try isRegistryCopy(entry, attributes) ? AuditSubject(entry, attributes, .registryCopy) : nil
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

    /// Zeros, or what a deletion that was interrupted left of itself. Another user's cannot be read by anybody else either.
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

    /// More than any suite of settings has.
    private static let maximumReserve = 64 << 20

    /// A roster of this group whose own signature fits; whether it is the team's is a finding of its own.
    private func isRoster(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> Bool {
        guard attributes.kind == .regular, attributes.size <= Roster.maximumSize, let group else { return false }
        let bytes = try root.readPrefix(entry.path, count: Roster.maximumSize + 1).bytes
        return (try? SignedRoster(verifying: bytes, group: group.identifier)) != nil
    }

    /// Sixteen bytes that are no text, or none.
    private func isNotification(_ entry: ContainerEntry, _ attributes: FileAttributes) throws(FileError) -> Bool {
        guard attributes.kind == .regular, NotificationFile.isName(entry.leaf),
            attributes.size == 0 || attributes.size == NotificationFile.size
        else { return false }
        let bytes = try root.readPrefix(entry.path, count: NotificationFile.size + 1).bytes
        if bytes.isEmpty { return true }
        // Random bytes are text once in about a million posts, until the next post.
        return bytes.count == NotificationFile.size && !ContentSniffer.isText(bytes)
    }

    private func coordination(
        _ entry: ContainerEntry, _ attributes: FileAttributes
    ) throws(FileError) -> AuditSubject? {
        if let file = CoordinationFile(name: String(entry.leaf)) {
            guard try fits(file, entry, attributes) else { return nil }
            return AuditSubject(entry, attributes, file == .lock ? .lockFile : .signal)
        }
        // One that is about to get its name, or that a crash left before it did.
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

/// The names that new values have before they get their own: `.NAME.new`, and with 16 hexadecimal digits before the ending.
///
/// `SharedFiles` makes them; see `docs/decisions/0001-temporary-files-are-nameless.md`.
enum TemporaryName {
    /// The name that the value is to have; nil for no such name.
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
