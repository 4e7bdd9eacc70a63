internal import AppGroups
internal import SealedState

/// Which part of a container a path lies in, and what that means for it.
enum ContainerPlace: Hashable, Sendable {
    /// Where a record's blob belongs.
    case record(name: String)
    /// Among the records, under a name that no record has.
    case amongRecords
    case caches
    case quarantine
    /// One of the container's lock files.
    case lockFile
    /// Space that a user keeps for deletions.
    case reserve
    /// The copy of the registry's entry.
    case registryCopy
    /// The signed list of writers.
    case roster
    /// Directly in the directory of notifications.
    case notifications
    /// Directly in the directory of coordinated accesses.
    case coordination
    /// Directly in the directory of semaphores and shared memory.
    case ipc
    /// Directly in the directory of sockets.
    case sockets
    case elsewhere

    /// - Parameter path: Below the container, `/`-separated.
    init(_ path: String) {
        if path == ContainerLayout.lockFile || path == ContainerLayout.leaseFile {
            self = .lockFile
        } else if ContainerLayout.isReserve(path) {
            self = .reserve
        } else if path == ContainerLayout.metadata {
            self = .registryCopy
        } else if path == ContainerLayout.roster {
            self = .roster
        } else if path.hasPrefix(ContainerLayout.quarantine + "/") {
            self = .quarantine
        } else if path.hasPrefix(GroupContainer.StandardDirectory.caches.relativePath + "/") {
            self = .caches
        } else if let record = RecordFile.name(of: path) {
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

    /// The record's name, where it is a record's place.
    var recordName: String? {
        if case .record(let name) = self { name } else { nil }
    }

    /// Whether it lies among the records.
    var isAmongRecords: Bool { self == .amongRecords || recordName != nil }
}
