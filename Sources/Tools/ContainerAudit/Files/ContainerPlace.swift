internal import AppGroups
internal import SealedState

/// The part of a container that a path belongs to.
enum ContainerPlace: Hashable, Sendable {
    /// The place of a record's blob.
    case record(name: String)
    /// A place among the records, under a name that no record has.
    case amongRecords
    case caches
    case quarantine
    /// A lock file of the container.
    case lockFile
    /// Space that is reserved for a user's deletions.
    case reserve
    /// The copy of the registry's entry.
    case registryCopy
    /// The name of the backend of the records.
    case backend
    /// The signed list of writers.
    case roster
    /// A place directly in the directory of notifications.
    case notifications
    /// A place directly in the directory of coordinated accesses.
    case coordination
    /// A place directly in the directory of semaphores and shared memory.
    case ipc
    /// A place directly in the directory of sockets.
    case sockets
    case elsewhere

    /// Creates the place of a record in the container's database.
    init(ofRecord name: String) {
        self = (try? RecordName(stored: name)).map { .record(name: $0.text) } ?? .amongRecords
    }

    /// - Parameters:
    ///   - path: The path relative to the container, `/`-separated.
    ///   - hasDatabase: True if the container's records are in a database, so that no file is in a record's place.
    init(_ path: String, hasDatabase: Bool) {
        if path == ContainerLayout.lockFile || path == ContainerLayout.leaseFile {
            self = .lockFile
        } else if ContainerLayout.isReserve(path) {
            self = .reserve
        } else if path == ContainerLayout.metadata {
            self = .registryCopy
        } else if path == ContainerLayout.backend {
            self = .backend
        } else if path == ContainerLayout.roster {
            self = .roster
        } else if path.hasPrefix(ContainerLayout.quarantine + "/") {
            self = .quarantine
        } else if path.hasPrefix(GroupContainer.StandardDirectory.caches.relativePath + "/") {
            self = .caches
        } else if !hasDatabase, let record = RecordFile.name(of: path) {
            self = .record(name: record.text)
        } else if path.hasPrefix(ContainerLayout.records + "/") {
            self = .amongRecords
        } else if Self.isDirectly(path, in: ContainerLayout.notifications) {
            self = .notifications
        } else if Self.isDirectly(path, in: ContainerLayout.coordination) {
            self = .coordination
        } else if Self.isDirectly(path, in: ContainerLayout.ipc) {
            self = .ipc
        } else if Self.isDirectly(path, in: ContainerLayout.sockets) {
            self = .sockets
        } else {
            self = .elsewhere
        }
    }

    private static func isDirectly(_ path: String, in directory: String) -> Bool {
        path.hasPrefix(directory + "/") && !path.dropFirst(directory.utf8.count + 1).contains("/")
    }

    /// The record's name if it is a record's place.
    var recordName: String? {
        if case .record(let name) = self { name } else { nil }
    }

    /// True if it is among the records.
    var isAmongRecords: Bool { self == .amongRecords || recordName != nil }
}
